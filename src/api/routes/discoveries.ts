/** Discoveries: started, watched and read by operators. Progress lives in Temporal, what came of it is read here. */
import {
  cancelDiscovery,
  listDiscoveries,
  readDiscoveredTools,
  readDiscovery,
  triggerDiscoveries,
} from '../../usecases/discoveries.js';
import { json, type Route, route } from '../route.js';
import {
  audienceClass,
  discoveryStart,
  isoTime,
  jsonValue,
  limit,
  plainText,
  serverName,
  serverParams,
  text,
  z,
} from '../schemas.js';

const discovery = z
  .object({
    id: text,
    server: text,
    audience: text,
    workflowId: text,
    runId: text,
    round: z.int(),
    state: text,
    reason: text.nullable(),
    meaning: text.nullable(),
    next: text.nullable(),
    generation: z.int().nullable(),
    pages: z.int(),
    tools: z.int(),
    startedAt: isoTime,
    endedAt: isoTime.nullable(),
    ui: text.nullable(),
  })
  .openapi('Discovery');

const detail = discovery
  .extend({
    evidence: z.record(z.string(), z.unknown()).nullable(),
    sourceEvidence: z.record(z.string(), z.unknown()).nullable(),
    protocol: text.nullable(),
    identity: text.nullable(),
    revision: jsonValue,
    pageRoot: text.nullable(),
    contentRoot: text.nullable(),
    tailAt: isoTime.nullable(),
    pageChain: z.array(
      z.object({
        index: z.int(),
        requestCursor: text,
        nextCursor: text,
        nullCursor: z.boolean(),
        result: text,
        raw: text,
        tools: z.int(),
        bytes: z.int(),
        worker: text,
        fetchedAt: isoTime,
        last: z.boolean(),
      }),
    ),
    /** S7 */
    freshness: z
      .object({ schema: text, snapshot: text, revision: jsonValue, verifiedAt: isoTime, expires: isoTime })
      .nullable(),
    catalogFindings: z.array(
      z.object({ code: text, severity: z.enum(['fault', 'lint']), pointer: text, message: text }),
    ),
    toolFindings: z.array(z.object({ name: text, status: text, findings: jsonValue })),
  })
  .openapi('DiscoveryDetail');

const idParams = z.object({ id: plainText(200) });
const position = z.coerce
  .number()
  .int()
  .min(-1)
  .max(2_147_483_647)
  .default(-1)
  .openapi({ type: 'integer', minimum: -1, default: -1, description: 'Position of the last tool seen.' });

const trigger = route({
  method: 'post',
  path: '/v1/servers/{server}/discoveries',
  id: 'startDiscovery',
  tag: 'Discoveries',
  summary: 'Start a discovery, or find the one that runs',
  access: 'operator',
  params: serverParams,
  body: z.strictObject({ audience: audienceClass.optional() }),
  responses: {
    202: { description: 'Under way', schema: z.object({ discoveries: z.array(discoveryStart) }) },
  },
  handle: async ({ caller, params, body }, services) => {
    const deps = { store: services.operatorStore, control: services.control };
    const discoveries = await triggerDiscoveries(deps, caller.tenant, params.server, body.audience);
    return json(202, { discoveries });
  },
});

const list = route({
  method: 'get',
  path: '/v1/discoveries',
  id: 'listDiscoveries',
  tag: 'Discoveries',
  summary: 'Discoveries, newest first',
  access: 'operator',
  query: z.strictObject({ server: serverName.optional(), limit: limit(200, 50) }),
  responses: { 200: { description: 'A page', schema: z.object({ discoveries: z.array(discovery) }) } },
  handle: async ({ caller, query: { server, limit } }, services) => {
    const deps = { store: services.operatorStore, control: services.control };
    const filter = server === undefined ? { limit } : { server, limit };
    return json(200, { discoveries: await listDiscoveries(deps, caller.tenant, filter) });
  },
});

const read = route({
  method: 'get',
  path: '/v1/discoveries/{id}',
  id: 'readDiscovery',
  tag: 'Discoveries',
  summary: 'One discovery: its evidence, its pages, and why it ended',
  access: 'operator',
  params: idParams,
  responses: { 200: { description: 'The discovery', schema: detail } },
  handle: async ({ caller, params }, services) => {
    const deps = { store: services.operatorStore, control: services.control };
    return json(200, await readDiscovery(deps, caller.tenant, params.id));
  },
});

const tools = route({
  method: 'get',
  path: '/v1/discoveries/{id}/tools',
  id: 'readDiscoveredTools',
  tag: 'Discoveries',
  summary: 'The tools that a discovery saw, in list order',
  description:
    'Of any discovery, also of an UNVERSIONED_OBSERVATION, whose tools no planner sees and no lease is issued for. `verdict` is null where the discovery did not get as far as judging the tool.',
  access: 'operator',
  params: idParams,
  query: z.strictObject({ after: position, limit: limit(1_000, 200) }),
  responses: {
    200: {
      description: 'A slice; `next` is the `after` of the next one, null at the end',
      schema: z.object({
        tools: z.array(
          z
            .object({
              position: z.int(),
              name: text,
              descriptor: text,
              verdict: z.enum(['OK', 'QUARANTINED']).nullable(),
              codes: z.array(text),
            })
            .openapi('DiscoveredTool'),
        ),
        next: z.int().nullable(),
      }),
    },
  },
  handle: async ({ caller, params, query }, { operatorStore }) =>
    json(200, await readDiscoveredTools(operatorStore, caller.tenant, params.id, query)),
});

const cancel = route({
  method: 'post',
  path: '/v1/discoveries/{id}/cancel',
  id: 'cancelDiscovery',
  tag: 'Discoveries',
  summary: 'Ask a running discovery to stop',
  access: 'operator',
  params: idParams,
  responses: { 202: { description: 'Asked', schema: z.object({ id: text, state: text }) } },
  handle: async ({ caller, params }, services) => {
    const deps = { store: services.operatorStore, control: services.control };
    const { id, state } = await cancelDiscovery(deps, caller.tenant, params.id);
    return json(202, { id, state });
  },
});

export const discoveryRoutes: readonly Route[] = [trigger, list, read, tools, cancel];
