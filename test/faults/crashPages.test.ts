/**
 * W1: a worker is killed or stopped while it lists. Another goes on from the last stored page: none is lost, and no cursor of a
 * committed page is asked with again (D6).
 */
import { describe, expect, test } from 'vitest';
import { startDiscovery } from '../../src/temporal/discoveryControl.js';
import { startScriptedCatalog } from '../fixtures/scriptedCatalog.js';
import { at, tools } from '../integration/discovery/bentLists.js';
import { ownKey, until, useDiscovery } from '../integration/discovery/discoveryStack.js';
import { closeGate } from './crashGate.js';
import { soundnessFaults } from './soundness.js';
import {
  asked,
  begin,
  expectWhole,
  NOTHING_PROMOTED,
  PROMOTED_ONCE,
  promotions,
  sessionless,
  storedPages,
  waitingAt,
} from './takeover.js';
import { useWorkers } from './workerProcesses.js';

const stack = useDiscovery({ inProcess: false });
const workers = useWorkers(stack);

/** A server of 5 pages that holds one of them, and a discovery that waits for it on the only worker there is. */
const waitingFor = async (page: number) => {
  const source = await sessionless(stack);
  const first = await workers.survivor();
  source.hold(page);
  const begun = await begin(stack, source);
  await waitingAt(source);
  return { ...begun, source, first };
};

