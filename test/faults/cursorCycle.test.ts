/** F: a server whose cursors lead back, or that gives the same page under cursors that are always new. */
import { describe, expect, test } from 'vitest';
import { listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();

describe.each(['http', 'stdio'] as const)('D1 a cursor cycle over %s', (transport) => {
  const start = () => (transport === 'http' ? stack.scripted() : stack.stdio());

  test('ends the scan with the page that closes the circle', async () => {
    const begun = await stack.begin(await start());
    await begun.catalog.mend(NEXT);
    const asked = (await begun.catalog.served()).length;
    const fault = { reason: 'CURSOR_CYCLE', evidence: { page: 3 } } as const;
    await stack.expectFault(begun, fault, { page: 3, next: 1, visit: 'each' });
    const requests = (await begun.catalog.served()).slice(asked);
    expect(requests.map(({ page }) => page)).toEqual([0, 1, 2, 3]);
    await stack.expectMended(begun);
  });
});

test('D1 a server that answers each cursor with its first page, and a new cursor, makes no progress', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.mend(listAt(8, 'a', 'a', 'a'));
  const asked = (await begun.catalog.served()).length;
  await stack.expectFault(begun, { reason: 'NO_PROGRESS', evidence: { page: 1, tools: 2 } });
  expect((await begun.catalog.served()).length - asked).toBe(2);
  await stack.expectMended(begun);
});

test('D1 a list that never ends stops at the limit on pages', async () => {
  const begun = await stack.begin(await stack.scripted(), { limits: { pages: 10 } });
  const prefixes = Array.from({ length: 11 }, (_, n) => `p${n}`);
  await begun.catalog.mend(listAt(8, ...prefixes));
  await stack.expectFault(begun, { reason: 'PAGE_BUDGET_EXCEEDED', evidence: { page: 9, limit: 10 } });
  await stack.expectMended(begun);
});
