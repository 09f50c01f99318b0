/**
 * A worker is killed while it refreshes what serves: among pages of known bytes, of which the next is asked for while one is
 * stored, and on either side of the promotion of what follows. Until that commits, the first generation serves whole (P5, D6).
 */
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { startDiscovery } from '../../src/temporal/discoveryControl.js';
import { closeGate } from './crashGate.js';
import { useFaults } from './expectations.js';
import { soundnessFaults } from './soundness.js';
import { begin, promotions, sessionless, storedPages, waitingAt } from './takeover.js';
import { useWorkers } from './workerProcesses.js';

const stack = useFaults({ inProcess: false });
const workers = useWorkers(stack);

/** Five pages serve as generation 1. */
const serving = async () => {
  const source = await sessionless(stack);
  const first = await workers.survivor();
  const { key, runId } = await begin(stack, source);
  expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', generation: 1, pages: 5 });
  return { source, first, key, before: await stack.standing(key) };
};
type Serving = Awaited<ReturnType<typeof serving>>;

const refresh = async (key: DiscoveryKey) => {
  const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
  return { runId, scan: `${runId}/0` };
};
/** The bytes of the pages and how they were read, in order. */
const textsOf = async ({ tenant }: DiscoveryKey, scan: string) =>
  (await stack.store.pages(tenant, scan)).map(({ rawDigest, reading }) => `${rawDigest} ${reading}`);

/** All that a reader could see is as it was; a candidate may lie beside it. */
const expectServing = async ({ key, before }: Serving): Promise<void> => {
  const { generations, ...seen } = await stack.standing(key);
  expect({ ...seen, generations: generations.slice(0, 1) }).toEqual(before);
};

describe('P5 D6 a worker that refreshes an unchanged list is lost', () => {
  test.each([
    ['not yet stored', 'row', 'undo', 2],
    ['stored and not yet heard of', 'commit', 'pass', 3],
  ] as const)(
    'P5 D6 with page 3 asked for ahead, and page 2 %s: no stored page is fetched again, and generation 1 serves on',
    async (_when, at, end, stored) => {
      const begun = await serving();
      const { source, first, key, before } = begun;
      const gate = await closeGate(stack, { table: 'page', on: 'insert', when: 'new.n = 2', at });
      source.hold(3);
      const { runId, scan } = await refresh(key);
      await gate.reached();
      // Only after a page of known bytes is the next one asked for so early.
      await waitingAt(source);
      await stack.expectUntouched(begun);
      await workers.end(first, 'SIGKILL');
      await gate[end]();
      const left = await textsOf(key, scan);
      expect(left).toEqual((await textsOf(key, before.generations[0]?.scan ?? '')).slice(0, stored));
      await stack.expectUntouched(begun);

      source.release();
      source.hold(0);
      const earlier = source.asked().length;
      const second = await workers.start();
      await waitingAt(source);
      // The list is whole again, and nothing is proven yet.
      await stack.expectUntouched(begun);
      source.release();
      expect(await stack.outcomeOf(key, runId)).toMatchObject({
        state: 'RETIRED',
        reason: 'UNCHANGED',
        generation: 1,
        pages: 5,
        scan,
      });
      expect(source.asked().slice(earlier).join('')).toMatch(stored === 2 ? /^2+3+4+0+$/ : /^3+4+0+$/);
      expect(await storedPages(stack, key, scan)).toEqual(
        [0, 1, 2, 3, 4].map((n) => [n, n < stored ? first.name : second.name]),
      );
      expect((await textsOf(key, scan)).slice(0, stored)).toEqual(left);
      expect(await soundnessFaults(stack, key.server)).toEqual([]);
      // One renewal, of the same artifact.
      expect(await promotions(stack, key)).toEqual({ receipts: 1, generations: 1, freshness: 2, version: 2 });
      const after = await stack.standing(key);
      expect(after.generations).toEqual(before.generations);
      expect(after.served).toEqual({ ...before.served, freshUntil: expect.any(Number) });
      expect(after.served?.freshUntil).toBeGreaterThan(before.served?.freshUntil ?? Number.POSITIVE_INFINITY);
    },
  );
});

const RECEIPT = { table: 'receipt', on: 'insert', when: "new.kind = 'catalog'" } as const;

describe.each<[string, (begun: Serving) => unknown, knownPages: number]>([
  ['of a changed list', ({ source }) => source.change({ op: 'change-reserve-schema' }), 0],
  ['of known pages under another policy', () => stack.publishPolicy(), 5],
])('P5 P2 D6 a worker that promotes a refresh %s is lost', (_of, change, knownPages) => {
  test.each([
    ['with all of it written and not committed', 'row', 'undo'],
    ['after its commit, before it has heard of it', 'commit', 'pass'],
  ] as const)(
    'P5 P2 D6 %s: generation 1 serves until then, and 2 comes of it once',
    async (_when, at, end) => {
      const served = await serving();
      const { source, first, key } = served;
      await change(served);
      const before = await stack.standing(key);
      const begun = { ...served, before };
      const gate = await closeGate(stack, { ...RECEIPT, at });
      const { runId, scan } = await refresh(key);
      await gate.reached();
      await expectServing(begun);
      await workers.end(first, 'SIGKILL');
      await expectServing(begun);
      await gate[end]();
      const committed = await stack.standing(key);
      if (end === 'undo') await expectServing(begun);
      else expect(committed.served).toMatchObject({ generation: 2, scan });
      const sealed = committed.generations[1];

      const earlier = source.asked().length;
      await workers.start();
      const outcome = await stack.outcomeOf(key, runId);
      expect(outcome).toMatchObject({ state: 'ELIGIBLE', reason: 'PROMOTED', generation: 2, pages: 5, scan });
      expect(source.asked()).toHaveLength(earlier);
      expect(await promotions(stack, key)).toEqual({ receipts: 2, generations: 2, freshness: 2, version: 2 });
      const after = await stack.standing(key);
      expect(after.served).toMatchObject({ generation: 2, scan });
      // What was sealed before the crash is what serves.
      expect(sealed).toMatchObject({ generation: 2, snapshot: expect.any(String) });
      expect(after.generations[1]).toEqual({ ...sealed, state: 'ELIGIBLE' });
      if (end === 'pass') expect(after).toEqual(committed);
      const texts = await textsOf(key, before.generations[0]?.scan ?? '');
      expect((await textsOf(key, scan)).filter((text, n) => text === texts[n])).toHaveLength(knownPages);
      expect(await soundnessFaults(stack, key.server)).toEqual([]);
    },
  );
});
