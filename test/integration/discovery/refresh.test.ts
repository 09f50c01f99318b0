/** The scheduled refresh: a tick starts the discovery under its fixed id, or finds the one that runs. */
import { describe, expect, test } from 'vitest';
import { digestJson } from '../../../src/proof/digest.js';
import type { PageRecord } from '../../../src/store/scanStore.js';
import { ensureRefreshSchedule, startDiscovery } from '../../../src/temporal/discoveryControl.js';
import { discoveryWorkflowId, refreshScheduleId } from '../../../src/workflows/contract.js';
import { soundnessFaults } from '../../faults/soundness.js';
import { at, serveList, tool, tools } from './bentLists.js';
import { ownKey, until, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();
const schedule = (key: ReturnType<typeof ownKey>, seconds: number) =>
  ensureRefreshSchedule(stack.client, stack.taskQueue, key, seconds);
const discoveriesOf = (key: ReturnType<typeof ownKey>) =>
  stack.operator.listDiscoveries(key.tenant, { server: key.server, limit: 100 });

const textOf = ({ rawDigest, reading }: PageRecord): string => `${rawDigest} ${reading}`;
const keptTexts = async (key: ReturnType<typeof ownKey>): Promise<number> => {
  const { rows } = await stack.admin.query(
    `select count(distinct (p.raw_digest, p.reading))::int as texts from genlock.page p
       join genlock.scan s on s.tenant = p.tenant and s.id = p.scan where s.server = $1`,
    [key.server],
  );
  return Number(rows[0]?.texts);
};

describe('S7 a refresh of a list that is mostly the same', () => {
  test('S7 pages of the same bytes are kept once, and each scan has its own chain of them', async () => {
    const inventory = await stack.inventory({ tools: 50, pageSize: 10 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', pages: 5 });
    const first = await stack.store.active(key);
    const again = await stack.discover(key);
    expect(again).toMatchObject({
      state: 'RETIRED',
      reason: 'UNCHANGED',
      generation: 1,
      pages: 5,
      tools: 50,
    });
    expect(await keptTexts(key)).toBe(5);
    const chain = async (scan: string) =>
      (await stack.operator.readDiscovery(key.tenant, scan))?.pageChain.map(({ raw, tools }) => [raw, tools]);
    expect(await chain(again.scan)).toEqual(await chain(first?.scan ?? ''));
    expect((await stack.operator.readDiscovery(key.tenant, again.scan))?.contentRoot).toBe(
      first?.contentRoot,
    );
    expect(
      await stack.operator.discoveredTools(key.tenant, again.scan, { after: -1, limit: 100 }),
    ).toHaveLength(50);
  });

  test('S7 D9 pages of known bytes beside one that differs: a new generation, and only that page is kept anew', async () => {
    const key = ownKey();
    const state = {
      pages: ['a', 'b', 'c', 'd'].map((prefix) => tools(2, prefix)),
      revision: at(7),
    };
    const server = await stack.bent({ list: serveList(() => state) });
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1, pages: 4 });
    const before = await stack.store.active(key);
    // All bytes change with the revision, which every page carries; but another credential may see other tools at the same one.
    stack.secrets.set('GENLOCK_CREDENTIAL_ACME_REFRESH', 'another-token');
    const reference = { kind: 'reference', reference: 'env:GENLOCK_CREDENTIAL_ACME_REFRESH' } as const;
    await stack.register(key, server.url, { audiences: { [key.audience]: reference } });
    const changed = tool('c_1', { description: 'for the other credential' });
    state.pages[2] = [tool('c_0'), changed];
    expect(await stack.discover(key)).toMatchObject({
      state: 'ELIGIBLE',
      generation: 2,
      pages: 4,
      tools: 8,
    });
    const active = await stack.store.active(key);
    const [old, now] = await Promise.all(
      [before, active].map(async (one) => (await stack.store.pages(key.tenant, one?.scan ?? '')).map(textOf)),
    );
    expect(now?.map((text, n) => text === old?.[n])).toEqual([true, true, false, true]);
    expect(await keptTexts(key)).toBe(5);
    expect(await soundnessFaults(stack, key.server)).toEqual([]);
    const [row] = (await stack.store.sealedTools(key.tenant, active?.scan ?? '')).filter(
      ({ name }) => name === 'c_1',
    );
    expect(row).toMatchObject({ descriptor: digestJson(changed as never), source: JSON.stringify(changed) });
  });

  test('S5 one tool more makes a new generation of all the tools', async () => {
    const inventory = await stack.inventory({ tools: 50, pageSize: 10 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    await stack.discover(key);
    const before = await stack.store.active(key);
    inventory.change({ op: 'add-tool', name: 'sensor_new' });
    expect(await stack.discover(key)).toMatchObject({
      state: 'ELIGIBLE',
      generation: 2,
      tools: 51,
      pages: 6,
    });
    expect((await stack.store.active(key))?.contentRoot).not.toBe(before?.contentRoot);
  });
});

describe('S7 scheduled refresh', () => {
  test('S7 ticks discover the server and then keep it fresh, without anybody asking', async () => {
    const inventory = await stack.inventory({ tools: 5 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    await schedule(key, 1);
    await until(async () => (await discoveriesOf(key)).filter(({ endedAt }) => endedAt !== null).length >= 3);
    await schedule(key, 0);
    const done = (await discoveriesOf(key)).filter(({ endedAt }) => endedAt !== null).reverse();
    expect(done[0]).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
    expect(done.slice(1).every(({ reason }) => reason === 'UNCHANGED')).toBe(true);
    expect(await stack.store.active(key)).toMatchObject({ generation: 1 });
  });

  test('D2 a tick finds the discovery that runs, and is no hint to it', async () => {
    const inventory = await stack.inventory({ tools: 50 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    inventory.change({ op: 'hold', page: 1 });
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await until(() => inventory.inventory.pace.waiting === 1);
    await schedule(key, 1);
    const handle = stack.client.schedule.getHandle(refreshScheduleId(key));
    await until(async () => (await handle.describe()).info.recentActions.length >= 2);
    await schedule(key, 0);
    inventory.change({ op: 'release' });
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE' });
    const { events } = await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory();
    expect(events?.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal != null)).toEqual(
      [],
    );
    expect((await discoveriesOf(key)).filter(({ runId: run }) => run === runId)).toHaveLength(1);
  });

  test('a schedule follows the registration: made, changed, removed, and removed again', async () => {
    const key = ownKey();
    const handle = stack.client.schedule.getHandle(refreshScheduleId(key));
    await schedule(key, 3_600);
    const every = async () =>
      (await handle.describe()).spec.intervals?.map((interval) => Number(interval.every) / 1_000);
    expect(await every()).toEqual([3_600]);
    await schedule(key, 7_200);
    expect(await every()).toEqual([7_200]);
    await schedule(key, 0);
    await expect(handle.describe()).rejects.toThrow();
    await schedule(key, 0);
  });
});
