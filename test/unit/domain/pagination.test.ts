/** The verdict on a scan, rule by rule, and as properties over lists cut into pages at random (D1, D3, V1). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Digest, parseDigest } from '../../../src/domain/ids.js';
import {
  acceptPage,
  emptyScan,
  type PageFacts,
  type PageVerdict,
  type ScanSoFar,
  verifyTailFacts,
} from '../../../src/domain/pagination.js';
import { DEFAULT_SCAN_LIMITS, type ScanLimits } from '../../../src/domain/scanLimits.js';
import type { SourceRevision } from '../../../src/domain/snapshot.js';

const digest = (digit: string): Digest => parseDigest(`sha256:${digit.repeat(64)}`);
const A = digest('a');
const B = digest('b');
const revision = (counter: number, incarnation = 'i'): SourceRevision => ({
  binding: 'SERVER_REVISION',
  value: { incarnation, counter },
});

const page = (tools: readonly string[], more: Partial<PageFacts> = {}): PageFacts => ({
  requestCursor: undefined,
  nextCursor: undefined,
  tools: tools.map((name) => ({ name, descriptor: A })),
  bytes: 100,
  revision: revision(1),
  identity: A,
  ...more,
});

/** Folds pages until the first verdict that is not `continue`. */
const fold = (pages: readonly PageFacts[], limits: Partial<ScanLimits> = {}): PageVerdict => {
  let scan: ScanSoFar = emptyScan();
  let verdict: PageVerdict | undefined;
  for (const next of pages) {
    verdict = acceptPage(scan, next, { ...DEFAULT_SCAN_LIMITS, ...limits });
    if (verdict.kind !== 'continue') return verdict;
    scan = verdict.scan;
  }
  if (verdict === undefined) throw new Error('no page');
  return verdict;
};
const stopOf = (verdict: PageVerdict) => (verdict.kind === 'stop' ? verdict.reason : verdict.kind);

describe('D1 cursors', () => {
  test('D1 only an absent next cursor ends a list', () => {
    expect(fold([page(['a'])]).kind).toBe('complete');
    expect(fold([page(['a'], { nextCursor: 'x' })])).toMatchObject({ kind: 'continue', cursor: 'x' });
  });

  test('D1 the empty string is a cursor, and is followed', () => {
    const verdict = fold([page(['a'], { nextCursor: '' })]);
    expect(verdict).toMatchObject({ kind: 'continue', cursor: '' });
    const end = fold([page(['a'], { nextCursor: '' }), page(['b'], { requestCursor: '' })]);
    expect(end).toMatchObject({ kind: 'complete', scan: { pages: 2 } });
  });

  test('D1 an empty page with a cursor is followed', () => {
    const verdict = fold([
      page([], { nextCursor: 'x' }),
      page([], { requestCursor: 'x', nextCursor: 'y' }),
      page(['a'], { requestCursor: 'y' }),
    ]);
    expect(verdict).toMatchObject({ kind: 'complete', scan: { pages: 3 } });
  });

  test('D1 a page that names its own request cursor is CURSOR_REPEATED, also where it is empty or the same again', () => {
    const first = page(['a'], { nextCursor: 'x' });
    for (const tools of [['b'], ['a'], []]) {
      const verdict = fold([first, page(tools, { requestCursor: 'x', nextCursor: 'x' })]);
      expect(verdict).toMatchObject({ kind: 'stop', reason: 'CURSOR_REPEATED', evidence: { page: 1 } });
    }
  });

  test('D1 a cursor that was followed before is CURSOR_CYCLE', () => {
    const verdict = fold([
      page(['a'], { nextCursor: 'x' }),
      page(['b'], { requestCursor: 'x', nextCursor: 'y' }),
      page(['c'], { requestCursor: 'y', nextCursor: 'x' }),
    ]);
    expect(verdict).toMatchObject({ kind: 'stop', reason: 'CURSOR_CYCLE', evidence: { page: 2 } });
  });

  test('D1 no cursor stands in evidence: it can be a secret of the session', () => {
    const verdict = fold([
      page(['a'], { nextCursor: 'canary-cursor' }),
      page(['b'], { requestCursor: 'canary-cursor', nextCursor: 'canary-cursor' }),
    ]);
    expect(JSON.stringify(verdict)).not.toContain('canary-cursor');
  });

  test('D1 a non-empty page that adds no new name is NO_PROGRESS', () => {
    const verdict = fold([
      page(['a'], { nextCursor: 'x' }),
      page(['a'], { requestCursor: 'x', nextCursor: 'y' }),
    ]);
    expect(verdict).toMatchObject({ kind: 'stop', reason: 'NO_PROGRESS', evidence: { page: 1, tools: 1 } });
    expect(stopOf(fold([page(['a'], { nextCursor: 'x' }), page(['a'], { requestCursor: 'x' })]))).toBe(
      'NO_PROGRESS',
    );
  });

  test('D1 a known tool beside a new one is progress', () => {
    const verdict = fold([page(['a'], { nextCursor: 'x' }), page(['a', 'b'], { requestCursor: 'x' })]);
    expect(verdict).toMatchObject({ kind: 'complete' });
    if (verdict.kind === 'complete') expect([...verdict.scan.seenNames.keys()]).toEqual(['a', 'b']);
  });
});

