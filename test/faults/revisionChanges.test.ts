/** F: the source revision changes across pages, or is torn: missing, of another kind, of another incarnation. */
import { describe, expect, test } from 'vitest';
import type { CatalogBend } from '../fixtures/catalogScript.js';
import { at } from '../integration/discovery/bentLists.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();

/** The list moves after the second page of each of the first rounds. */
const moves = (count: number): CatalogBend[] =>
  Array.from({ length: count }, (_, n) => ({
    page: 1,
    visit: n,
    change: listAt(9 + n, 'a', 'b', 'c', 'd'),
  }));

describe('D3 a revision that changes across pages', () => {
  test('D3 in four rounds is read in the fifth', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.order({ list: NEXT, bends: moves(4) });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect((await stack.roundsOf(begun.key)).map(([, reason]) => reason)).toEqual([
      ...Array(4).fill('REVISION_CHANGED'),
      'PROMOTED',
    ]);
    await stack.expectActive(begun.key, listAt(12, 'a', 'b', 'c', 'd'));
  });

  test.each(['http', 'stdio'] as const)(
    'D3 in five rounds is REVISION_UNSTABLE, over %s',
    async (transport) => {
      const begun = await stack.begin(await (transport === 'http' ? stack.scripted() : stack.stdio()));
      await begun.catalog.order({ list: NEXT });
      const evidence = {
        rounds: 5,
        last: { page: 2, first: { value: at(12) }, now: { value: at(13) } },
      };
      await stack.expectFault(begun, { reason: 'REVISION_UNSTABLE', evidence }, ...moves(5));
      expect((await stack.roundsOf(begun.key)).map(([, reason]) => reason)).toEqual([
        ...Array(4).fill('REVISION_CHANGED'),
        'REVISION_UNSTABLE',
      ]);
      await stack.expectMended(begun, listAt(14, 'a', 'b', 'c', 'd'));
    },
  );
});

describe('D3 a revision that is torn in each scan', () => {
  const torn = (stamp: CatalogBend['stamp'] & object): CatalogBend => ({ page: 2, stamp, visit: 'each' });

  test.each<
    [what: string, reason: 'REVISION_MISSING' | 'REVISION_UNSTABLE', stamp: CatalogBend['stamp'] & object]
  >([
    ['one page has none', 'REVISION_MISSING', {}],
    ['one page is older', 'REVISION_UNSTABLE', { revision: at(7) }],
    ['one page is of another incarnation', 'REVISION_UNSTABLE', { revision: at(8, 'another') }],
    ['one page has a bare counter', 'REVISION_UNSTABLE', { revision: 8 }],
    ['one page has a token instead', 'REVISION_UNSTABLE', { token: 't8' }],
  ])('%s: %s', async (_, reason, stamp) => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.order({ list: NEXT });
    const where = { page: 2, first: { value: at(8) } };
    const evidence = reason === 'REVISION_MISSING' ? { ...where, now: null } : { rounds: 5, last: where };
    await stack.expectFault(begun, { reason, evidence }, torn(stamp));
    await stack.expectMended(begun);
  });

  test('D3 only the tail has none: the pages are bound to nothing', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.order({ list: NEXT });
    const fault = { reason: 'REVISION_MISSING', evidence: { at: 'tail', now: null } } as const;
    await stack.expectFault(begun, fault, { page: 0, visit: 1, stamp: {} });
    await stack.expectMended(begun);
  });

  test('D3 snapshot tokens: one page has another', async () => {
    const tokens = { ...FIRST, revision: undefined, token: 't7' };
    const begun = await stack.begin(await stack.scripted(tokens));
    await begun.catalog.order({ list: { ...NEXT, revision: undefined, token: 't8' } });
    const last = { page: 1, first: { value: { token: 't8' } }, now: { value: { token: 't9' } } };
    await stack.expectFault(
      begun,
      { reason: 'REVISION_UNSTABLE', evidence: { rounds: 5, last } },
      { page: 1, stamp: { token: 't9' }, visit: 'each' },
    );
    await stack.expectMended(begun, { ...NEXT, revision: undefined, token: 't10' });
  });
});
