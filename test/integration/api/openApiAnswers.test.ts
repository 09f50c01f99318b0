/**
 * Every operation of the document is asked as it wants to be, and then wrongly in every way that its own description
 * gives. Whatever is answered is what the document says; nothing is a fault of the program.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument, ROUTES } from '../../../src/api/openApi.js';
import { type ApiFixture, AUDIENCE, type Person, startApi } from './apiFixture.js';
import { bundle, CLASSES } from './examplePolicy.js';
import { heldScan } from './heldScan.js';
import { promoteTools, tool } from './promoteTools.js';

interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

let api: ApiFixture;
let operator: Person;
let manager: Person;
let scan: string;
let held: string;
let descriptor: string;
let receipt: string;
let revocation: string;
let review: string;

const registration = {
  name: 'inventory',
  namespace: 'inventory',
  source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
  audiences: { [AUDIENCE]: 'none' },
  refreshSeconds: 0,
} as const;
const inventory = { server: 'inventory' };

/** By operation: a request that succeeds. In the order of the document, in which they are asked. */
const VALID: Readonly<Record<string, () => Asked>> = {
  listCatalogs: () => ({}),
  readCatalog: () => ({ params: inventory, query: { after: 'a', limit: '2' } }),
  readTool: () => ({ params: { ...inventory, id: 'inventory.count@1' } }),
  readGeneration: () => ({ params: { ...inventory, generation: '1' }, query: { audience: AUDIENCE } }),
  admit: () => ({
    body: {
      ...inventory,
      tool: 'inventory.count@1',
      generation: 1,
      descriptor,
      arguments: { warehouse: 'n', sku: 'A' },
      policyEpoch: 1,
      mode: 'autonomous',
    },
  }),
  listReceipts: () => ({ query: { subject: 'alice', before: '2100-01-01T00:00:00Z', limit: '5' } }),
  readReceipt: () => ({ params: { id: receipt } }),
  registerServer: () => ({
    body: {
      ...registration,
      name: 'second',
      namespace: 'second',
      source: { kind: 'mcp-stdio', command: 'node', args: ['--version'], cwd: '/', env: { LEVEL: 'debug' } },
      trust: { allowPrivateAddresses: true, spkiPins: [descriptor], revisionPointer: '/_meta/revision' },
      limits: { pages: 5, scanTime: 1_000 },
      contract: { dialects: ['draft-07'], onToolFault: 'quarantine-tool', shrinkShare: 0.5 },
      freshness: { maxAge: 60_000 },
    },
  }),
  listServers: () => ({}),
  readServer: () => ({ params: inventory }),
  closeServer: () => ({ params: inventory, body: { reason: 'a test' } }),
  openServer: () => ({ params: inventory }),
  startDiscovery: () => ({ params: inventory, body: { audience: AUDIENCE } }),
  listDiscoveries: () => ({ query: { server: 'inventory', limit: '5' } }),
  readDiscovery: () => ({ params: { id: scan } }),
  readDiscoveredTools: () => ({ params: { id: scan }, query: { after: '-1', limit: '1' } }),
  cancelDiscovery: () => ({ params: { id: scan } }),
  acceptHeld: () => ({ body: { discovery: held, reason: 'a test' } }),
  listAcceptances: () => ({}),
  listReviews: () => ({
    query: {
      server: 'reworded',
      state: 'pending',
      after: Buffer.from('["a","a","a","a"]').toString('base64url'),
      limit: '5',
    },
  }),
  readReview: () => ({ params: { id: review } }),
  decideReview: () => ({ params: { id: review }, body: { decision: 'accept', reason: 'a test' } }),
  diffGenerations: () => ({
    params: { server: 'reworded' },
    query: { audience: AUDIENCE, from: '1', to: '2', after: 'a', limit: '5' },
  }),
  publishPolicy: () => ({ body: { bundle: bundle(), expectedEpoch: 1 } }),
  readPolicy: () => ({}),
  revoke: () => ({ body: { kind: 'tool-name', ...inventory, target: 'count', reason: 'a test' } }),
  listRevocations: () => ({}),
  liftRevocation: () => ({ params: { id: revocation } }),
  readKeys: () => ({}),
  health: () => ({}),
  readiness: () => ({}),
  metrics: () => ({}),
};

const document = openApiDocument('0.0.0-test');
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document as object, 'genlock');

beforeAll(async () => {
  api = await startApi();
  operator = await api.person('olga', ['genlock-operator', 'stock-manager']);
  manager = await api.person('alice', ['stock-manager']);
  await operator.client.publishPolicy(bundle());
  await operator.client.registerServer(registration);
  const generation = await promoteTools(api.scans, {
    tenant: api.tenant,
    tools: [tool('reserve'), tool('count'), tool('broken', { inputSchema: { type: 'string' } })],
    classes: CLASSES,
  });
  scan = generation.scan;
  held = await heldScan(api.scans, { tenant: api.tenant, ...inventory, reason: 'SHRUNK' });
  descriptor = generation.tools['count']?.descriptor ?? '';
  const node = { ...inventory, tool: 'inventory.count@1', generation: 1, descriptor };
  const admitted = await manager.client.admit({ ...node, arguments: { warehouse: 'n', sku: 'A' } });
  receipt = admitted.receipt.id;
  const revoked = await operator.client.revoke({ kind: 'subject', target: 'nobody', reason: 'a test' });
  revocation = revoked.id;
  await operator.client.registerServer({ ...registration, name: 'reworded', namespace: 'reworded' });
  for (const [counter, description] of ['Counts', 'Counts all'].entries())
    await promoteTools(api.scans, {
      tenant: api.tenant,
      server: 'reworded',
      tools: [tool('count', { description })],
      counter,
    });
  review = (await operator.client.reviews({ server: 'reworded' })).reviews[0]?.id ?? '';
});
afterAll(() => api.stop());

