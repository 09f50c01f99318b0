/**
 * The first window (W1): a worker is killed, stopped or frozen while it scans. Another one goes on from the last stored
 * page: none is lost, none is fetched again, and one that wakes adds nothing (D6).
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { InventoryServer } from '../../examples/inventory-mcp/server.js';
import type { ReadyProcess } from '../../src/dev/readyProcess.js';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { startDiscovery } from '../../src/temporal/discoveryControl.js';
import { ownKey, until, useDiscovery } from '../integration/discovery/discoveryStack.js';
import { startWorker } from './workerProcesses.js';

const stack = useDiscovery({ inProcess: false });
interface Named extends ReadyProcess {
  readonly name: string;
}
let count = 0;
const start = async (): Promise<Named> => {
  const name = `worker-${++count}`;
  const started = { ...(await startWorker(stack, name)), name };
  running.add(started);
  return started;
};
const running = new Set<Named>();
/** The one that a test begins with: who finished the test before, else a new one. */
const survivor = async (): Promise<Named> => [...running][0] ?? (await start());
const end = async (worker: Named, signal: 'SIGKILL' | 'SIGTERM'): Promise<number> => {
  running.delete(worker);
  process.kill(worker.pid, signal);
  return await worker.exited;
};
afterAll(async () => {
  await Promise.all([...running].map((worker) => worker.stop()));
});

/** A server of 5 pages that holds one of them, and a discovery that waits for it on the only worker there is. */
const waitingFor = async (page: number) => {
  const inventory = await stack.inventory();
  const key = ownKey();
  await stack.register(key, inventory.url);
  const first = await survivor();
  inventory.change({ op: 'hold', page });
  const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
  await until(() => inventory.inventory.pace.waiting === 1);
  return { inventory, key, first, runId };
};
const pagesByWorker = async (key: DiscoveryKey, scan: string): Promise<readonly string[]> =>
  (await stack.operator.readDiscovery(key.tenant, scan))?.pageChain.map((page) => page.worker) ?? [];
/** How often each page was asked for, by its number. The tail asks for page 0. */
const askedFor = ({ inventory }: InventoryServer): readonly number[] => {
  const counts = [0, 0, 0, 0, 0];
  for (const { method, cursor } of inventory.journal.entries) {
    const page = inventory.catalog.pageIndex(cursor ?? undefined);
    if (method === 'tools/list') counts[page] = (counts[page] ?? 0) + 1;
  }
  return counts;
};

/** Two pages by the worker that was lost, the other three by the one that took over. */
const twoAndThree = (lost: { readonly name: string }, other: { readonly name: string }): string[] => [
  lost.name,
  lost.name,
  other.name,
  other.name,
  other.name,
];

describe('W1 the process that lists restarts half-way', () => {
  test('W1 D6 a worker killed in mid-page: another finishes, and no committed page is fetched again', async () => {
    const { inventory, key, first, runId } = await waitingFor(2);
    await end(first, 'SIGKILL');
    const second = await start();
    inventory.change({ op: 'release' });
    const outcome = await stack.outcomeOf(key, runId);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', generation: 1, tools: 120, pages: 5 });
    expect(await pagesByWorker(key, outcome.scan)).toEqual(twoAndThree(first, second));
    // Page 2 was under way when its reader died; page 0 is asked for again by the tail.
    expect(askedFor(inventory)).toEqual([2, 1, 2, 1, 1]);
  });

  test('W1 D6 a worker killed anywhere between pages loses none and repeats none', async () => {
    const inventory = await stack.inventory({ tools: 120, pageSize: 5, delayMs: 25 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    const first = await survivor();
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await until(
      async () =>
        ((await stack.operator.listDiscoveries(key.tenant, { server: key.server, limit: 1 }))[0]?.pages ??
          0) >= 5,
    );
    await end(first, 'SIGKILL');
    const { rows } = await stack.admin.query(
      'select request_cursor from genlock.page p join genlock.scan s on s.id = p.scan where s.server = $1',
      [key.server],
    );
    const committed = new Set(rows.map(({ request_cursor }) => request_cursor as string | null));
    const before = inventory.journal().length;
    const second = await start();
    const outcome = await stack.outcomeOf(key, runId);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', tools: 120, pages: 24 });
    const by = await pagesByWorker(key, outcome.scan);
    expect(by.filter((name) => name === first.name)).toHaveLength(committed.size);
    expect(by.filter((name) => name === second.name)).toHaveLength(24 - committed.size);
    const later = inventory
      .journal()
      .slice(before)
      .filter(({ method, cursor }) => method === 'tools/list' && cursor !== null);
    expect(later.filter(({ cursor }) => committed.has(cursor))).toEqual([]);
  });

  test('W1 D6 a worker killed between the last page and the re-verification: the pages stand, the tail is asked anew', async () => {
    const { inventory, key, first, runId } = await waitingFor(4);
    inventory.change({ op: 'release' });
    inventory.change({ op: 'hold', page: 0 });
    await until(() => inventory.inventory.pace.waiting === 1);
    await end(first, 'SIGKILL');
    await start();
    inventory.change({ op: 'release' });
    const outcome = await stack.outcomeOf(key, runId);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', pages: 5 });
    expect(await pagesByWorker(key, outcome.scan)).toEqual(Array(5).fill(first.name));
    expect(askedFor(inventory)).toEqual([3, 1, 1, 1, 1]);
  });

  test('W1 D6 a worker that is told to stop hands its scan over and ends with 0', async () => {
    const { inventory, key, first, runId } = await waitingFor(2);
    expect(await end(first, 'SIGTERM')).toBe(0);
    const second = await start();
    inventory.change({ op: 'release' });
    const outcome = await stack.outcomeOf(key, runId);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', pages: 5 });
    expect(await pagesByWorker(key, outcome.scan)).toEqual(twoAndThree(first, second));
    expect(askedFor(inventory)).toEqual([2, 1, 2, 1, 1]);
  });

  test('W1 D6 a worker that was frozen and wakes adds no page to the scan that another has taken over', async () => {
    const { inventory, key, first, runId } = await waitingFor(2);
    process.kill(first.pid, 'SIGSTOP');
    const second = await start();
    try {
      // The takeover asks for page 2 as well.
      await until(() => inventory.inventory.pace.waiting === 2);
      inventory.change({ op: 'release' });
      inventory.change({ op: 'hold', page: 3 });
      await until(() => inventory.inventory.pace.waiting === 1);
    } finally {
      // It wakes with the answer to its page in hand, while the other holds the scan.
      process.kill(first.pid, 'SIGCONT');
    }
    const fenced = await stack.store.pages(key.tenant, `${runId}/0`);
    expect(fenced.map(({ n, worker: name }) => [n, name])).toEqual([
      [0, first.name],
      [1, first.name],
      [2, second.name],
    ]);
    // The one that woke works again: it does a scan of another server while the first waits.
    const other = await stack.inventory({ tools: 5 });
    const otherKey = ownKey();
    await stack.register(otherKey, other.url);
    expect(await stack.discover(otherKey)).toMatchObject({ state: 'ELIGIBLE' });
    inventory.change({ op: 'release' });
    const outcome = await stack.outcomeOf(key, runId);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', pages: 5, tools: 120 });
    expect(await pagesByWorker(key, outcome.scan)).toEqual(twoAndThree(first, second));
    expect(askedFor(inventory)).toEqual([2, 1, 2, 1, 1]);
    await end(second, 'SIGTERM');
    // Alone, it confirms the very list.
    expect(await stack.discover(key)).toMatchObject({ state: 'RETIRED', reason: 'UNCHANGED', generation: 1 });
  });
});
