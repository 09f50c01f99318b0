/** What is asked of the program itself: its keys, its health, its numbers. No caller is known here. */
import { json, type Route, route } from '../route.js';
import { text, z } from '../schemas.js';

const jwks = route({
  method: 'get',
  path: '/.well-known/jwks.json',
  id: 'readKeys',
  tag: 'System',
  summary: 'The public keys of leases and receipts',
  access: 'public',
  responses: {
    200: {
      description: 'RFC 7517',
      type: 'application/jwk-set+json',
      schema: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }),
    },
  },
  handle: async (_, { keys }) => ({
    status: 200,
    type: 'application/jwk-set+json',
    bytes: JSON.stringify(keys.publicJwks()),
    headers: { 'Cache-Control': 'public, max-age=60' },
  }),
});

const healthz = route({
  method: 'get',
  path: '/healthz',
  id: 'health',
  tag: 'System',
  summary: 'Whether the program runs',
  access: 'public',
  responses: { 200: { description: 'It does', schema: z.object({ status: z.literal('ok') }) } },
  handle: async () => json(200, { status: 'ok' }),
});

const parts = z.object({
  status: z.enum(['ready', 'notReady']),
  parts: z.record(z.string(), z.enum(['ready', 'notReady'])),
});

const readyz = route({
  method: 'get',
  path: '/readyz',
  id: 'readiness',
  tag: 'System',
  summary: 'Whether every part that is needed answers',
  access: 'public',
  responses: {
    200: { description: 'All of them', schema: parts },
    503: { description: 'Not all; the parts say which', schema: parts },
  },
  handle: async (_, { checks, log }) => {
    const answers = await Promise.all(
      checks.map(async ({ part, ready }) => {
        const answered = await ready().catch((error: unknown) => {
          log.error({ part, err: error }, 'part is not ready');
          return false;
        });
        return [part, answered ? 'ready' : 'notReady'] as const;
      }),
    );
    const all = answers.every(([, state]) => state === 'ready');
    return json(all ? 200 : 503, { status: all ? 'ready' : 'notReady', parts: Object.fromEntries(answers) });
  },
});

const metrics = route({
  method: 'get',
  path: '/metrics',
  id: 'metrics',
  tag: 'System',
  summary: 'Counters and histograms for Prometheus',
  access: 'public',
  responses: { 200: { description: 'Text exposition format', type: 'text/plain', schema: text } },
  handle: async (_, services) => ({
    status: 200,
    type: services.metrics.contentType,
    bytes: await services.metrics.text(),
  }),
});

export const systemRoutes: readonly Route[] = [jwks, healthz, readyz, metrics];
