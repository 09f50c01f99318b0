/** The main way: a versioned list becomes a generation, an unchanged one is confirmed, a changed one is the next. */
import { createRequire } from 'node:module';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, test } from 'vitest';
import { parseAudienceClass, parseServerName } from '../../../src/domain/ids.js';
import { SNAPSHOT_SCHEMA } from '../../../src/domain/snapshot.js';
import { verifySnapshot } from '../../../src/proof/verifySnapshot.js';
import { cancelDiscovery, startDiscovery } from '../../../src/temporal/discoveryControl.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { AUDIENCE, ownKey, until, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

const artifactOf = async (key: ReturnType<typeof ownKey>, generation: number) => {
  const artifact = await stack.operator.readArtifact(key.tenant, key.server, key.audience, generation);
  if (artifact === null) throw new Error(`no artifact of generation ${generation}`);
  return verifySnapshot(artifact.bytes, artifact.digest);
};

describe('a versioned server', () => {
  test('D3 S1 P1 is ELIGIBLE at generation 1, then confirmed unchanged, then generation 2 with reserve@2', async () => {
    const inventory = await stack.inventory();
    // The namespace of the example policy, so that its classification counts.
    const key = { ...ownKey(), server: parseServerName('inventory') };
    const epoch = await stack.publishPolicy();
    await stack.register(key, inventory.url);

    const first = await stack.discover(key);
    expect(first).toMatchObject({
      state: 'ELIGIBLE',
      reason: 'PROMOTED',
      generation: 1,
      tools: 120,
      pages: 5,
      failed: false,
    });
    expect(await stack.attributesOf(key, first.runId)).toMatchObject({
      GenlockTenant: 'acme',
      GenlockServer: 'inventory',
      GenlockAudience: AUDIENCE,
      GenlockState: 'ELIGIBLE',
      GenlockReason: 'PROMOTED',
      GenlockGeneration: 1,
    });

    const snapshot = await artifactOf(key, 1);
    expect(snapshot).toMatchObject({
      schema: SNAPSHOT_SCHEMA,
      tenant: 'acme',
      audienceClass: AUDIENCE,
      protocol: 'mcp-2025-11-25',
      policyEpoch: epoch,
      catalogGeneration: 1,
      revision: { binding: 'SERVER_REVISION', value: inventory.inventory.catalog.revision },
      credential: 'none',
      state: 'COMPLETE',
    });
    expect(snapshot.server).toMatch(/^inventory@sha256:[0-9a-f]{64}$/);
    expect(snapshot.pages.map(({ index, tools }) => [index, tools])).toEqual([
      [0, 25],
      [1, 25],
      [2, 25],
      [3, 25],
      [4, 20],
    ]);
    const reserve = snapshot.tools.find(({ name }) => name === 'reserve');
    expect(reserve).toMatchObject({
      id: 'inventory.reserve@1',
      effectClass: 'RESERVATION',
      mayHaveSideEffects: true,
    });
    expect(JSON.parse(reserve?.source ?? '')).toEqual(
      JSON.parse(JSON.stringify(inventory.inventory.catalog.tools.find(({ name }) => name === 'reserve'))),
    );
    expect(snapshot.tools.find(({ name }) => name === 'sku_get')).toMatchObject({
      effectClass: 'READ',
      mayHaveSideEffects: false,
    });
    expect(snapshot.tools.find(({ name }) => name === 'order_create')?.effectClass ?? 'UNKNOWN').toBe(
      'UNKNOWN',
    );

    const detail = await stack.operator.readDiscovery(key.tenant, first.scan);
    expect(detail).toMatchObject({
      state: 'ELIGIBLE',
      generation: 1,
      pageRoot: snapshot.pageRoot,
      contentRoot: snapshot.contentRoot,
    });
    const [written] = await stack.operator.receipts(key.tenant, { id: first.receipt ?? '', limit: 1 });
    expect(written).toMatchObject({
      kind: 'catalog',
      generation: 1,
      page_root: snapshot.pageRoot,
      policy_epoch: epoch,
    });

    // S7: the same list again. The revision may move without the content doing so.
    inventory.change({ op: 'add-tool', name: 'passing_by' });
    inventory.change({ op: 'remove-tool', name: 'passing_by' });
    const before = await stack.store.active(key);
    const second = await stack.discover(key);
    expect(second).toMatchObject({ state: 'RETIRED', reason: 'UNCHANGED', generation: 1, failed: false });
    const after = await stack.store.active(key);
    expect(after).toMatchObject({ generation: 1, scan: first.scan, revision: { value: { counter: 3 } } });
    expect(before).toMatchObject({ revision: { value: { counter: 1 } } });
    const { rows: freshness } = await stack.admin.query(
      'select scan, generation, snapshot, expires > verified_at as later from genlock.freshness where server = $1 order by verified_at',
      ['inventory'],
    );
    expect(freshness.map(({ scan, generation, later }) => [scan, generation, later])).toEqual([
      [first.scan, 1, true],
      [second.scan, 1, true],
    ]);
    expect(freshness[1]?.snapshot).toBe(freshness[0]?.snapshot);

    // V6: the schema of `reserve` changes, and nothing else.
    inventory.change({ op: 'change-reserve-schema' });
    const third = await stack.discover(key);
    expect(third).toMatchObject({ state: 'ELIGIBLE', generation: 2, tools: 120 });
    const changed = await artifactOf(key, 2);
    expect(changed.tools.filter(({ contractVersion }) => contractVersion !== 1).map(({ id }) => id)).toEqual([
      'inventory.reserve@2',
    ]);
    // The classification was reviewed for @1 only.
    expect(changed.tools.find(({ name }) => name === 'reserve')?.effectClass).toBe('UNKNOWN');
    const { rows: generations } = await stack.admin.query(
      'select generation, state, superseded_by from genlock.generation where server = $1 order by 1',
      ['inventory'],
    );
    expect(generations).toEqual([
      { generation: 1, state: 'ELIGIBLE', superseded_by: 2 },
      { generation: 2, state: 'ELIGIBLE', superseded_by: null },
    ]);
  });

  test('S1 a history holds ids and digests: few events, and no payload near the size of a page', async () => {
    const inventory = await stack.inventory({ tools: 400 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    const { runId, state } = await stack.discover(key);
    expect(state).toBe('ELIGIBLE');
    const history = await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory();
    const text = historyToJSON(history);
    expect(history.events?.length).toBeLessThan(60);
    expect(text.length).toBeLessThan(60_000);
    expect(text).not.toContain('inputSchema');
  });

  test('S6 each audience has a scan, a pointer and a generation of its own', async () => {
    const inventory = await stack.inventory({ tools: 5 });
    const key = ownKey();
    const viewers = { ...key, audience: parseAudienceClass('warehouse-viewer.policy-1') };
    await stack.register(key, inventory.url, {
      audiences: { [key.audience]: { kind: 'none' }, [viewers.audience]: { kind: 'none' } },
    });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
    expect(await stack.store.active(viewers)).toBeNull();
    expect(await stack.discover(viewers)).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
    const [one, two] = [await artifactOf(key, 1), await artifactOf(viewers, 1)];
    expect([one.audienceClass, two.audienceClass]).toEqual([key.audience, viewers.audience]);
    expect(one.contentRoot).toBe(two.contentRoot);
  });
});

describe('D4 a server without a revision', () => {
  test('D4 server-everything over stdio is UNVERSIONED_OBSERVATION with 13 tools, twice, and never more', async () => {
    const script = createRequire(import.meta.url).resolve(
      '@modelcontextprotocol/server-everything/dist/index.js',
    );
    const key = ownKey();
    await stack.register(key, { kind: 'mcp-stdio', command: process.execPath, args: [script, 'stdio'] });
    for (let scan = 0; scan < 2; scan++) {
      const outcome = await stack.discover(key);
      expect(outcome).toMatchObject({
        state: 'UNVERSIONED_OBSERVATION',
        reason: 'NO_REVISION',
        tools: 13,
        pages: 1,
        generation: null,
        failed: false,
      });
      expect(await stack.attributesOf(key, outcome.runId)).toMatchObject({
        GenlockState: 'UNVERSIONED_OBSERVATION',
        GenlockReason: 'NO_REVISION',
      });
      expect(await stack.operator.readDiscovery(key.tenant, outcome.scan)).toMatchObject({
        tools: 13,
        revision: null,
        pageRoot: null,
      });
    }
    expect(await stack.store.active(key)).toBeNull();
    const { rows } = await stack.admin.query('select 1 from genlock.generation where server = $1', [
      key.server,
    ]);
    expect(rows).toEqual([]);
  });
});

describe('changes while a scan runs', () => {
  /** A discovery that waits for its last page. */
  const midScan = async (key: ReturnType<typeof ownKey>) => {
    const inventory = await stack.inventory({ tools: 50 });
    await stack.register(key, inventory.url);
    inventory.change({ op: 'hold', page: 1 });
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await until(() => inventory.inventory.pace.waiting === 1);
    return { inventory, runId };
  };

  test('P1 a policy epoch that is published meanwhile fences the candidate; the run scans again and binds to it', async () => {
    const key = ownKey();
    const { inventory, runId } = await midScan(key);
    const epoch = await stack.publishPolicy();
    inventory.change({ op: 'release' });
    const outcome = await stack.outcomeOf(key, runId);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', failed: false });
    expect(await stack.store.active(key)).toMatchObject({ policyEpoch: epoch, scan: outcome.scan });
    expect(await stack.operator.readDiscovery(key.tenant, `${runId}/0`)).toMatchObject({
      state: 'RETIRED',
      reason: 'FENCED',
      evidence: { moved: 'policyEpoch' },
    });
  });

  test('P1 a trust configuration that changes meanwhile ends the scan; the run scans again under the new one', async () => {
    const key = ownKey();
    const { inventory, runId } = await midScan(key);
    await stack.register(key, inventory.url, { contract: { dialects: ['draft-07'] } });
    inventory.change({ op: 'release' });
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', failed: false });
    expect(await stack.store.active(key)).toMatchObject({ trustVersion: 2 });
    expect(await stack.operator.readDiscovery(key.tenant, `${runId}/0`)).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'CHANGED_DURING_SCAN',
      evidence: { trustVersion: 1, now: 2 },
    });
  });

  test('D5 a scan that is cancelled ends INCOMPLETE with CANCELLED, and its pages stay as evidence', async () => {
    const key = ownKey();
    const { inventory, runId } = await midScan(key);
    expect(await cancelDiscovery(stack.client, key)).toBe(true);
    const outcome = await stack.outcomeOf(key, runId);
    expect(outcome).toMatchObject({ state: 'INCOMPLETE', reason: 'CANCELLED', failed: true });
    expect(await stack.operator.readDiscovery(key.tenant, outcome.scan)).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'CANCELLED',
      pages: 1,
    });
    expect(await stack.attributesOf(key, runId)).toMatchObject({
      GenlockState: 'INCOMPLETE',
      GenlockReason: 'CANCELLED',
    });
    expect(await cancelDiscovery(stack.client, key)).toBe(false);
    inventory.change({ op: 'release' });
  });

  test('P2 a cancellation that comes while the promotion commits does not deny what was promoted', async () => {
    const key = ownKey();
    const { inventory, runId } = await midScan(key);
    const blocker = await stack.admin.connect();
    const lock = [key.tenant, key.server];
    await blocker.query('select pg_advisory_lock(genlock.lock_key($1, $2))', lock);
    try {
      inventory.change({ op: 'release' });
      const waits =
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%promote(%'";
      await until(async () => (await blocker.query(waits)).rowCount === 1);
      expect(await cancelDiscovery(stack.client, key)).toBe(true);
    } finally {
      await blocker.query('select pg_advisory_unlock(genlock.lock_key($1, $2))', lock);
      blocker.release();
    }
    const outcome = await stack.outcomeOf(key, runId);
    const shown = await stack.operator.readDiscovery(key.tenant, outcome.scan);
    // Either may win the race; what is said, what is recorded and what is served have to be one and the same.
    expect([outcome.state, outcome.reason]).toEqual([shown?.state, shown?.reason]);
    expect(['ELIGIBLE', 'INCOMPLETE']).toContain(outcome.state);
    expect((await stack.store.active(key))?.generation ?? null).toBe(outcome.generation);
  });

  test('a second start finds the run that is under way', async () => {
    const key = ownKey();
    const { inventory, runId } = await midScan(key);
    expect((await startDiscovery(stack.client, stack.taskQueue, key)).runId).toBe(runId);
    inventory.change({ op: 'release' });
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE' });
  });

  test('a server that is not registered is SERVER_GONE', async () => {
    expect(await stack.discover(ownKey())).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'SERVER_GONE',
      failed: true,
    });
  });
});
