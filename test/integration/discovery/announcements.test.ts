/** D2: servers that announce changes too often, too early or for ever. Each change is found, and none costs many scans. */
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { hintDiscovery, startDiscovery } from '../../../src/temporal/discoveryControl.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { at, type BentList, serveList, tool, tools } from './bentLists.js';
import { ownKey, until, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

const hint = (key: DiscoveryKey) => hintDiscovery(stack.client, stack.taskQueue, key);
const idle = async (key: DiscoveryKey): Promise<boolean> =>
  (await stack.client.workflow.getHandle(discoveryWorkflowId(key)).describe()).status.name !== 'RUNNING';
const scansOf = async (key: DiscoveryKey) =>
  (await stack.operator.listDiscoveries(key.tenant, { server: key.server, limit: 100 })).toReversed();
const reasonsOf = async (key: DiscoveryKey) => (await scansOf(key)).map(({ reason }) => reason);
const generationsOf = async (key: DiscoveryKey): Promise<number> => {
  const text = 'select count(*)::int as n from genlock.generation where server = $1';
  return (await stack.admin.query(text, [key.server])).rows[0].n;
};

/** A server whose list the test changes, and which acts before it answers. */
const announcing = async (
  first: BentList,
  act: (key: DiscoveryKey, state: { list: BentList }) => Promise<void>,
) => {
  const key = ownKey();
  const state = { list: first };
  const server = await stack.bent({
    list: async (b) => {
      const { list } = state;
      await act(key, state);
      await serveList(() => list)(b);
    },
  });
  await stack.register(key, server.url);
  return { key, state };
};

describe('D2 announcements', () => {
  test.concurrent('D2 a server that announces a change whenever it is read is read a few times, and then left alone', async () => {
    const { key } = await announcing({ pages: [tools(2)], revision: at(1) }, (own) =>
      hint(own).then(() => undefined),
    );
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    // Proven equal at the bound revision each time, so that it stays fresh and is no INCOMPLETE scan (S7).
    expect(await stack.outcomeOf(key, runId)).toMatchObject({
      state: 'RETIRED',
      reason: 'UNCHANGED',
      generation: 1,
    });
    expect(await reasonsOf(key)).toEqual(['PROMOTED', 'UNCHANGED', 'UNCHANGED', 'UNCHANGED']);
    expect(await generationsOf(key)).toBe(1);
    expect(await idle(key)).toBe(true);
  });

  test.concurrent('D2 a storm of 200 announcements in mid-scan, with one change among them, costs exactly two scans', async () => {
    const inventory = await stack.inventory({ tools: 50 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    inventory.change({ op: 'hold', page: 1 });
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await until(() => inventory.inventory.pace.waiting === 1);
    const storm = () => Promise.all(Array.from({ length: 100 }, () => hint(key)));
    await storm();
    inventory.change({ op: 'add-tool', name: 'in_the_middle' });
    await storm();
    inventory.change({ op: 'release' });
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', generation: 1, tools: 51 });
    expect(await reasonsOf(key)).toEqual(['CURSOR_EXPIRED', 'PROMOTED']);
    expect(await stack.store.active(key)).toMatchObject({
      revision: { value: inventory.inventory.catalog.revision },
    });
    expect(await idle(key)).toBe(true);
  });

  test.concurrent('D2 a change that is announced before it is listed is found by a second look, without another hint', async () => {
    const after = { pages: [[tool('a'), tool('b')]], revision: at(2) };
    let requests = 0;
    const { key } = await announcing({ pages: [[tool('a')]], revision: at(1) }, async (_, state) => {
      // First scan and its tail; then, of the scan that the hint asks for, page and tail still show the old list.
      if (++requests === 4) state.list = after;
    });
    await stack.discover(key);
    const { runId } = await hint(key);
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', generation: 2, tools: 2 });
    expect(await reasonsOf(key)).toEqual(['PROMOTED', 'UNCHANGED', 'PROMOTED']);
  });

  test.concurrent('D2 an announcement of nothing costs one second look', async () => {
    const { key } = await announcing({ pages: [tools(2)], revision: at(1) }, () => Promise.resolve());
    await stack.discover(key);
    const { runId } = await hint(key);
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ reason: 'UNCHANGED' });
    expect(await reasonsOf(key)).toEqual(['PROMOTED', 'UNCHANGED', 'UNCHANGED']);
  });

  test.concurrent('A1 V5 the tools that appear after a bootstrap tool was called inherit nothing from it', async () => {
    const bootstrap = tool('start_daemon');
    const { key, state } = await announcing({ pages: [[bootstrap]], revision: at(1) }, () =>
      Promise.resolve(),
    );
    await stack.discover(key);
    const before = await stack.store.active(key);
    state.list = { pages: [[bootstrap, ...tools(40)], tools(49, 'more')], revision: at(2) };
    expect(await stack.store.active(key)).toEqual(before);
    const { runId } = await hint(key);
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', generation: 2, tools: 90 });
    const { rows } = await stack.admin.query(
      `select tool_id, effect_class from genlock.candidate_tool c join genlock.active_pointer a on a.scan = c.scan
         where a.server = $1 order by position`,
      [key.server],
    );
    expect(rows).toHaveLength(90);
    expect(new Set(rows.map(({ tool_id }) => tool_id)).size).toBe(90);
    expect(rows.every(({ tool_id }) => tool_id.endsWith('@1'))).toBe(true);
    // Permitted is what a policy names by its own id; of the new ones it names none.
    expect(rows.filter(({ effect_class }) => effect_class !== 'UNKNOWN')).toEqual([]);
  });

  test.concurrent('D2 hints that come while a run hands over to a new history are not lost, and histories stay short', async () => {
    const SCANS = 12;
    let requests = 0;
    /** One page and its tail, and two more tails for the hints that came meanwhile. */
    const scan = () => Math.floor(requests / 4);
    const { key } = await announcing({ pages: [tools(1)], revision: at(0) }, async (own, state) => {
      if (scan() < SCANS) await hint(own);
      requests++;
      state.list = { pages: [tools(scan() + 1)], revision: at(scan()) };
    });
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE' });
    const scans = await scansOf(key);
    expect(scans.map(({ reason }) => reason)).toEqual(Array(SCANS + 1).fill('PROMOTED'));
    expect(await stack.store.active(key)).toMatchObject({ revision: { value: { counter: SCANS } } });
    const runs = [...new Set(scans.map((one) => one.runId))];
    expect(runs).toHaveLength(2);
    for (const run of runs) {
      const history = await stack.client.workflow.getHandle(discoveryWorkflowId(key), run).fetchHistory();
      expect(history.events?.length).toBeLessThan(1_000);
    }
  });
});