describe('V1 names', () => {
  const two = (first: Digest, second: Digest): PageFacts =>
    page([], {
      tools: [
        { name: 'a', descriptor: first },
        { name: 'a', descriptor: second },
      ],
    });

  test('V1 one name with two descriptors is DUPLICATE_NAME at once, on one page or across two', () => {
    expect(fold([two(A, B)])).toMatchObject({
      kind: 'stop',
      reason: 'DUPLICATE_NAME',
      evidence: { page: 0, name: 'a', first: A, now: B },
    });
    const across = [
      page(['a'], { nextCursor: 'x' }),
      page([], { requestCursor: 'x', nextCursor: 'x', tools: [{ name: 'a', descriptor: B }] }),
    ];
    expect(stopOf(fold(across))).toBe('DUPLICATE_NAME');
  });

  test('V1 the same name with the same descriptor is one tool', () => {
    const verdict = fold([two(A, A)]);
    expect(verdict.kind === 'complete' && verdict.scan.seenNames.size).toBe(1);
  });

  test('V1 names that are keys of every object are names like others', () => {
    const verdict = fold([page(['__proto__', 'constructor', 'toString'])]);
    expect(verdict.kind === 'complete' && verdict.scan.seenNames.size).toBe(3);
  });

  test('a name of any length makes evidence of bounded size', () => {
    const name = 'n'.repeat(1_000_000);
    const verdict = fold([
      page([], {
        tools: [
          { name, descriptor: A },
          { name, descriptor: B },
        ],
      }),
    ]);
    expect(stopOf(verdict)).toBe('DUPLICATE_NAME');
    expect(JSON.stringify(verdict).length).toBeLessThan(1_000);
  });
});

describe('D3 binding of pages', () => {
  const first = page(['a'], { nextCursor: 'x' });
  const second = (more: Partial<PageFacts>): PageVerdict =>
    fold([first, page(['b'], { requestCursor: 'x', ...more })]);

  test('D3 a revision that moves is REVISION_CHANGED, whichever part of it moves', () => {
    for (const moved of [revision(2), revision(0), revision(1, 'other')]) {
      expect(second({ revision: moved })).toMatchObject({
        kind: 'stop',
        reason: 'REVISION_CHANGED',
        evidence: { page: 1, first: revision(1), now: moved },
      });
    }
    expect(stopOf(second({ revision: { binding: 'SNAPSHOT_TOKEN', value: { token: '1' } } }))).toBe(
      'REVISION_CHANGED',
    );
  });

  test('D3 a revision on some pages only is REVISION_MISSING, whichever has it', () => {
    expect(stopOf(second({ revision: null }))).toBe('REVISION_MISSING');
    const unstamped = page(['a'], { nextCursor: 'x', revision: null });
    expect(stopOf(fold([unstamped, page(['b'], { requestCursor: 'x' })]))).toBe('REVISION_MISSING');
  });

  test('D4 pages without any revision end as a scan without one', () => {
    const verdict = fold([
      page(['a'], { nextCursor: 'x', revision: null }),
      page(['b'], { requestCursor: 'x', revision: null }),
    ]);
    expect(verdict).toMatchObject({ kind: 'complete', scan: { revision: null } });
  });

  test('D8 two pages of two identities are IDENTITY_TORN, before anything else is looked at', () => {
    expect(second({ identity: B, revision: revision(2), nextCursor: 'x' })).toMatchObject({
      kind: 'stop',
      reason: 'IDENTITY_TORN',
      evidence: { page: 1, first: A, now: B },
    });
  });
});

