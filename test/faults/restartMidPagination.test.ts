/** W1: the process restarts half-way through a paginated listing, and honours none of the cursors it gave out. */
import { describe, expect, test } from 'vitest';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();

describe('W1 a server that restarts in mid-pagination', () => {
  test('W1 D6 and refuses its cursors is read again from its first page: no page of before is carried on', async () => {
    const begun = await stack.begin(await stack.scripted());
    const asked = (await begun.catalog.served()).length;
    // It comes back with another list: pages of before and after must not meet.
    await begun.catalog.order({
      list: listAt(8),
      cursors: 'of-instance',
      bends: [{ page: 1, restart: true, change: NEXT }],
    });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2, pages: 4 });
    expect(await stack.roundsOf(begun.key)).toEqual([
      [0, 'CURSOR_EXPIRED'],
      [1, 'PROMOTED'],
    ]);
    await stack.expectActive(begun.key, NEXT);
    const requests = (await begun.catalog.served()).slice(asked);
    expect(requests.map(({ page }) => page)).toEqual([0, 1, null, 0, 1, 2, 3, 0]);
    // Each cursor that was asked with after the restart is one of the instance that answered.
    const after = requests.slice(3).filter(({ cursor }) => cursor !== null);
    expect(after.every(({ cursor, instance }) => cursor?.startsWith(`${instance}.`))).toBe(true);
  });

  test('W1 D6 and restarts in each scan is given up, with what served as it was', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.order({ list: NEXT, cursors: 'of-instance' });
    const fault = { reason: 'CURSOR_EXPIRED', evidence: { page: 2, code: -32_602 } } as const;
    await stack.expectFault(begun, fault, { page: 1, restart: true, visit: 'each' });
    expect(await stack.roundsOf(begun.key)).toHaveLength(2);
    await stack.expectMended(begun);
  });

  test('W1 D6 and loses its session is read again in a new one', async () => {
    const begun = await stack.begin(await stack.scripted(FIRST, { sessions: true }));
    await begun.catalog.order({ list: NEXT, bends: [{ page: 1, restart: true }] });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect(await stack.roundsOf(begun.key)).toEqual([
      [0, 'SESSION_LOST'],
      [1, 'PROMOTED'],
    ]);
    await stack.expectActive(begun.key, NEXT);
  });

  test('W1 D6 and loses its session in each scan is given up after five rounds', async () => {
    const begun = await stack.begin(await stack.scripted(FIRST, { sessions: true }));
    await begun.catalog.mend(NEXT);
    const fault = { reason: 'SESSION_LOST', evidence: { page: 2, status: 404 } } as const;
    await stack.expectFault(begun, fault, { page: 1, restart: true, visit: 'each' });
    expect(await stack.roundsOf(begun.key)).toHaveLength(5);
    await stack.expectMended(begun);
  });

  test('W1 D6 a stdio process that ends in mid-list is started again, and its list read from the first page', async () => {
    const begun = await stack.begin(await stack.stdio());
    const asked = (await begun.catalog.served()).length;
    await begun.catalog.order({
      list: listAt(8),
      cursors: 'of-instance',
      bends: [{ page: 1, restart: true, change: NEXT }],
    });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2, pages: 4 });
    expect(await stack.roundsOf(begun.key)).toEqual([
      [0, 'SESSION_LOST'],
      [1, 'PROMOTED'],
    ]);
    await stack.expectActive(begun.key, NEXT);
    const requests = (await begun.catalog.served()).slice(asked);
    // No process is asked with a cursor of another.
    expect(requests.map(({ page }) => page)).toEqual([0, 1, 0, 1, 2, 3, 0]);
  });
});
