/** What planners read: the active catalog, through the pointer and of their own audience only (P3, S4). */
import { CatalogError } from '../../domain/errors.js';
import { json, type Route, route } from '../route.js';
import {
  audienceClass,
  digest,
  effectClass,
  generationNumber,
  isoTime,
  jsonValue,
  limit,
  openReview,
  plainText,
  serverName,
  serverParams,
  text,
  toolId,
  z,
} from '../schemas.js';

const finding = z.object({
  code: text,
  severity: z.enum(['fault', 'lint']),
  pointer: text,
  message: text,
});

const catalogTool = z
  .object({
    id: text,
    name: text,
    title: text.optional(),
    description: text.optional(),
    shortDescription: text.optional(),
    inputSchema: jsonValue,
    outputSchema: jsonValue.optional(),
    effectClass,
    verdict: z.object({ status: z.enum(['OK', 'QUARANTINED']), findings: z.array(finding) }),
    review: openReview.optional().openapi({
      description:
        'Why the tool is not admitted, though it is listed: its text or hints changed (REVIEW_REQUIRED).',
    }),
    binding: z.object({ generation: z.int(), descriptor: text, policyEpoch: z.int() }),
  })
  .openapi('CatalogTool');

const catalog = z
  .object({
    server: text,
    audienceClass: text,
    generation: z.int(),
    snapshot: text,
    identity: text,
    protocol: text,
    revision: z.object({ binding: text, value: jsonValue }),
    policyEpoch: z.int(),
    contentRoot: text,
    pageRoot: text,
    freshUntil: isoTime,
    toolCount: z.int(),
    tools: z.array(catalogTool),
    next: text.nullable(),
  })
  .openapi('Catalog');

const listCatalogs = route({
  method: 'get',
  path: '/v1/catalogs',
  id: 'listCatalogs',
  tag: 'Catalogs',
  summary: 'Servers that have an active generation for your audience',
  access: 'caller',
  query: z.strictObject({}),
  responses: {
    200: {
      description: 'By name',
      schema: z.object({
        catalogs: z.array(
          z
            .object({
              server: text,
              namespace: text,
              generation: z.int(),
              tools: z.int(),
              contentRoot: text,
              freshUntil: isoTime,
            })
            .openapi('CatalogSummary'),
        ),
      }),
    },
  },
  handle: async ({ caller }, { catalogs }) => {
    const servers = await catalogs.servers(caller);
    return json(200, {
      catalogs: servers.map((one) => ({ ...one, freshUntil: new Date(one.freshUntil).toISOString() })),
    });
  },
});

const readCatalog = route({
  method: 'get',
  path: '/v1/catalogs/{server}',
  id: 'readCatalog',
  tag: 'Catalogs',
  summary: 'The active catalog of a server, a slice at a time',
  description:
    'Sorted by tool name. A plan node stores the `binding` of a tool. What is listed is not yet authorized. The ETag changes with the generation, the fence and the freshness.',
  access: 'caller',
  params: serverParams,
  query: z.strictObject({ after: plainText(256).or(z.literal('')).default(''), limit: limit(500, 100) }),
  responses: {
    200: { description: 'The slice after the tool name `after`', schema: catalog },
    304: { description: 'As the one that If-None-Match names' },
  },
  handle: async ({ caller, params, query, ifNoneMatch }, { catalogs }) => {
    const answer = await catalogs.catalog(caller, params.server, { ...query, ifNoneMatch });
    const headers = { ETag: answer.etag, 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };
    return answer.kind === 'notModified' ? json(304, null, headers) : json(200, answer.catalog, headers);
  },
});

const readTool = route({
  method: 'get',
  path: '/v1/catalogs/{server}/tools/{id}',
  id: 'readTool',
  tag: 'Catalogs',
  summary: 'One tool of the active generation',
  access: 'caller',
  params: z.object({ server: serverName, id: toolId }),
  responses: { 200: { description: 'The tool', schema: catalogTool } },
  handle: async ({ caller, params }, { catalogs }) =>
    json(200, await catalogs.tool(caller, params.server, params.id), {
      'Cache-Control': 'private, no-cache',
    }),
});

const readGeneration = route({
  method: 'get',
  path: '/v1/catalogs/{server}/generations/{generation}',
  id: 'readGeneration',
  tag: 'Catalogs',
  summary: 'The sealed artifact of a generation, byte for byte',
  description: 'toolCatalogSnapshot.v1. The digest header holds the digest of these bytes.',
  access: 'operator',
  params: z.object({ server: serverName, generation: generationNumber }),
  query: z.strictObject({ audience: audienceClass }),
  responses: { 200: { description: 'The artifact', schema: z.object({ schema: text }).loose() } },
  handle: async ({ caller, params, query }, { operatorStore }) => {
    const found = await operatorStore.readArtifact(
      caller.tenant,
      params.server,
      query.audience,
      params.generation,
    );
    if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_GENERATION');
    return {
      status: 200,
      type: 'application/json; charset=utf-8',
      bytes: found.bytes,
      // Sealed once, never changed.
      headers: {
        'Genlock-Snapshot': digest.parse(found.digest),
        'Cache-Control': 'private, immutable, max-age=86400',
      },
    };
  },
});

export const catalogRoutes: readonly Route[] = [listCatalogs, readCatalog, readTool, readGeneration];
