/** Guards of pages, tail and resumption, one less each. */
import type { SourceRevision } from '../../src/domain/snapshot.js';
import { CORE } from './core.js';
import { accepting, type Mutant } from './mutant.js';

const tokenOf = (revision: SourceRevision | null): string => JSON.stringify(revision);

export const SCAN_MUTANTS: readonly Mutant[] = [
  accepting('revision compared across pages', ['aba', 'abaStamp'], (scan, page, limits) =>
    CORE.acceptPage(
      scan,
      scan.revision === null || page.revision === null ? page : { ...page, revision: scan.revision },
      limits,
    ),
  ),
  accepting('revision missing on one page', ['unstamped'], (scan, page, limits) =>
    CORE.acceptPage(
      scan,
      scan.pages > 0 && page.revision === null ? { ...page, revision: scan.revision } : page,
      limits,
    ),
  ),
  accepting('identity across pages', ['identityReturned', 'identity'], (scan, page, limits) =>
    CORE.acceptPage(scan, scan.identity === null ? page : { ...page, identity: scan.identity }, limits),
  ),
  accepting('two descriptors of one name', ['doubles'], (scan, page, limits) => {
    const seen = new Map(scan.seenNames);
    const tools = page.tools.filter(({ name }) => !seen.has(name) && seen.set(name, page.identity));
    return CORE.acceptPage(scan, { ...page, tools }, limits);
  }),
  accepting('cursor cycle', ['cycles'], (scan, page, limits) =>
    CORE.acceptPage({ ...scan, seenCursors: new Set() }, page, limits),
  ),
  accepting('cursor repeated', ['repeats'], (scan, page, limits) =>
    CORE.acceptPage({ ...scan, seenCursors: new Set() }, { ...page, requestCursor: undefined }, limits),
  ),
  accepting('no progress', ['stands'], (scan, page, limits) => {
    const known = page.tools.every(({ name }) => scan.seenNames.has(name));
    return CORE.acceptPage(scan, known ? { ...page, tools: [] } : page, limits);
  }),
  accepting('an empty page with a cursor is followed', ['gaps'], (scan, page, limits) =>
    CORE.acceptPage(scan, page.tools.length === 0 ? { ...page, nextCursor: undefined } : page, limits),
  ),
  {
    name: 'tail revision',
    kinds: ['hintLost', 'change'],
    core: {
      ...CORE,
      verifyTailFacts: (scan, tail) =>
        CORE.verifyTailFacts(scan, { ...tail, revision: tail.revision && scan.revision }),
    },
  },
  {
    name: 'tail identity',
    kinds: ['identity', 'identityReturned'],
    core: {
      ...CORE,
      verifyTailFacts: (scan, tail) => CORE.verifyTailFacts(scan, { ...tail, identity: scan.identity }),
    },
  },
  {
    name: 'tail without a revision',
    kinds: ['unstamped'],
    core: {
      ...CORE,
      verifyTailFacts: (scan, tail) =>
        CORE.verifyTailFacts(scan, { ...tail, revision: tail.revision ?? scan.revision }),
    },
  },
  {
    name: 'a source without a revision',
    kinds: ['hintSpurious', 'change'],
    core: {
      ...CORE,
      acceptPage: (scan, page, limits) =>
        CORE.acceptPage(
          scan,
          { ...page, revision: page.revision ?? { binding: 'SNAPSHOT_TOKEN', value: { token: '' } } },
          limits,
        ),
      verifyTailFacts: (scan) => ({
        kind: 'bound',
        revision: scan.revision ?? { binding: 'SNAPSHOT_TOKEN', value: { token: '' } },
      }),
    },
  },
  {
    name: 'resume from the last stored page',
    kinds: ['crash', 'crashes'],
    core: { ...CORE, resumeScan: (_, limits) => CORE.resumeScan([], limits) },
  },
  {
    name: 'a round begun again discards its pages',
    kinds: ['hintLost', 'unstable'],
    core: { ...CORE, pagesOf: (_, before) => before },
  },
  {
    name: 'equal revisions are equal',
    kinds: ['hintSpurious'],
    core: {
      ...CORE,
      verifyTailFacts: (scan, tail) =>
        tokenOf(scan.revision) === tokenOf(tail.revision) && tail.revision !== null
          ? { kind: 'stop', reason: 'REVISION_CHANGED', evidence: {} }
          : CORE.verifyTailFacts(scan, tail),
    },
  },
];
