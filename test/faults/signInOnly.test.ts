/** F: a list that shrinks, to a sign-in tool, to nothing, or by a proxy that drops the rest: formally whole, and held. */
import { describe, expect, test } from 'vitest';
import type { ScriptedList } from '../fixtures/catalogScript.js';
import { at, tool } from '../integration/discovery/bentLists.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();
const SIGN_IN = [tool('authenticate'), tool('complete_authentication')];

describe.each<[what: string, removed: number, list: ScriptedList]>([
  ['sign-in tools, as when a token has ended', 6, { pages: [SIGN_IN], revision: at(8) }],
  ['no tools at all, as when a proxy hides an error', 6, { pages: [[]], revision: at(8) }],
  ['its first page, as when a gateway drops nextCursor', 4, listAt(8, 'a')],
])('D5 a list of %s', (_, removed, list) => {
  test('D5 is held for an operator, and what served goes on', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.mend(list);
    const evidence = { active: 6, removed, allowedShare: 0.3 };
    const outcome = await stack.expectFault(begun, { reason: 'SHRUNK', evidence });
    expect(outcome.evidence['examples']).toContain('b_0');
    // A second look at the same list is no acceptance of it.
    await stack.expectFault(begun, { reason: 'SHRUNK', evidence });
    await stack.expectMended(begun);
  });
});

test('D3 a list that shrinks in mid-scan is no part of the longer one', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.order({ list: NEXT });
  const shrunk = { pages: [SIGN_IN], revision: at(9) };
  const outcome = await stack.expectFault(
    begun,
    { reason: 'SHRUNK', evidence: { removed: 6 } },
    { page: 1, change: shrunk },
  );
  expect(outcome).toMatchObject({ pages: 1, tools: 2 });
  expect(await stack.roundsOf(begun.key)).toEqual([
    [0, 'REVISION_CHANGED'],
    [1, 'SHRUNK'],
  ]);
  await stack.expectMended(begun, { ...NEXT, revision: at(10) });
});

test('D9 a list that is cut short at the revision of the whole one contradicts it', async () => {
  const begun = await stack.begin(await stack.scripted());
  const fault = { reason: 'EQUIVOCATION', evidence: { proposed: { value: FIRST.revision } } } as const;
  await stack.expectFault(begun, fault, { page: 0, next: null });
  await stack.expectMended(begun);
});
