/**
 * A worker is frozen while it lists, and wakes after another took its scan over: it adds nothing, and takes nothing away (D6).
 * The full form keeps it frozen for 20 seconds at least.
 */
import { describe, expect, test } from 'vitest';
import { ownKey, until, useDiscovery } from '../integration/discovery/discoveryStack.js';
import { rounds } from '../support/testForm.js';
import { closeGate } from './crashGate.js';
import {
  asked,
  begin,
  expectTwoSessions,
  expectWhole,
  pagedBySessions,
  sessionless,
  storedPages,
  useSessionServers,
  waitingAt,
} from './takeover.js';
import { type NamedWorker, useWorkers } from './workerProcesses.js';

const stack = useDiscovery({ inProcess: false });
const workers = useWorkers(stack);
const sessionServer = useSessionServers();

/** Freezes a worker, and lets it go whatever becomes of `meanwhile`. */
const whileFrozen = async (worker: NamedWorker, meanwhile: () => Promise<void>): Promise<void> => {
  process.kill(worker.pid, 'SIGSTOP');
  const since = performance.now();
  try {
    await meanwhile();
    await until(() => performance.now() - since >= rounds(0, 20_000));
  } finally {
    process.kill(worker.pid, 'SIGCONT');
  }
};
/** The worker works again: with every other one gone, it does a scan. */
const worksAgain = async (): Promise<void> => {
  const key = ownKey();
  await stack.register(key, (await stack.inventory({ tools: 5 })).url);
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
};

describe('W1 D6 a worker that is frozen and wakes', () => {
  test.each([
    ['without sessions', async () => ({ source: await sessionless(stack), server: null })],
    [
      'in the session that the other goes on with',
      async () => {
        const server = await sessionServer();
        return { source: pagedBySessions(server), server };
      },
    ],
  ])('W1 D6 in mid-page, %s, adds no page to the scan that another has taken over', async (_how, serve) => {
    const { source, server } = await serve();
    const first = await workers.survivor();
    source.hold(2);
    const { key, runId, scan } = await begin(stack, source);
    await waitingAt(source);
    let second = first;
    await whileFrozen(first, async () => {
      second = await workers.start();
      // The takeover asks for page 2 as well.
      await waitingAt(source, 2);
      source.release();
      source.hold(3);
      await waitingAt(source);
    });
    // It woke with the answer to its page in hand, while the other holds the scan, and has come to the end of all it did.
    expect(await workers.end(first, 'SIGTERM')).toBe(0);
    expect(await storedPages(stack, key, scan)).toEqual([
      [0, first.name],
      [1, first.name],
      [2, second.name],
    ]);
    source.release();
    await expectWhole(
      stack,
      key,
      runId,
      [first, first, second, second, second].map(({ name }) => name),
    );
    expect(asked(source)).toMatch(/^0+1+22+3+4+0+$/);
    // Neither of the two ended the session before its time.
    if (server !== null) expectTwoSessions(server, /^0+1+22+3+4+$/);
  });

  test('W1 D6 while its page is being stored: the takeover waits for that statement, and sees its page', async () => {
    const gate = await closeGate(stack, { table: 'page', on: 'insert', when: 'new.n = 2', at: 'commit' });
    const source = await sessionless(stack);
    const first = await workers.survivor();
    const { key, runId } = await begin(stack, source);
    await gate.reached();
    let second = first;
    await whileFrozen(first, async () => {
      second = await workers.start();
      // The claim of the other waits for the lock that the statement has on the scan.
      await until(async () => {
        const { rows } = await stack.admin.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and query like '%claim_scan%'`,
        );
        return rows.length > 0;
      });
      source.hold(0);
      await gate.pass();
      await waitingAt(source);
    });
    source.release();
    await expectWhole(
      stack,
      key,
      runId,
      [first, first, first, second, second].map(({ name }) => name),
    );
    expect(asked(source)).toMatch(/^0+1+23+4+0+$/);
    await workers.end(second, 'SIGTERM');
    await worksAgain();
  });
});
