/** F: `list_changed` after page 2, on the stream of the scan's own request or on the lines of its process. */
import { describe, expect, test } from 'vitest';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();
const MOVED = listAt(9, 'a', 'b', 'c', 'd', 'e');

describe.each(['http', 'stdio'] as const)('D2 D3 over %s', (transport) => {
  const start = () => (transport === 'http' ? stack.scripted(FIRST, { stream: true }) : stack.stdio());

  test('the list changes after page 2, and the notification comes with page 3: a new round, and one list', async () => {
    const begun = await stack.begin(await start());
    await begun.catalog.order({
      list: NEXT,
      bends: [
        { page: 1, change: MOVED },
        { page: 2, hints: 1 },
      ],
    });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2, pages: 5 });
    expect(await stack.roundsOf(begun.key)).toEqual([
      [0, 'REVISION_CHANGED'],
      [1, 'PROMOTED'],
    ]);
    await stack.expectActive(begun.key, MOVED);
  });

  test('a notification without a change, early, twice and late, moves nothing', async () => {
    const begun = await stack.begin(await start());
    await begun.catalog.order({
      list: NEXT,
      bends: [
        { page: 0, hints: 1 },
        { page: 1, hints: 2 },
        { page: 3, hints: 1 },
      ],
    });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect(await stack.roundsOf(begun.key)).toEqual([[0, 'PROMOTED']]);
    await stack.expectActive(begun.key, NEXT);
  });

  test('a change whose notification is lost is seen all the same', async () => {
    const begun = await stack.begin(await start());
    await begun.catalog.order({ list: NEXT, bends: [{ page: 1, change: MOVED }] });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect(await stack.roundsOf(begun.key)).toEqual([
      [0, 'REVISION_CHANGED'],
      [1, 'PROMOTED'],
    ]);
    await stack.expectActive(begun.key, MOVED);
  });
});

test('D2 D3 a change after the last page is seen by the tail, with or without its notification', async () => {
  const begun = await stack.begin(await stack.scripted(FIRST, { stream: true }));
  await begun.catalog.order({ list: NEXT, bends: [{ page: 3, change: MOVED }] });
  expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
  expect(await stack.roundsOf(begun.key)).toEqual([
    [0, 'REVISION_CHANGED'],
    [1, 'PROMOTED'],
  ]);
  const [, first] = await stack.operator.listDiscoveries(begun.key.tenant, {
    server: begun.key.server,
    limit: 2,
  });
  expect(await stack.operator.readDiscovery(begun.key.tenant, first?.id ?? '')).toMatchObject({
    evidence: { at: 'tail', first: { value: { counter: 8 } }, now: { value: { counter: 9 } } },
  });
  await stack.expectActive(begun.key, MOVED);
});

test('D4 a source without a revision proves nothing by the notification that did not come', async () => {
  const unversioned = { pages: FIRST.pages };
  const begun = await stack.begin(await stack.scripted(FIRST, { stream: true }));
  await begun.catalog.order({ list: unversioned });
  const fault = { reason: 'NO_REVISION', evidence: {} } as const;
  const one = await stack.expectFault(begun, fault);
  const two = await stack.expectFault(begun, fault, { page: 1, hints: 1 });
  expect(one.scan).not.toBe(two.scan);
  await stack.expectMended(begun);
});