const pathOf = (template: string, { params = {}, query = {} }: Asked): string => {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
};

/** Asks with everything that a caller may have: what is refused is refused for the request. */
const ask = async (route: (typeof ROUTES)[number], asked: Asked) => {
  const method = route.method.toUpperCase();
  const url = `${api.url}${pathOf(route.path, asked)}`;
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${operator.token}`,
      dpop: await operator.key.prove({ method, url, accessToken: operator.token }),
      ...(asked.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(asked.body !== undefined && {
      body: typeof asked.body === 'string' ? asked.body : JSON.stringify(asked.body),
    }),
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

/** What an answer has that the document does not say; empty where it says all. */
const undocumented = (
  { path, method }: (typeof ROUTES)[number],
  { status, type, text }: Awaited<ReturnType<typeof ask>>,
): readonly string[] => {
  const answers = document.paths?.[path]?.[method]?.responses ?? {};
  const key = Object.hasOwn(answers, status) ? String(status) : 'default';
  const answer: unknown = answers[key];
  if (answer === undefined || (status >= 500 && key === 'default')) return [`status ${status}: ${text}`];
  const content = (answer as { content?: Record<string, unknown> }).content ?? {};
  const [media] = (type ?? '').split(';');
  if (media === undefined || !Object.hasOwn(content, media)) return [`type ${type} of status ${status}`];
  const pointer = ['paths', path, method, 'responses', key, 'content', media, 'schema']
    .map((token) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = ajv.compile({ $ref: `genlock#/${pointer}` });
  if (validate(media.endsWith('json') ? JSON.parse(text) : text)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${status} ${instancePath} ${message}: ${text}`,
  );
};

const WRONG_TEXTS = ['', '-1', '\u0000', '../..', 'ü\u202e', '1e999', 'x'.repeat(3_000)];
const WRONG_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  '',
  '\u0000',
  'x'.repeat(70_000),
  [],
  [[]],
  {},
];

/** Each differs from the valid one in one place, or has another body. */
function* wrong(asked: Asked): Generator<Asked> {
  const { params = {}, query = {}, body } = asked;
  yield { ...asked, query: { ...query, colour: 'red' } };
  for (const text of WRONG_TEXTS) {
    for (const name of Object.keys(params)) yield { ...asked, params: { ...params, [name]: text } };
    for (const name of Object.keys(query)) yield { ...asked, query: { ...query, [name]: text } };
  }
  if (typeof body !== 'object' || body === null) return;
  for (const other of ['', 'nonsense', '[]', 'null', '{"a":1,"a":2}', '{}']) yield { ...asked, body: other };
  for (const other of wrongAnywhere(body, 3)) yield { ...asked, body: other };
}

/** A member too many, and each wrong value in the place of each member, down to a depth. */
function* wrongAnywhere(value: object, depth: number): Generator<unknown> {
  if (!Array.isArray(value)) yield { ...value, colour: 'red' };
  for (const [name, one] of Object.entries(value)) {
    const inPlace = (other: unknown): unknown =>
      Array.isArray(value)
        ? value.map((old, index) => (String(index) === name ? other : old))
        : { ...value, [name]: other };
    for (const other of WRONG_VALUES) yield inPlace(other);
    if (typeof one === 'object' && one !== null && depth > 1)
      for (const other of wrongAnywhere(one, depth - 1)) yield inPlace(other);
  }
}

test('every operation has a request here', () => {
  expect(Object.keys(VALID)).toEqual(ROUTES.map(({ id }) => id));
});

describe.each(ROUTES.map((route) => [route.id, route] as const))('%s', (id, route) => {
  test('answers a valid request as documented', async () => {
    const answer = await ask(route, VALID[id]?.() ?? {});
    expect(undocumented(route, answer)).toEqual([]);
    // One part of this installation is broken on purpose.
    expect(answer.status === 503 || answer.status < 300).toBe(true);
    expect(answer.status === 503).toBe(id === 'readiness');
  });

  test('answers wrong requests as documented, and never with a fault of its own', async () => {
    const refused: string[] = [];
    for (const asked of wrong(VALID[id]?.() ?? {})) {
      const answer = await ask(route, asked);
      expect([asked, undocumented(route, answer)]).toEqual([asked, []]);
      if (answer.status >= 400 && answer.status < 500) refused.push(answer.text);
    }
    // Without a parameter and a body there is nothing to do wrong.
    const asks = route.params ?? route.query ?? route.body;
    expect(refused.length > 0).toBe(asks !== undefined);
  });
});
