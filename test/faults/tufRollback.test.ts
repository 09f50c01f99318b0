/** Rollback: an older list is shown again, whole and well-formed, as of a server that was attacked or badly restored. */
import { describe, test } from 'vitest';
import { at } from '../integration/discovery/bentLists.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';
import { expectAccepted } from './standpoints.js';

const stack = useFaults();

/** A server that went from FIRST to NEXT, which serves. */
const moved = async () => {
  const first = await stack.begin(await stack.scripted());
  await stack.expectMended(first);
  return { ...first, before: await stack.standing(first.key) };
};
const proposed = (counter: number) => ({
  accepted: { binding: 'SERVER_REVISION', value: NEXT.revision },
  proposed: { binding: 'SERVER_REVISION', value: at(counter) },
});

describe('D9 rollback', () => {
  test('D9 the list of before is held as often as it is shown, and the newer one goes on serving', async () => {
    const begun = await moved();
    await begun.catalog.mend(FIRST);
    for (let scan = 0; scan < 2; scan++)
      await stack.expectFault(begun, { reason: 'ROLLBACK', evidence: proposed(7) });
    // What was seen meanwhile takes nothing from the server: its next list follows.
    await stack.expectMended(begun, listAt(9));
  });

  test('D9 a lower counter is one also with the very content that serves, and renews nothing', async () => {
    const begun = await moved();
    await begun.catalog.mend({ ...NEXT, revision: at(6) });
    await stack.expectFault(begun, { reason: 'ROLLBACK', evidence: proposed(6) });
    await stack.expectMended(begun, listAt(9));
  });

  test('D9 an older counter between newer pages is no rollback but a torn list, and is not accepted either', async () => {
    const begun = await moved();
    await begun.catalog.order({ list: listAt(9, 'a', 'b', 'c', 'd') });
    await stack.expectFault(
      begun,
      { reason: 'REVISION_UNSTABLE', evidence: { rounds: 5 } },
      { page: 2, stamp: { revision: at(7) }, visit: 'each' },
    );
    await stack.expectMended(begun, listAt(10, 'a', 'b', 'c', 'd'));
  });

  test('D5 D9 an operator who restored the server on purpose accepts it, with a receipt; the list goes on from there', async () => {
    const begun = await moved();
    await begun.catalog.mend(listAt(3, 'a', 'b', 'c', 'd'));
    const held = await stack.expectFault(begun, { reason: 'ROLLBACK', evidence: proposed(3) });
    await expectAccepted(stack, begun.key, held);
    await stack.expectActive(begun.key, listAt(3, 'a', 'b', 'c', 'd'));
    await stack.expectMended(begun, listAt(4, 'a', 'b', 'c', 'd'));
  });
});