describe('D1 ceilings', () => {
  const endless = (count: number): PageFacts[] =>
    Array.from({ length: count }, (_, n) =>
      page([`t${n}`], { requestCursor: n === 0 ? undefined : `c${n}`, nextCursor: `c${n + 1}` }),
    );

  test('D1 the last page that is allowed may end the list, but not name another one', () => {
    expect(fold(endless(3), { pages: 3 })).toMatchObject({
      kind: 'stop',
      reason: 'PAGE_BUDGET_EXCEEDED',
      evidence: { page: 2, limit: 3 },
    });
    const ends = [...endless(2), page(['end'], { requestCursor: 'c2' })];
    expect(fold(ends, { pages: 3 })).toMatchObject({ kind: 'complete', scan: { pages: 3 } });
  });

  test('D1 bytes of one page and of all pages', () => {
    expect(stopOf(fold([page(['a'], { bytes: 11 })], { pageBytes: 10 }))).toBe('PAGE_TOO_LARGE');
    expect(stopOf(fold([page(['a'], { bytes: 10 })], { pageBytes: 10 }))).toBe('complete');
    expect(fold(endless(3), { scanBytes: 250 })).toMatchObject({
      reason: 'BYTE_BUDGET_EXCEEDED',
      evidence: { page: 2, bytes: 300, limit: 250 },
    });
  });

  test('D1 tools, counted once each', () => {
    expect(fold([page(['a', 'b', 'c'])], { tools: 2 })).toMatchObject({
      reason: 'TOOL_BUDGET_EXCEEDED',
      evidence: { tools: 3, limit: 2 },
    });
    expect(stopOf(fold([page(['a', 'b', 'a'])], { tools: 2 }))).toBe('complete');
  });

  test('the ceilings are those that were promised', () => {
    expect(DEFAULT_SCAN_LIMITS).toEqual({
      pages: 1_000,
      tools: 20_000,
      pageBytes: 16_777_216,
      scanBytes: 268_435_456,
      pageTime: 30_000,
      scanTime: 600_000,
    });
  });
});

describe('D3 the tail', () => {
  const scan = { revision: revision(7), identity: A };
  test('D3 only the very revision of the pages binds them', () => {
    expect(verifyTailFacts(scan, { revision: revision(7), identity: A })).toEqual({
      kind: 'bound',
      revision: revision(7),
    });
    expect(verifyTailFacts(scan, { revision: revision(8), identity: A })).toMatchObject({
      reason: 'REVISION_CHANGED',
      evidence: { at: 'tail' },
    });
    expect(verifyTailFacts(scan, { revision: revision(7, 'j'), identity: A })).toMatchObject({
      reason: 'REVISION_CHANGED',
    });
  });

  test('D3 a tail without a revision, or pages without one, prove nothing', () => {
    expect(verifyTailFacts(scan, { revision: null, identity: A })).toMatchObject({
      reason: 'REVISION_MISSING',
    });
    expect(
      verifyTailFacts({ ...scan, revision: null }, { revision: revision(7), identity: A }),
    ).toMatchObject({ reason: 'REVISION_MISSING' });
    expect(verifyTailFacts({ ...scan, revision: null }, { revision: null, identity: A })).toMatchObject({
      reason: 'REVISION_MISSING',
    });
  });

  test('D8 a tail of another identity is IDENTITY_TORN, whatever its revision', () => {
    expect(verifyTailFacts(scan, { revision: revision(7), identity: B })).toMatchObject({
      reason: 'IDENTITY_TORN',
    });
  });
});

describe('D1 properties', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 40 });
  const cuts = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 60 });

  /** The list in pages of the given sizes, empty ones too; what is left comes last. */
  const cut = (list: readonly string[], sizes: readonly number[]): PageFacts[] => {
    const parts: string[][] = [];
    let at = 0;
    for (const size of sizes) {
      parts.push(list.slice(at, at + size));
      at += size;
    }
    parts.push(list.slice(at));
    return parts.map((tools, n) =>
      page(tools, {
        requestCursor: n === 0 ? undefined : `c${n}`,
        nextCursor: n === parts.length - 1 ? undefined : `c${n + 1}`,
      }),
    );
  };

  test('D1 any partition of a list into pages gives the same set of tools', () => {
    fc.assert(
      fc.property(names, cuts, (list, sizes) => {
        const verdict = fold(cut(list, sizes));
        expect(verdict.kind).toBe('complete');
        if (verdict.kind === 'complete') expect([...verdict.scan.seenNames.keys()]).toEqual(list);
      }),
    );
  });

  test('D3 no scan completes with one page of another revision anywhere in it', () => {
    fc.assert(
      fc.property(names, cuts, fc.nat(), (list, sizes, pick) => {
        const pages = cut(list, sizes);
        const torn = pick % pages.length;
        const mixed = pages.map((one, n) => (n === torn ? { ...one, revision: revision(2) } : one));
        expect(stopOf(fold(mixed))).toBe(pages.length === 1 ? 'complete' : 'REVISION_CHANGED');
      }),
    );
  });

  test('D1 a chain whose cursors come from a finite set always comes to an end', () => {
    const chain = fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 4, maxLength: 12 });
    fc.assert(
      fc.property(chain, (cursors) => {
        const pages = cursors.map((next, n) =>
          page([`t${n}`], { requestCursor: n === 0 ? undefined : cursors[n - 1], nextCursor: next }),
        );
        expect(stopOf(fold(pages))).toMatch(/^CURSOR_(REPEATED|CYCLE)$/);
      }),
    );
  });
});
