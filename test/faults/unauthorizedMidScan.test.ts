/** F: 401 in mid-scan: the credential ends, or is withdrawn, between two pages. */
import { describe, expect, test } from 'vitest';
import { NEXT, useFaults } from './expectations.js';

const stack = useFaults();

describe.each([401, 403])('S6 a source that answers %i', (status) => {
  test('S6 in mid-scan: what was read of it until then is no list, and the page is not asked for again', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.mend(NEXT);
    const asked = (await begun.catalog.served()).length;
    const fault = { reason: 'AUTH_REFUSED', evidence: { page: 2, status, method: 'tools/list' } } as const;
    await stack.expectFault(begun, fault, { page: 2, status });
    expect((await begun.catalog.served()).slice(asked).map(({ page }) => page)).toEqual([0, 1, 2]);
    await stack.expectMended(begun);
  });

  test('S6 to the tail: the pages are whole, and bound to nothing', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.mend(NEXT);
    const fault = { reason: 'TAIL_UNVERIFIED', evidence: { fault: 'AUTH_REFUSED', status } } as const;
    await stack.expectFault(begun, fault, { page: 0, visit: 1, status });
    await stack.expectMended(begun);
  });
});

test('S6 a JSON-RPC error in mid-scan leaves the pages before it as little of a list', async () => {
  const begun = await stack.begin(await stack.stdio());
  await begun.catalog.mend(NEXT);
  const error = { code: -32_603, message: 'backend down' };
  const fault = { reason: 'UPSTREAM_ERROR', evidence: { page: 1, ...error } } as const;
  await stack.expectFault(begun, fault, { page: 1, error });
  await stack.expectMended(begun);
});
