/** Servers, as operators register them. Credentials are references here and nothing else (S6). */

import { CatalogError } from '../../domain/errors.js';
import type { RegisteredServer } from '../../domain/server.js';
import { formatCredential } from '../../usecases/credentialReference.js';
import { registerServer, setServerClosed } from '../../usecases/registerServer.js';
import { json, type Route, route } from '../route.js';
import { discoveryStart, jsonValue, plainText, serverParams, smallRecord, text, z } from '../schemas.js';

const positive = (highest: number) => z.int().min(1).max(highest);
const DAY_MS = 86_400_000;
const MAX_ARGS = 200;
const MAX_ENV = 100;
/** Each is scanned by itself, so each costs a discovery at every refresh. */
const MAX_AUDIENCES = 20;
const MAX_DIGESTS = 20;
/** Their parsers judge the form; this only keeps what they are given short. */
const digests = z.array(z.string().max(128)).max(MAX_DIGESTS);

const source = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('mcp-http'), url: z.string().max(2_048) }),
    z.strictObject({
      kind: z.literal('mcp-stdio'),
      command: plainText(1_024),
      args: z.array(z.string().max(4_096)).max(MAX_ARGS).default([]),
      cwd: plainText(4_096).optional(),
      env: smallRecord(
        z
          .string()
          .max(128)
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
        z.string().max(4_096),
        MAX_ENV,
      )
        .optional()
        .openapi({
          description:
            'Values are literal text, or a reference (as of a credential) where the value is a secret.',
        }),
    }),
  ])
  .openapi('ServerSource');

const registration = z
  .strictObject({
    name: z.string().max(64),
    namespace: z.string().max(64),
    source,
    audiences: smallRecord(z.string().max(128), z.string().max(1_100), MAX_AUDIENCES, 1).openapi({
      description:
        'Audience class → none, env:GENLOCK_CREDENTIAL_<TENANT>_<NAME>, or file:PATH below the folder of the tenant.',
      example: { 'warehouse.policy-1': 'none' },
    }),
    trust: z
      .strictObject({
        allowPrivateAddresses: z.boolean().optional(),
        tlsCaPem: z.string().max(65_536).optional(),
        spkiPins: digests.optional(),
        acceptedIdentities: digests.optional(),
        revisionPointer: z.string().max(512).optional(),
        tokenPointer: z.string().max(512).optional(),
      })
      .optional(),
    limits: z
      .strictObject({
        pages: positive(100_000).optional(),
        tools: positive(100_000).optional(),
        pageBytes: positive(64 * 1024 * 1024).optional(),
        scanBytes: positive(256 * 1024 * 1024).optional(),
        pageTime: positive(600_000).optional(),
        scanTime: positive(6 * 3_600_000).optional(),
      })
      .optional()
      .openapi({ description: 'Times in milliseconds.' }),
    contract: z
      .strictObject({
        dialects: z.array(z.literal('draft-07')).max(1).optional(),
        onToolFault: z.enum(['quarantine-tool', 'quarantine-catalog']).optional(),
        shrinkShare: z.number().min(0).max(1).optional(),
        descriptorBytes: positive(16 * 1024 * 1024).optional(),
      })
      .optional(),
    freshness: z
      .strictObject({
        maxAge: positive(30 * DAY_MS).optional(),
        snapshotMaxAge: positive(30 * DAY_MS).optional(),
      })
      .optional()
      .openapi({ description: 'Milliseconds.' }),
    refreshSeconds: z.int().min(0).max(86_400).optional().openapi({ description: '0 for no schedule.' }),
  })
  .openapi('ServerRegistration');

const server = z
  .object({
    name: text,
    namespace: text,
    source: jsonValue,
    audiences: z.record(z.string(), text),
    trust: jsonValue,
    limits: jsonValue,
    contract: jsonValue,
    freshness: jsonValue,
    refreshSeconds: z.int(),
    trustVersion: z.int(),
    closedReason: text.nullable(),
  })
  .openapi('Server');

const shown = (one: RegisteredServer) => ({
  ...one,
  audiences: Object.fromEntries(
    Object.entries(one.audiences).map(([name, credential]) => [name, formatCredential(credential)]),
  ),
});

const register = route({
  method: 'post',
  path: '/v1/servers',
  id: 'registerServer',
  tag: 'Servers',
  summary: 'Register a server, or change its settings',
  description:
    'Starts the schedule and a discovery for each audience. A server that cannot be reached registers all the same. The same settings again change nothing.',
  access: 'operator',
  body: registration,
  responses: {
    200: {
      description: 'It was registered before; changed or unchanged',
      schema: z.object({
        outcome: z.enum(['changed', 'unchanged']),
        server,
        receipt: text.nullable(),
        discoveries: z.array(discoveryStart),
      }),
    },
    201: {
      description: 'Registered',
      schema: z.object({
        outcome: z.literal('registered'),
        server,
        receipt: text,
        discoveries: z.array(discoveryStart),
      }),
    },
  },
  handle: async ({ caller, body, requestId }, services) => {
    const operator = { tenant: caller.tenant, subject: caller.subject, requestId };
    const done = await registerServer(
      { ...services, store: services.operatorStore },
      operator,
      body as never,
    );
    return json(done.outcome === 'registered' ? 201 : 200, { ...done, server: shown(done.server) });
  },
});

const list = route({
  method: 'get',
  path: '/v1/servers',
  id: 'listServers',
  tag: 'Servers',
  summary: 'Registered servers',
  access: 'operator',
  query: z.strictObject({}),
  responses: { 200: { description: 'By name', schema: z.object({ servers: z.array(server) }) } },
  handle: async ({ caller }, { operatorStore }) =>
    json(200, { servers: (await operatorStore.listServers(caller.tenant)).map(shown) }),
});

const read = route({
  method: 'get',
  path: '/v1/servers/{server}',
  id: 'readServer',
  tag: 'Servers',
  summary: 'One server',
  access: 'operator',
  params: serverParams,
  responses: { 200: { description: 'The server', schema: server } },
  handle: async ({ caller, params }, { operatorStore }) => {
    const found = await operatorStore.readServer(caller.tenant, params.server);
    if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_SERVER');
    return json(200, shown(found));
  },
});

const opened = z.object({ server: text, closedReason: text.nullable(), receipt: text });

const close = route({
  method: 'post',
  path: '/v1/servers/{server}/close',
  id: 'closeServer',
  tag: 'Servers',
  summary: 'Close a server: nothing is admitted on it',
  access: 'operator',
  params: serverParams,
  body: z.strictObject({ reason: plainText(500) }),
  responses: { 200: { description: 'Closed', schema: opened } },
  handle: async ({ caller, params, body, requestId }, services) => {
    const operator = { tenant: caller.tenant, subject: caller.subject, requestId };
    const deps = { ...services, store: services.operatorStore };
    return json(200, await setServerClosed(deps, operator, params.server, body.reason));
  },
});

const open = route({
  method: 'post',
  path: '/v1/servers/{server}/open',
  id: 'openServer',
  tag: 'Servers',
  summary: 'Open a closed server',
  access: 'operator',
  params: serverParams,
  responses: { 200: { description: 'Open', schema: opened } },
  handle: async ({ caller, params, requestId }, services) => {
    const operator = { tenant: caller.tenant, subject: caller.subject, requestId };
    const deps = { ...services, store: services.operatorStore };
    return json(200, await setServerClosed(deps, operator, params.server, null));
  },
});

export const serverRoutes: readonly Route[] = [register, list, read, close, open];
