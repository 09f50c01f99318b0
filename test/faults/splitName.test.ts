/** F: one tool name, two schemas. */
import { expect, test } from 'vitest';
import { at, tool } from '../integration/discovery/bentLists.js';
import { FIRST, useFaults } from './expectations.js';

const stack = useFaults();

const reserve = (type: 'string' | 'integer', more: object = {}) =>
  tool('reserve', { inputSchema: { type: 'object', properties: { count: { type } } }, ...more });

test.each<[what: string, page: number, pages: readonly (readonly object[])[]]>([
  ['on two pages', 2, [[reserve('integer')], [tool('other')], [reserve('string')]]],
  ['on one page', 1, [[tool('other')], [reserve('integer'), reserve('string')]]],
  ['beside new tools', 1, [[reserve('integer')], [tool('other'), reserve('string')]]],
  ['apart in text only', 1, [[reserve('integer')], [reserve('integer', { description: 'another' })]]],
])('V1 %s is an anomaly of the server, and no tool of the list is chosen', async (_, page, pages) => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.mend({ pages: [...FIRST.pages.slice(0, 3), ...pages], revision: at(8) });
  const outcome = await stack.expectFault(begun, {
    reason: 'DUPLICATE_NAME',
    evidence: { page: page + 3, name: 'reserve' },
  });
  const { first, now } = outcome.evidence as { first: string; now: string };
  expect(first).not.toBe(now);
  await stack.expectMended(begun);
});

test('V1 over stdio as over HTTP', async () => {
  const begun = await stack.begin(await stack.stdio());
  await begun.catalog.mend({ pages: [[reserve('integer')], [reserve('string')]], revision: at(8) });
  await stack.expectFault(begun, { reason: 'DUPLICATE_NAME', evidence: { page: 1, name: 'reserve' } });
  await stack.expectMended(begun);
});

test('V1 the very same descriptor on two pages is one tool', async () => {
  const begun = await stack.begin(await stack.scripted());
  const pages = [
    [...(FIRST.pages[0] ?? []), reserve('integer')],
    [reserve('integer'), tool('other')],
  ];
  await begun.catalog.mend({ pages: [...pages, ...FIRST.pages.slice(1)], revision: at(8) });
  expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2, tools: 8 });
});
