/** What planners read: through the pointer, of their own tenant and audience only, with a tag that tells of any change. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GenlockProblem } from '../../../src/client/client.js';
import { sha256Bytes } from '../../../src/proof/digest.js';
import { type ApiFixture, AUDIENCE, type Person, startApi } from './apiFixture.js';
import { bundle, CLASSES } from './examplePolicy.js';
import { promoteTools, tool } from './promoteTools.js';

let api: ApiFixture;
let operator: Person;
let manager: Person;
let stranger: Person;
let generation: Awaited<ReturnType<typeof promoteTools>>;
const NAMES = ['reserve', 'count', 'dispose', 'zulu', 'alpha'];

const register = (person: Person) =>
  person.client.registerServer({
    name: 'inventory',
    namespace: 'inventory',
    source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
    audiences: { [AUDIENCE]: 'none', 'viewer.policy-1': 'none' },
    refreshSeconds: 0,
  });

beforeAll(async () => {
  api = await startApi();
  operator = await api.person('olga', ['genlock-operator']);
  manager = await api.person('alice', ['stock-manager']);
  stranger = await api.person('gwen', ['stock-manager', 'genlock-operator'], { tenant: api.otherTenant });
  for (const person of [operator, stranger]) {
    await person.client.publishPolicy(bundle());
    await register(person);
  }
  generation = await promoteTools(api.scans, {
    tenant: api.tenant,
    tools: NAMES.map((name) => tool(name, { title: `The ${name}` })),
    classes: CLASSES,
  });
});
afterAll(() => api.stop());

const refusal = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => 'was answered',
    (reason: unknown) => reason,
  );
  return error instanceof GenlockProblem ? `${error.status} ${error.code}/${error.reason}` : String(error);
};

describe('a catalog', () => {
  test('P3 S3 holds each tool with what a plan stores of it', async () => {
    const catalog = await manager.client.catalog('inventory');
    expect(catalog).toMatchObject({
      server: 'inventory',
      audienceClass: AUDIENCE,
      generation: 1,
      protocol: 'mcp-2025-11-25',
      revision: { binding: 'SERVER_REVISION', value: { incarnation: '', counter: 1 } },
      toolCount: 5,
      next: null,
    });
    expect(catalog?.tools.map(({ name }) => name)).toEqual([...NAMES].sort());
    expect(catalog?.tools.find(({ name }) => name === 'count')).toEqual({
      id: 'inventory.count@1',
      name: 'count',
      title: 'The count',
      description: 'Does count',
      shortDescription: 'Counts stock.',
      inputSchema: tool('count')['inputSchema'],
      effectClass: 'READ',
      verdict: { status: 'OK', findings: [] },
      binding: { generation: 1, descriptor: generation.tools['count']?.descriptor, policyEpoch: 1 },
    });
    expect(await manager.client.catalogs()).toEqual([
      expect.objectContaining({ server: 'inventory', generation: 1, tools: 5 }),
    ]);
    expect(await manager.client.tool('inventory', 'inventory.count@1')).toEqual(
      catalog?.tools.find(({ name }) => name === 'count'),
    );
    expect(await refusal(manager.client.tool('inventory', 'inventory.count@9'))).toBe(
      '404 NOT_FOUND/NO_SUCH_TOOL',
    );
  });

  test('comes in slices that together are the whole', async () => {
    const names: string[] = [];
    let after = '';
    for (let page = 0; page < 3; page += 1) {
      const slice = await manager.client.catalog('inventory', { after, limit: 2 });
      names.push(...(slice?.tools.map(({ name }) => name) ?? []));
      after = slice?.next ?? '';
    }
    expect(after).toBe('');
    expect(names).toEqual([...NAMES].sort());
  });

  test('its ETag holds until the fence moves, and differs by slice', async () => {
    const first = await manager.client.catalog('inventory');
    const etag = first?.etag ?? '';
    expect(etag).toMatch(/^"1-[0-9a-f]{32}"$/);
    expect(await manager.client.catalog('inventory', { etag })).toBeNull();
    expect(await manager.client.catalog('inventory', { etag: `"x", W/${etag}` })).toBeNull();
    expect((await manager.client.catalog('inventory', { etag, limit: 1 }))?.etag).not.toBe(etag);

    const response = await fetch(`${api.url}/v1/catalogs/inventory`, {
      headers: { authorization: `Bearer ${manager.token}`, 'if-none-match': etag },
    });
    expect(response.status).toBe(304);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    expect(await response.text()).toBe('');

    await operator.client.publishPolicy(bundle());
    const next = await manager.client.catalog('inventory', { etag });
    expect(next?.etag).not.toBe(etag);
    expect(next?.tools[0]?.binding.policyEpoch).toBe(2);
  });

  test('S7 past its freshness it serves nobody', async () => {
    api.clock.shift = 3_601_000;
    const late = await api.person('alice', ['stock-manager'], { ttlSeconds: 7_200 });
    expect(await refusal(late.client.catalog('inventory'))).toBe('409 STALE_CATALOG/GENERATION_EXPIRED');
    expect(await refusal(late.client.tool('inventory', 'inventory.count@1'))).toBe(
      '409 STALE_CATALOG/GENERATION_EXPIRED',
    );
    expect(await late.client.catalogs()).toEqual([]);
    api.clock.shift = 0;
  });

  test('S6 another audience of the same server has a list of its own, here none', async () => {
    const viewer = await api.person('victor', ['stock-viewer']);
    expect(await refusal(viewer.client.catalog('inventory'))).toBe('404 NOT_FOUND/NO_ACTIVE_CATALOG');
    expect(await viewer.client.catalogs()).toEqual([]);
    await promoteTools(api.scans, {
      tenant: api.tenant,
      audience: 'viewer.policy-1',
      tools: [tool('count')],
      classes: CLASSES,
    });
    expect((await viewer.client.catalog('inventory'))?.tools).toHaveLength(1);
    expect((await manager.client.catalog('inventory'))?.tools).toHaveLength(5);
  });

  test('S1 the sealed artifact is for operators, byte for byte', async () => {
    const bytes = await operator.client.generation('inventory', 1, AUDIENCE);
    expect(sha256Bytes(bytes)).toBe(sha256Bytes(generation.artifact));
    expect(await refusal(manager.client.generation('inventory', 1, AUDIENCE))).toBe(
      '403 POLICY_DENIED/ROLE_MISSING',
    );
    expect(await refusal(operator.client.generation('inventory', 9, AUDIENCE))).toBe(
      '404 NOT_FOUND/NO_SUCH_GENERATION',
    );
  });
});

describe('S4 two tenants with the same names', () => {
  test('neither sees the other: same server, same role, nothing of each other', async () => {
    expect(await refusal(stranger.client.catalog('inventory'))).toBe('404 NOT_FOUND/NO_ACTIVE_CATALOG');
    expect(await stranger.client.catalogs()).toEqual([]);
    expect(await refusal(stranger.client.generation('inventory', 1, AUDIENCE))).toBe(
      '404 NOT_FOUND/NO_SUCH_GENERATION',
    );
    const node = {
      server: 'inventory',
      tool: 'inventory.count@1',
      generation: 1,
      descriptor: generation.tools['count']?.descriptor ?? '',
      arguments: { warehouse: 'n', sku: 'A' },
    };
    const admitted = await manager.client.admit(node);
    expect(await refusal(stranger.client.admit(node))).toBe('409 INCOMPLETE_DISCOVERY/NO_ACTIVE_GENERATION');
    expect(await refusal(stranger.client.receipt(admitted.receipt.id))).toBe('404 NOT_FOUND/NO_SUCH_RECEIPT');
    expect((await stranger.client.receipts()).map(({ subject }) => subject)).not.toContain('alice');
  });

  test('a revocation, a discovery and a server of one tenant do not exist in the other', async () => {
    const { id } = await operator.client.revoke({ kind: 'subject', target: 'gwen', reason: 'a test' });
    expect(await refusal(stranger.client.liftRevocation(id))).toBe('404 NOT_FOUND/NO_SUCH_REVOCATION');
    expect(await stranger.client.revocations()).toEqual([]);
    expect(await refusal(stranger.client.discovery(generation.scan))).toBe('404 NOT_FOUND/NO_SUCH_DISCOVERY');
    expect((await operator.client.discovery(generation.scan)).reason).toBe('PROMOTED');
  });
});

test('R1 a caller reads its own receipts, an operator those of the tenant', async () => {
  const bob = await api.person('bob', ['stock-manager']);
  await refusal(
    bob.client.admit({
      server: 'inventory',
      tool: 'inventory.never@1',
      generation: 1,
      descriptor: `sha256:${'0'.repeat(64)}`,
    }),
  );
  const own = await bob.client.receipts({ subject: 'alice' });
  expect(own.map(({ subject }) => subject)).toEqual(['bob']);
  const all = await operator.client.receipts({ limit: 200 });
  expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['operator', 'catalog', 'admission']));
  expect((await operator.client.receipts({ subject: 'bob' })).map(({ id }) => id)).toEqual(
    own.map(({ id }) => id),
  );
  const older = await operator.client.receipts({ before: all[0]?.at ?? '', limit: 1 });
  expect(older[0]?.id).toBe(all[1]?.id);
  expect(await refusal(bob.client.receipt(all.find(({ kind }) => kind === 'operator')?.id ?? ''))).toBe(
    '404 NOT_FOUND/NO_SUCH_RECEIPT',
  );
});

test('S4 R1 a caller whose subject is that of catalog or operator receipts reads none of them', async () => {
  const all = await operator.client.receipts({ limit: 200 });
  for (const kind of ['catalog', 'operator'] as const) {
    const receipt = all.find((one) => one.kind === kind);
    const namesake = await api.person(receipt?.subject ?? '', ['stock-manager']);
    expect(await namesake.client.receipts()).toEqual([]);
    expect(await refusal(namesake.client.receipt(receipt?.id ?? ''))).toBe('404 NOT_FOUND/NO_SUCH_RECEIPT');
  }
});
