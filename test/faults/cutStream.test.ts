/** F: an answer that is cut in mid-body: JSON with a length, an event stream, or a line of a process that dies. */
import { describe, expect, test } from 'vitest';
import type { EndReason } from '../../src/domain/endReasons.js';
import { FIRST, NEXT, useFaults } from './expectations.js';

const stack = useFaults();

const WAYS: readonly (readonly [
  what: string,
  reason: EndReason,
  page: number,
  start: () => ReturnType<typeof stack.scripted>,
])[] = [
  ['JSON', 'UPSTREAM_ERROR', 2, () => stack.scripted()],
  ['an event stream', 'UPSTREAM_ERROR', 2, () => stack.scripted(FIRST, { stream: true })],
];

describe.each(WAYS)('D1 %s that is cut', (_, reason, page, start) => {
  test('D1 once is asked for again with the same cursor, within the scan', async () => {
    const begun = await stack.begin(await start());
    await begun.catalog.mend(NEXT);
    const asked = (await begun.catalog.served()).length;
    await begun.catalog.bend({ page, cut: 60 });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect(await stack.roundsOf(begun.key)).toHaveLength(1);
    await stack.expectActive(begun.key, NEXT);
    const requests = (await begun.catalog.served()).slice(asked);
    expect(requests.map((one) => one.page)).toEqual([0, 1, 2, 2, 3, 0]);
    expect(requests[2]?.cursor).toBe(requests[3]?.cursor);
  });

  test('D1 each time ends the scan', async () => {
    const begun = await stack.begin(await start());
    await begun.catalog.mend(NEXT);
    await stack.expectFault(begun, { reason, evidence: { page } }, { page, cut: 60, visit: 'each' });
    await stack.expectMended(begun);
  });
});

test('D1 D6 a process that dies in mid-line takes its cursors along: the list is read anew, five times at most', async () => {
  const begun = await stack.begin(await stack.stdio());
  await begun.catalog.mend(NEXT);
  const evidence = { page: 2, fault: 'PROCESS_FAILED', exitCode: 9 };
  await stack.expectFault(begun, { reason: 'SESSION_LOST', evidence }, { page: 2, cut: 60, visit: 'each' });
  expect(await stack.roundsOf(begun.key)).toHaveLength(5);
  await stack.expectMended(begun);
});