describe('W1 D6 a worker that lists is lost', () => {
  test('W1 D6 killed in mid-page: another finishes, and no committed page is fetched again', async () => {
    const { source, key, first, runId } = await waitingFor(2);
    await workers.end(first, 'SIGKILL');
    const second = await workers.start();
    source.release();
    await expectWhole(
      stack,
      key,
      runId,
      [first, first, second, second, second].map(({ name }) => name),
    );
    // Page 2 was under way when its reader died; page 0 is asked for again by the tail.
    expect(asked(source)).toMatch(/^0+1+22+3+4+0+$/);
  });

  test('W1 D6 killed with a page in hand, before it is stored: that page alone is fetched again', async () => {
    const gate = await closeGate(stack, { table: 'page', on: 'insert', when: 'new.n = 2', at: 'row' });
    const source = await sessionless(stack);
    const first = await workers.survivor();
    const { key, runId, scan } = await begin(stack, source);
    await gate.reached();
    await workers.end(first, 'SIGKILL');
    await gate.undo();
    expect(await storedPages(stack, key, scan)).toEqual([
      [0, first.name],
      [1, first.name],
    ]);
    const second = await workers.start();
    await expectWhole(
      stack,
      key,
      runId,
      [first, first, second, second, second].map(({ name }) => name),
    );
    expect(asked(source)).toMatch(/^0+1+22+3+4+0+$/);
  });

  test('W1 D6 killed after a page is stored and before its heartbeat: that page counts, and is not fetched again', async () => {
    const gate = await closeGate(stack, { table: 'page', on: 'insert', when: 'new.n = 2', at: 'commit' });
    const source = await sessionless(stack);
    const first = await workers.survivor();
    const { key, runId, scan } = await begin(stack, source);
    await gate.reached();
    await workers.end(first, 'SIGKILL');
    await gate.pass();
    expect((await storedPages(stack, key, scan)).map(([n]) => n)).toEqual([0, 1, 2]);
    const second = await workers.start();
    await expectWhole(
      stack,
      key,
      runId,
      [first, first, first, second, second].map(({ name }) => name),
    );
    expect(asked(source)).toMatch(/^0+1+23+4+0+$/);
  });

  test('W1 D6 killed anywhere between pages, it loses none and repeats none', async () => {
    const inventory = await stack.inventory({ tools: 120, pageSize: 5, delayMs: 25 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    const first = await workers.survivor();
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await until(async () => (await storedPages(stack, key, `${runId}/0`)).length >= 5);
    await workers.end(first, 'SIGKILL');
    // What it had sent to the store is stored: nobody else claims yet.
    await until(async () => {
      const { rows } = await stack.admin.query(
        "select 1 from pg_stat_activity where datname = current_database() and application_name = 'genlock worker'",
      );
      return rows.length === 0;
    });
    const committed = new Set(
      (await stack.store.pages(key.tenant, `${runId}/0`)).map(({ requestCursor }) => requestCursor ?? null),
    );
    const before = inventory.journal().length;
    const second = await workers.start();
    const outcome = await stack.outcomeOf(key, runId);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', tools: 120, pages: 24 });
    const by = (await storedPages(stack, key, outcome.scan)).map(([, name]) => name);
    expect(by.filter((name) => name === first.name)).toHaveLength(committed.size);
    expect(by.filter((name) => name === second.name)).toHaveLength(24 - committed.size);
    const later = inventory
      .journal()
      .slice(before)
      .filter(({ method, cursor }) => method === 'tools/list' && cursor !== null);
    expect(later.filter(({ cursor }) => committed.has(cursor))).toEqual([]);
  });

  test('W1 D6 killed between the last page and the re-verification: the pages stand, another asks the tail', async () => {
    const whole = 'old.content_root is null and new.content_root is not null';
    const gate = await closeGate(stack, { table: 'scan', on: 'update', when: whole, at: 'commit' });
    const source = await sessionless(stack);
    const first = await workers.survivor();
    const { key, runId, scan } = await begin(stack, source);
    await gate.reached();
    await workers.end(first, 'SIGKILL');
    await gate.pass();
    expect(await stack.store.readScan(key.tenant, scan)).toMatchObject({ contentRoot: expect.any(String) });
    // Nobody has asked for the tail yet, or heard that the list is whole.
    expect(asked(source)).toMatch(/^0+1+2+3+4+$/);
    expect(await promotions(stack, key)).toEqual(NOTHING_PROMOTED);
    await workers.start();
    await expectWhole(stack, key, runId, Array(5).fill(first.name));
    expect(asked(source)).toMatch(/^0+1+2+3+4+0+$/);
  });

  test('W1 D6 killed in the re-verification: the pages stand, the tail is asked anew', async () => {
    const { source, key, first, runId } = await waitingFor(4);
    source.release();
    source.hold(0);
    await waitingAt(source);
    expect(await promotions(stack, key)).toEqual(NOTHING_PROMOTED);
    await workers.end(first, 'SIGKILL');
    await workers.start();
    source.release();
    await expectWhole(stack, key, runId, Array(5).fill(first.name));
    expect(asked(source)).toMatch(/^0+1+2+3+4+00+$/);
  });

  test('W1 D3 D6 killed before the list changes: no page of before meets one of after', async () => {
    const listAt = (counter: number) => ({
      pages: [tools(2, `a${counter}`), tools(2, `b${counter}`), tools(2, `c${counter}`)],
      revision: at(counter),
    });
    const catalog = await startScriptedCatalog(listAt(1));
    try {
      await catalog.bend({ page: 2, stall: true });
      const key = ownKey();
      await stack.register(key, catalog.source);
      const first = await workers.survivor();
      const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
      await until(async () => (await catalog.served()).length === 3);
      await workers.end(first, 'SIGKILL');
      await catalog.mend(listAt(2));
      const second = await workers.start();
      const outcome = await stack.outcomeOf(key, runId);
      expect(outcome).toMatchObject({ state: 'ELIGIBLE', generation: 1, pages: 3, scan: `${runId}/1` });
      expect(await stack.operator.readDiscovery(key.tenant, `${runId}/0`)).toMatchObject({
        reason: 'REVISION_CHANGED',
      });
      expect(await storedPages(stack, key, outcome.scan)).toEqual([0, 1, 2].map((n) => [n, second.name]));
      expect(await soundnessFaults(stack, key.server)).toEqual([]);
      expect(await promotions(stack, key)).toEqual(PROMOTED_ONCE);
    } finally {
      await catalog.close();
    }
  });

  test('W1 D6 told to stop, it hands its scan over and ends with 0', async () => {
    const { source, key, first, runId } = await waitingFor(2);
    expect(await workers.end(first, 'SIGTERM')).toBe(0);
    const second = await workers.start();
    source.release();
    await expectWhole(
      stack,
      key,
      runId,
      [first, first, second, second, second].map(({ name }) => name),
    );
    expect(asked(source)).toMatch(/^0+1+22+3+4+0+$/);
  });
});
