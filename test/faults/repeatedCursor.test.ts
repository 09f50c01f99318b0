/** F: a server whose cursor does not move. */
import { describe, expect, test } from 'vitest';
import { at, tools } from '../integration/discovery/bentLists.js';
import { listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();

describe.each(['http', 'stdio'] as const)('D1 a repeated cursor over %s', (transport) => {
  const start = () => (transport === 'http' ? stack.scripted() : stack.stdio());

  test('ends the scan as soon as it is named, and is never asked with again', async () => {
    const begun = await stack.begin(await start());
    const asked = (await begun.catalog.served()).length;
    await begun.catalog.mend(NEXT);
    const fault = { reason: 'CURSOR_REPEATED', evidence: { page: 1 } } as const;
    await stack.expectFault(begun, fault, { page: 1, next: 1, visit: 'each' });
    const requests = (await begun.catalog.served()).slice(asked);
    expect(requests.map(({ page }) => page)).toEqual([0, 1]);
    await stack.expectMended(begun);
  });
});

test('D1 one constant cursor for every page is a repeated one: never a short list, and never a long one', async () => {
  // Read generously, 2026-07-28 lets a server hand out one handle for all pages; D1 does not.
  const pages = [tools(1, 'a'), tools(1, 'b'), tools(1, 'c')];
  let request = 0;
  const server = await stack.bent({
    list: (bent) => {
      const page = pages[request++ % 3];
      bent.result({
        tools: page,
        ...(page === pages[2] ? {} : { nextCursor: 'h' }),
        _meta: { 'dev.genlock/catalogRevision': at(7) },
      });
    },
  });
  const begun = await stack.begin(await stack.scripted());
  await stack.register(begun.key, server.url);
  expect(await stack.discover(begun.key)).toMatchObject({
    state: 'INCOMPLETE',
    reason: 'CURSOR_REPEATED',
    evidence: { page: 1 },
  });
  expect(request).toBe(2);
  expect((await stack.standing(begun.key)).generations).toEqual(begun.before.generations);
});

test('D1 a list that gives the same page again under its own cursor lists no tool twice', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.mend(listAt(8, 'a', 'a'));
  // The cursor is named before its content is looked at: it is the cause.
  const fault = { reason: 'CURSOR_REPEATED', evidence: { page: 1 } } as const;
  await stack.expectFault(begun, fault, { page: 1, next: 1, visit: 'each' });
  await stack.expectMended(begun);
});
