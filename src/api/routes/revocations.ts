/** Withdrawing what was allowed, and lifting that again. Both hold from the answer on (L3). */
import { liftRevocation, revoke } from '../../usecases/revoke.js';
import { json, type Route, route } from '../route.js';
import { isoTime, plainText, text, z } from '../schemas.js';

const kind = z.enum(['tool-name', 'tool-id', 'server', 'subject']);

const revocation = z
  .object({ id: text, kind, server: text, target: text, reason: text, by: text })
  .openapi('Revocation');

const create = route({
  method: 'post',
  path: '/v1/revocations',
  id: 'revoke',
  tag: 'Revocations',
  summary: 'Revoke a tool, a server or a subject',
  description:
    'A tool name (as the server lists it) and a tool id (in the namespace of the server) are revoked on one server and need `server`; a server is its own target; a subject is revoked in the whole tenant.',
  access: 'operator',
  body: z
    .strictObject({
      kind,
      server: z.string().max(64).optional(),
      target: plainText(256).optional(),
      reason: plainText(500),
    })
    .openapi('RevocationRequest'),
  responses: {
    201: {
      description: 'In force',
      schema: revocation.extend({
        receipt: text,
        matches: z.int().nullable().openapi({
          description:
            'Tools of the active catalogs of the server that it matches now, each audience counted by itself: 0 may be a misspelt target. null for a subject, and where they could not be counted.',
        }),
      }),
    },
  },
  handle: async ({ caller, body, requestId }, services) => {
    const operator = { tenant: caller.tenant, subject: caller.subject, requestId };
    const deps = { ...services, store: services.operatorStore, active: services.admissionStore };
    return json(201, await revoke(deps, operator, body));
  },
});

const list = route({
  method: 'get',
  path: '/v1/revocations',
  id: 'listRevocations',
  tag: 'Revocations',
  summary: 'Revocations, newest first, with those that were lifted',
  access: 'operator',
  query: z.strictObject({}),
  responses: {
    200: {
      description: 'At most 1,000',
      schema: z.object({
        revocations: z.array(revocation.extend({ revokedAt: isoTime, liftedAt: isoTime.nullable() })),
      }),
    },
  },
  handle: async ({ caller }, { operatorStore }) =>
    json(200, { revocations: await operatorStore.listRevocations(caller.tenant) }),
});

const lift = route({
  method: 'post',
  path: '/v1/revocations/{id}/lift',
  id: 'liftRevocation',
  tag: 'Revocations',
  summary: 'Lift a revocation',
  access: 'operator',
  params: z.object({ id: plainText(128) }),
  responses: { 200: { description: 'Lifted', schema: z.object({ id: text, receipt: text }) } },
  handle: async ({ caller, params, requestId }, services) => {
    const operator = { tenant: caller.tenant, subject: caller.subject, requestId };
    return json(
      200,
      await liftRevocation({ ...services, store: services.operatorStore }, operator, params.id),
    );
  },
});

export const revocationRoutes: readonly Route[] = [create, list, lift];
