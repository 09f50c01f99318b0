/** F: A-B-A, a list that changes and changes back. Two equal sights of it say nothing of what lay between. */
import { describe, expect, test } from 'vitest';
import { at } from '../integration/discovery/bentLists.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();
const OTHER = listAt(8, 'x', 'y', 'z', 'w');

describe.each(['http', 'stdio'] as const)('D3 A-B-A over %s', (transport) => {
  const start = () => (transport === 'http' ? stack.scripted() : stack.stdio());

  test('D3 between two pages: the revision tells, and no page of B is among those of A', async () => {
    const begun = await stack.begin(await start());
    const back = { ...NEXT, revision: at(10) };
    await begun.catalog.order({
      list: { ...NEXT, revision: at(8) },
      bends: [
        { page: 0, change: { ...OTHER, revision: at(9) } },
        { page: 1, change: back },
      ],
    });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect(await stack.roundsOf(begun.key)).toEqual([
      [0, 'REVISION_CHANGED'],
      [1, 'PROMOTED'],
    ]);
    await stack.expectActive(begun.key, back);
  });
});

test('D3 after the last page: the tail sees the same content under another revision, and that is a change', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.order({
    list: NEXT,
    bends: [
      { page: 3, change: OTHER },
      // The tail of the first round is answered with B; then A is back.
      { page: 0, visit: 1, stamp: { revision: at(9) }, change: { ...NEXT, revision: at(10) } },
    ],
  });
  expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
  expect(await stack.roundsOf(begun.key)).toEqual([
    [0, 'REVISION_CHANGED'],
    [1, 'PROMOTED'],
  ]);
  await stack.expectActive(begun.key, { ...NEXT, revision: at(10) });
});

test('D9 a server that gives a page of B under the revision of A contradicts what was accepted of A', async () => {
  const begun = await stack.begin(await stack.scripted());
  const spliced = { ...FIRST, pages: [...FIRST.pages.slice(0, 2), ...OTHER.pages.slice(2, 3)] };
  await begun.catalog.mend(spliced);
  await stack.expectFault(begun, {
    reason: 'EQUIVOCATION',
    evidence: { accepted: { value: at(7) }, proposed: { value: at(7) } },
  });
  await stack.expectMended(begun);
});

test('D9 a revision that goes back with the list is a rollback', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.mend({ ...OTHER, revision: at(6) });
  await stack.expectFault(begun, {
    reason: 'ROLLBACK',
    evidence: { accepted: { value: at(7) }, proposed: { value: at(6) } },
  });
  await stack.expectMended(begun);
});

describe('D3 D4 without a revision', () => {
  const unversioned = { pages: FIRST.pages };

  test('D4 two equal scans, and two with another list between them, prove nothing', async () => {
    const begun = await stack.begin(await stack.scripted());
    const observed: unknown[] = [];
    for (const list of [unversioned, unversioned, { pages: OTHER.pages }, unversioned]) {
      await begun.catalog.order({ list });
      const outcome = await stack.expectFault(begun, { reason: 'NO_REVISION', evidence: {} });
      const row = await stack.operator.readDiscovery(begun.key.tenant, outcome.scan);
      expect(row).toMatchObject({ revision: null, pageRoot: null });
      observed.push(row?.contentRoot);
    }
    // The scans are equal indeed, the third but for its own list: it is not for want of likeness.
    expect(observed[0]).toBe(observed[1]);
    expect(observed[0]).toBe(observed[3]);
    expect(observed[0]).not.toBe(observed[2]);
    await stack.expectMended(begun);
  });

  test('D4 a list that is torn between A and B is an observation like any other, and serves nobody', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.order({ list: unversioned });
    const fault = { reason: 'NO_REVISION', evidence: {} } as const;
    await stack.expectFault(begun, fault, { page: 0, change: { pages: OTHER.pages } });
    await stack.expectMended(begun);
  });
});
