/** D1: lists that do not end as a client expects: cut short by nobody, gone round for ever by nobody. */
import { describe, expect, test } from 'vitest';
import { pageRoot } from '../../../src/proof/pageChain.js';
import type { Bend } from '../../fixtures/bendableMcp.js';
import { at, tool, tools } from './bentLists.js';
import { ownKey, type Registered, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

interface Answer {
  readonly tools: readonly object[];
  readonly nextCursor?: string | null;
}

/** Answers in turn, whatever is asked for; the list of cursors that came, undefined for a request without one. */
const inTurn = (...answers: readonly Answer[]) => {
  const cursors: (string | undefined)[] = [];
  const list: Bend = (b) => {
    const answer = answers[Math.min(cursors.length, answers.length - 1)];
    cursors.push(b.cursor);
    b.result({ ...answer, _meta: { 'dev.genlock/catalogRevision': at(1) } });
  };
  return { list, cursors };
};
const discover = async (list: Bend, more: Registered = {}) => {
  const server = await stack.bent({ list });
  const key = ownKey();
  await stack.register(key, server.url, more);
  const outcome = await stack.discover(key);
  const shown = await stack.operator.readDiscovery(key.tenant, outcome.scan);
  if (shown === null) throw new Error('the scan is not there');
  return { key, outcome, shown };
};
const twoTools = [tool('graph_a'), tool('graph_b')];

describe('D1 lists that go round', () => {
  test.concurrent.each<[string, readonly Answer[], string, readonly (string | undefined)[], number]>([
    [
      'the same page under the same cursor',
      [{ tools: twoTools, nextCursor: '8' }],
      'CURSOR_REPEATED',
      [undefined, '8'],
      2,
    ],
    [
      // Read loosely, a server may hand out one cursor for every page; here a repeated one ends the scan, and not as whole (D1).
      'other pages under one cursor',
      [
        { tools: [tool('a')], nextCursor: 'h' },
        { tools: [tool('b')], nextCursor: 'h' },
        { tools: [tool('c')] },
      ],
      'CURSOR_REPEATED',
      [undefined, 'h'],
      1,
    ],
    [
      'the first page for any cursor, each time with a new one',
      [
        { tools: twoTools, nextCursor: 'x1' },
        { tools: twoTools, nextCursor: 'x2' },
        { tools: twoTools, nextCursor: 'x3' },
      ],
      'NO_PROGRESS',
      [undefined, 'x1'],
      2,
    ],
  ])('D1 %s: INCOMPLETE at once, and each page stands once', async (_, answers, reason, asked, seen) => {
    const { list, cursors } = inTurn(...answers);
    const { key, outcome, shown } = await discover(list);
    expect(outcome).toMatchObject({ state: 'INCOMPLETE', reason, evidence: { page: 1, pages: 1 } });
    expect(cursors).toEqual(asked);
    expect(await stack.store.active(key)).toBeNull();
    // The page that was accepted stands in the chain, the one that was not as its digests in the evidence.
    expect(shown.pageChain).toHaveLength(1);
    expect(shown.tools).toBe(answers[0]?.tools.length);
    expect(outcome.evidence['refused']).toMatchObject({
      result: expect.stringMatching(/^sha256:/),
      raw: expect.stringMatching(/^sha256:/),
      tools: seen,
    });
    expect((outcome.evidence['refused'] as { raw: string }).raw).not.toBe(shown.pageChain[0]?.raw);
  });

  test.concurrent('D1 empty pages with a new cursor each, without end: PAGE_BUDGET_EXCEEDED', async () => {
    const { outcome } = await discover(
      (b) =>
        b.result({ tools: [], nextCursor: `c${b.before}`, _meta: { 'dev.genlock/catalogRevision': at(1) } }),
      { limits: { pages: 40 } },
    );
    expect(outcome).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'PAGE_BUDGET_EXCEEDED',
      evidence: { limit: 40, page: 39, pages: 39 },
    });
  });
});

