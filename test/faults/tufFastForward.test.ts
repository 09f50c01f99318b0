/** Fast-forward: a revision so high that nothing the source says later could follow it. */
import { describe, test } from 'vitest';
import type { ScriptedList } from '../fixtures/catalogScript.js';
import { at } from '../integration/discovery/bentLists.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';
import { expectAccepted } from './standpoints.js';

const stack = useFaults();
/** The highest counter that JSON carries exactly: no number is left to follow it. */
const TOP = Number.MAX_SAFE_INTEGER;
const FAR = 5_000_000_000;
const as = (list: ScriptedList, counter: number, incarnation?: string): ScriptedList => ({
  ...list,
  revision: at(counter, incarnation),
});

describe('D9 fast-forward', () => {
  test.each([
    ['another list', NEXT],
    ['the list that serves', FIRST],
  ])('D9 %s is held, and the counter of the source goes on from where it was', async (_, list) => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.mend(as(list, TOP));
    const evidence = { accepted: { value: at(7) }, proposed: { value: at(TOP) } };
    for (let scan = 0; scan < 2; scan++) await stack.expectFault(begun, { reason: 'FAST_FORWARD', evidence });
    await stack.expectMended(begun);
  });

  test('D5 D9 a jump that is meant is accepted with a receipt, and the list goes on from there', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.mend(as(NEXT, FAR));
    const held = await stack.expectFault(begun, { reason: 'FAST_FORWARD', evidence: {} });
    await expectAccepted(stack, begun.key, held);
    await stack.expectMended(begun, as(listAt(9, 'a', 'b', 'c', 'd'), FAR + 1));
  });
});

/** A first list follows nothing, so the very first may stand at the top. */
const poisoned = async () => {
  const catalog = await stack.scripted(as(FIRST, TOP));
  const begun = await stack.begin(catalog);
  await stack.expectActive(begun.key, as(FIRST, TOP));
  return begun;
};

describe('D9 where the top serves already', () => {
  test('D9 nothing can follow it: a number beyond is no counter, a lower one is a rollback', async () => {
    const begun = await poisoned();
    await begun.catalog.mend(as(NEXT, TOP + 1));
    await stack.expectFault(begun, {
      reason: 'PAGE_MALFORMED',
      evidence: { pointer: '/result/_meta/dev.genlock~1catalogRevision' },
    });
    await begun.catalog.mend(NEXT);
    await stack.expectFault(begun, { reason: 'ROLLBACK', evidence: { accepted: { value: at(TOP) } } });
    await begun.catalog.mend(as(NEXT, TOP));
    await stack.expectFault(begun, { reason: 'EQUIVOCATION', evidence: {} });
  });

  test('D5 D9 an operator recovers by accepting the lower counter, and the list goes on from it', async () => {
    const begun = await poisoned();
    await begun.catalog.mend(NEXT);
    const held = await stack.expectFault(begun, { reason: 'ROLLBACK', evidence: {} });
    await expectAccepted(stack, begun.key, held);
    await stack.expectActive(begun.key, NEXT);
    await stack.expectMended(begun, listAt(9, 'a', 'b', 'c', 'd'));
    // The top does not come back by itself.
    const recovered = { ...begun, before: await stack.standing(begun.key) };
    await begun.catalog.mend(as(FIRST, TOP));
    await stack.expectFault(recovered, { reason: 'FAST_FORWARD', evidence: {} });
  });

  test('D5 D9 an operator recovers by accepting a new incarnation, whose counters begin anew', async () => {
    const begun = await poisoned();
    await begun.catalog.mend(as(NEXT, 1, 'anew'));
    const held = await stack.expectFault(begun, { reason: 'NEW_INCARNATION', evidence: {} });
    await expectAccepted(stack, begun.key, held);
    await stack.expectMended(begun, as(listAt(9, 'a', 'b', 'c', 'd'), 2, 'anew'));
    const recovered = { ...begun, before: await stack.standing(begun.key) };
    await begun.catalog.mend(as(NEXT, TOP));
    await stack.expectFault(recovered, { reason: 'NEW_INCARNATION', evidence: {} });
  });
});
