/** Accepting what a discovery was held for. The next discovery reads it (D5). */
import { ACCEPTABLE } from '../../domain/acceptance.js';
import { acceptHeld } from '../../usecases/acceptHeld.js';
import { json, type Route, route } from '../route.js';
import { discoveryStart, isoTime, jsonValue, plainText, text, z } from '../schemas.js';

const acceptance = z
  .object({
    id: text,
    discovery: text,
    server: text,
    audience: text,
    kind: z.enum(ACCEPTABLE),
    identity: text,
    revision: jsonValue,
    contentRoot: text,
    reason: text,
    by: text,
    receipt: text,
  })
  .openapi('Acceptance');

const create = route({
  method: 'post',
  path: '/v1/acceptances',
  id: 'acceptHeld',
  tag: 'Acceptances',
  summary: 'Accept what the newest held discovery of a server and audience was held for',
  description:
    'The held discovery stays QUARANTINED; another one is started and reads the acceptance. It counts for one promotion, and only until the active catalog moves. Acceptable are SHRUNK (for the very same list), IDENTITY_CHANGED (for the very same identity), ROLLBACK, NEW_INCARNATION and FAST_FORWARD (for the same revision and those that may follow it). A discovery that is held again for another reason needs another acceptance.',
  access: 'operator',
  body: z.strictObject({ discovery: plainText(200), reason: plainText(500) }).openapi('AcceptanceRequest'),
  responses: {
    201: {
      description: 'Recorded, and a discovery asked for',
      schema: acceptance.extend({ discoveries: z.array(discoveryStart) }),
    },
  },
  handle: async ({ caller, body, requestId }, services) => {
    const operator = { tenant: caller.tenant, subject: caller.subject, requestId };
    const deps = { ...services, store: services.operatorStore };
    return json(201, await acceptHeld(deps, operator, body));
  },
});

const list = route({
  method: 'get',
  path: '/v1/acceptances',
  id: 'listAcceptances',
  tag: 'Acceptances',
  summary: 'Acceptances, newest first, with those that were used',
  access: 'operator',
  query: z.strictObject({}),
  responses: {
    200: {
      description: 'At most 1,000',
      schema: z.object({
        acceptances: z.array(
          acceptance.extend({
            acceptedAt: isoTime,
            usedBy: text.nullable().openapi({ description: 'The discovery whose promotion rests on it.' }),
            open: z
              .boolean()
              .openapi({ description: 'Not used, and the active catalog has not moved since.' }),
          }),
        ),
      }),
    },
  },
  handle: async ({ caller }, { operatorStore }) =>
    json(200, { acceptances: await operatorStore.listAcceptances(caller.tenant) }),
});

export const acceptanceRoutes: readonly Route[] = [create, list];
