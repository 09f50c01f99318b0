/** F: the counts that must be 0 at discovery, asked of the database after every fault of a list at once. */
import { expect, test } from 'vitest';
import type { CatalogBend, ScriptedList } from '../fixtures/catalogScript.js';
import { at, tool } from '../integration/discovery/bentLists.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';
import { soundnessFaults } from './soundness.js';

const stack = useFaults();

const each = (bend: CatalogBend): CatalogBend => ({ ...bend, visit: 'each' });
/** What no scan may make a generation of. Every tool of these lists says `as of 8`. */
const REFUSED: readonly (readonly [what: string, list: ScriptedList, ...bends: CatalogBend[]])[] = [
  ['repeated cursor', NEXT, each({ page: 2, next: 2 })],
  ['cursor cycle', NEXT, each({ page: 3, next: 1 })],
  ['no progress', listAt(8, 'a', 'b', 'b', 'c')],
  ['split name', { ...NEXT, pages: [...NEXT.pages, [tool('a_0', { description: 'as of 8, twice' })]] }],
  ['torn revision', NEXT, each({ page: 2, stamp: { revision: at(9) } })],
  ['missing revision', NEXT, each({ page: 2, stamp: {} })],
  ['no revision', { pages: NEXT.pages }],
  ['tail without a revision', NEXT, { page: 0, visit: 1, stamp: {} }],
  ['401', NEXT, each({ page: 3, status: 401 })],
  ['cut', NEXT, each({ page: 3, cut: 50 })],
  ['refused cursor', NEXT, each({ page: 2, error: { code: -32_602, message: 'no' } })],
  ['shrunk', listAt(8, 'a')],
  ['rollback', { ...NEXT, revision: at(6) }],
  ['equivocation', { ...NEXT, revision: at(7) }],
  ['fast-forward', { ...NEXT, revision: at(5_000_000_000) }],
  ['new incarnation', { ...NEXT, revision: at(8, 'anew') }],
];

test('F partial page sets admitted 0, unversioned tools eligible 0, after every fault at once', async () => {
  const all = await Promise.all(
    REFUSED.map(async ([what, list, ...bends]) => {
      const begun = await stack.begin(await stack.scripted());
      await begun.catalog.order({ list, bends });
      const { state, reason } = await stack.discover(begun.key);
      await stack.expectUntouched(begun);
      return { what, state, reason, begun };
    }),
  );
  for (const { what, state, reason } of all) {
    expect(['INCOMPLETE', 'QUARANTINED', 'UNVERSIONED_OBSERVATION'], `${what}: ${reason}`).toContain(state);
  }
  const { rows: counts } = await stack.admin.query(`
    select
      (select count(*)::int from genlock.scan where state = 'ELIGIBLE') as eligible,
      (select count(*)::int from genlock.generation) as generations,
      (select count(*)::int from genlock.generation g join genlock.scan s on s.tenant = g.tenant and s.id = g.scan
        where s.state <> 'ELIGIBLE' or s.revision is null or s.page_root is null) as unproven,
      (select count(*)::int from genlock.active_pointer a join genlock.candidate_tool c
        on c.tenant = a.tenant and c.scan = a.scan join genlock.descriptor d
        on d.tenant = c.tenant and d.raw_digest = c.raw_digest where d.source like '%as of 8%') as served_of_faults`);
  const count = REFUSED.length;
  expect(counts).toEqual([{ eligible: count, generations: count, unproven: 0, served_of_faults: 0 }]);
  expect(await soundnessFaults(stack)).toEqual([]);
});

test('V2 F unknown dialects accepted 0: no tool in one is callable, whatever it is called', async () => {
  const foreign = [
    'https://json-schema.org/draft/2019-09/schema',
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-04/schema#',
    'https://json-schema.org/draft/2020-12/Schema',
    'https://example.org/dialects/own',
    '',
  ].map((dialect, n) => tool(`foreign_${n}`, { inputSchema: { $schema: dialect, type: 'object' } }));
  const begun = await stack.begin(await stack.scripted());
  const list = { pages: [...NEXT.pages, foreign], revision: at(8) };
  await begun.catalog.mend(list);
  expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
  const { served } = await stack.standing(begun.key);
  const callable = served?.page.filter(({ verdict }) => verdict.status === 'OK').map(({ name }) => name);
  expect(callable).toEqual(NEXT.pages.flat().map((one) => (one as { name: string }).name));
  expect(await soundnessFaults(stack, begun.key.server)).toEqual([]);
});

test('the count itself tells: a page that is gone, swapped or of another revision is seen', async () => {
  const harm = async (sql: string): Promise<readonly string[]> => {
    const { key, before } = await stack.begin(await stack.scripted(FIRST));
    await stack.admin.query(sql, [before.generations[0]?.scan]);
    const faults = await soundnessFaults(stack, key.server);
    return faults.map((fault) => fault.replace(/^\S+ 1: /, ''));
  };
  expect(await harm('delete from genlock.page where scan = $1 and n = 1')).toEqual(
    expect.arrayContaining(['a chain of pages with a gap', 'a page root that its pages do not give']),
  );
  expect(
    await harm(
      `update genlock.page set revision = jsonb_set(revision, '{value,counter}', '8') where scan = $1 and n = 2`,
    ),
  ).toEqual(['pages of two revisions']);
  // Last: the bytes are those of every list of the same pages.
  expect(
    await harm(`update genlock.page_text t set raw = other.raw
      from genlock.page p, genlock.page q, genlock.page_text other
      where p.scan = $1 and q.scan = $1 and p.n = 1 and q.n = 0
        and t.raw_digest = p.raw_digest and other.raw_digest = q.raw_digest`),
  ).toEqual(
    expect.arrayContaining(['bytes that are not those of their digest', 'other tools than its pages']),
  );
});

test('the count itself tells of a renewal whose pages are not whole, though those of its generation are', async () => {
  const { key } = await stack.begin(await stack.scripted(listAt(7, 'r', 's', 't')));
  const renewal = await stack.discover(key);
  expect(renewal).toMatchObject({ reason: 'UNCHANGED', generation: 1 });
  expect(await soundnessFaults(stack, key.server)).toEqual([]);
  await stack.admin.query('delete from genlock.page where scan = $1 and n = 1', [renewal.scan]);
  expect(await soundnessFaults(stack, key.server)).toEqual([
    `${key.server} 1: a chain of pages with a gap`,
    `${key.server} 1: a page root that its pages do not give`,
    `${key.server} 1: other tools than its pages`,
    ...['s_0', 's_1'].map((name) => `${key.server} 1: another ${name} than on its page`),
  ]);
});
