/** F: a notification after the scan: after its last page, after its tail, after its end. Hints come as the signal here. */
import { expect, test } from 'vitest';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { hintDiscovery, startDiscovery } from '../../src/temporal/discoveryControl.js';
import { until } from '../integration/discovery/discoveryStack.js';
import { listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();
const MOVED = listAt(9, 'a', 'b', 'c', 'd', 'e');
const hint = (key: DiscoveryKey) => hintDiscovery(stack.client, stack.taskQueue, key);

test('D2 while the tail is asked: it is asked once more, and what changed between the two is seen', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.order({ list: NEXT, bends: [{ page: 0, visit: 1, stall: true, change: MOVED }] });
  const { runId } = await startDiscovery(stack.client, stack.taskQueue, begun.key);
  await until(async () => (await begun.catalog.served()).at(-1)?.answered === 'stalled');
  expect((await hint(begun.key)).runId).toBe(runId);
  const asked = (await begun.catalog.served()).length;
  // Lets the tail go: it is answered with the revision of the pages, and then the list moves.
  await begun.catalog.bend();
  expect(await stack.outcomeOf(begun.key, runId)).toMatchObject({
    state: 'ELIGIBLE',
    generation: 3,
    pages: 5,
  });
  expect(await stack.roundsOf(begun.key)).toEqual([
    [0, 'REVISION_CHANGED'],
    [1, 'PROMOTED'],
  ]);
  const requests = (await begun.catalog.served()).slice(asked).map(({ page }) => page);
  // The tail, the tail once more, the five pages of the second round and its tail.
  expect(requests).toEqual([0, 0, 0, 1, 2, 3, 4, 0]);
  await stack.expectActive(begun.key, MOVED);
});

test('D2 after the tail, lost: what was current at the tail is promoted whole, and the next scan finds the change', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.order({ list: NEXT, bends: [{ page: 0, visit: 1, change: MOVED }] });
  expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2, pages: 4 });
  await stack.expectActive(begun.key, NEXT);
  expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 3, pages: 5 });
  await stack.expectActive(begun.key, MOVED);
});

test('D2 after the end: a run of its own, and until that has ended the old generation serves', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.order({ list: NEXT, bends: [{ page: 3, stall: true }] });
  const { runId } = await hint(begun.key);
  await until(async () => (await begun.catalog.served()).at(-1)?.answered === 'stalled');
  await stack.expectUntouched(begun);
  await begun.catalog.bend();
  expect(await stack.outcomeOf(begun.key, runId)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
  await stack.expectActive(begun.key, NEXT);
});

test('D2 without a change: no generation, and freshness by the tail, not by the notification', async () => {
  const begun = await stack.begin(await stack.scripted());
  const { runId } = await hint(begun.key);
  expect(await stack.outcomeOf(begun.key, runId)).toMatchObject({ reason: 'UNCHANGED', generation: 1 });
  const after = await stack.standing(begun.key);
  expect(after.generations).toEqual(begun.before.generations);
  expect(after.served?.freshUntil).toBeGreaterThan(
    begun.before.served?.freshUntil ?? Number.POSITIVE_INFINITY,
  );
});