describe('D1 lists that end in an unusual way', () => {
  test.concurrent('D1 the empty string is a cursor: it is sent as such, and followed', async () => {
    const bodies: string[] = [];
    const { list, cursors } = inTurn({ tools: [tool('first')], nextCursor: '' }, { tools: [tool('second')] });
    // The third request is the tail, which asks for the first page again.
    const server = await stack.bent({
      list: (b) => {
        bodies.push(b.body);
        return list(b);
      },
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', pages: 2, tools: 2 });
    expect(cursors).toEqual([undefined, '', undefined]);
    expect(bodies[1]).toContain('"cursor":""');
    expect(bodies[0]).not.toContain('cursor');
  });

  test.concurrent('D1 null ends the list as absence does, and stands in the evidence', async () => {
    const { list } = inTurn({ tools: [tool('scan_host')], nextCursor: null });
    const { outcome, shown } = await discover(list);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', pages: 1, tools: 1 });
    expect(shown.pageChain).toMatchObject([{ nextCursor: 'END', nullCursor: true, last: true }]);
  });

  test.concurrent('D1 an empty last page without a cursor ends the list', async () => {
    const { list } = inTurn({ tools: tools(2), nextCursor: 'o2' }, { tools: [] });
    const { outcome, shown } = await discover((b) => (b.before === 2 ? b.result(tailOf(2)) : list(b)));
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', pages: 2, tools: 2 });
    expect(shown.pageChain.map((page) => [page.tools, page.last, page.nullCursor])).toEqual([
      [2, false, false],
      [0, true, false],
    ]);
  });

  test.concurrent('D1 tools that the capabilities do not announce are found, and the evidence says that they were not', async () => {
    const server = await stack.bent({
      initialize: (b) =>
        b.result({
          protocolVersion: '2025-11-25',
          capabilities: { logging: {} },
          serverInfo: { name: 'x', version: '0' },
        }),
      list: inTurn({ tools: tools(1) }).list,
    });
    const key = ownKey();
    await stack.register(key, server.url);
    const outcome = await stack.discover(key);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', tools: 1 });
    expect(await stack.operator.readDiscovery(key.tenant, outcome.scan)).toMatchObject({
      sourceEvidence: { announcesTools: false },
    });
  });
});
const tailOf = (count: number) => ({
  tools: tools(count),
  nextCursor: 'o2',
  _meta: { 'dev.genlock/catalogRevision': at(1) },
});

test('D1 D3 S5 an operator can see how it is known that this was everything', async () => {
  const { list } = inTurn(
    { tools: tools(30), nextCursor: 'p2' },
    { tools: tools(20, 'more'), nextCursor: 'p3' },
    { tools: tools(5, 'last') },
    { tools: tools(30), nextCursor: 'p2' },
  );
  const { outcome, shown } = await discover(list);
  expect(outcome).toMatchObject({ state: 'ELIGIBLE', pages: 3, tools: 55 });
  // How many pages of how many tools, each by its digest; that they are a chain, and that it ended.
  expect(shown.pageChain.map((page) => [page.index, page.tools])).toEqual([
    [0, 30],
    [1, 20],
    [2, 5],
  ]);
  expect(shown.pageChain[0]?.requestCursor).toBe('START');
  for (const n of [0, 1]) expect(shown.pageChain[n]?.nextCursor).toBe(shown.pageChain[n + 1]?.requestCursor);
  expect(shown.pageChain[2]).toMatchObject({ nextCursor: 'END', nullCursor: false, last: true });
  // What the chain shows gives the root that was signed with the promotion.
  expect(pageRoot(shown.pageChain)).toBe(shown.pageRoot);
  // Who was asked, how, when, and when the source said that it still had this revision.
  expect(shown).toMatchObject({
    protocol: 'mcp-2025-11-25',
    revision: { binding: 'SERVER_REVISION', value: at(1) },
    sourceEvidence: { protocolVersion: '2025-11-25', sessionScoped: false, announcesTools: true },
  });
  const times = [
    shown.startedAt,
    ...shown.pageChain.map(({ fetchedAt }) => fetchedAt),
    shown.tailAt,
    shown.endedAt,
  ];
  expect(times).toEqual(times.toSorted());
  expect(times).not.toContain(null);
});
