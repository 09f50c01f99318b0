/** Histories in a few words, for the tests of the oracle. */
import type { Fact, Page, Stamp, Tool, Truth } from './history.js';

export const A: readonly Tool[] = [
  { name: 'reserve', version: 1 },
  { name: 'release', version: 1 },
];
export const B: readonly Tool[] = [
  { name: 'reserve', version: 2 },
  { name: 'release', version: 1 },
];
export const at = (counter: number): Stamp => ({ incarnation: 'i', counter });
export const truth = (tools: readonly Tool[], stamp: Stamp = at(1), identity = 'a'): Truth => ({
  tools,
  stamp,
  identity,
});
export const source = (now: Truth): Fact => ({ fact: 'source', ...now });

/** The pages of a list, one tool each. */
export const pagesOf = ({ tools, stamp, identity }: Truth): readonly Page[] =>
  tools.map((tool, index) => ({
    cursor: index === 0 ? undefined : `c${index}`,
    next: index === tools.length - 1 ? undefined : `c${index + 1}`,
    tools: [tool],
    stamp,
    identity,
  }));
export const begin = (scan: string, attempt = 1): readonly Fact[] => [
  { fact: 'step', scan, step: 'scanPages' },
  { fact: 'claim', scan, segment: 0, attempt },
];
export const read = (scan: string, page: Page, claim = '0.1'): readonly Fact[] => [
  { fact: 'page', scan, claim, page },
  { fact: 'stored', scan, claim, cursor: page.cursor },
];
export const tail = (scan: string, page: Page | undefined): readonly Fact[] => [
  { fact: 'step', scan, step: 'verifyTail' },
  ...(page === undefined ? [] : [{ fact: 'tail', scan, claim: '0.1', page } as const]),
];
const promote = (scan: string, now: Truth): readonly Fact[] => [
  { fact: 'step', scan, step: 'promote' },
  { fact: 'promoted', scan, ...now },
  { fact: 'scanEnd', scan, state: 'ELIGIBLE', reason: 'PROMOTED' },
];
export const refuse = (scan: string, reason: string): Fact => ({
  fact: 'scanEnd',
  scan,
  state: 'INCOMPLETE',
  reason,
});
export const RUN: Fact = { fact: 'runBegin' };

interface Parts {
  readonly pages?: readonly Page[];
  readonly tailPage?: Page | undefined;
  readonly beforeTail?: readonly Fact[];
  readonly beforePromotion?: readonly Fact[];
  readonly accepted?: Truth;
}
/** A scan of a list that never moved, but for what is named. */
export const scanned = (scan: string, now: Truth, parts: Parts = {}): readonly Fact[] => {
  const pages = parts.pages ?? pagesOf(now);
  return [
    ...begin(scan),
    ...pages.flatMap((page) => read(scan, page)),
    ...(parts.beforeTail ?? []),
    ...tail(scan, 'tailPage' in parts ? parts.tailPage : pagesOf(now)[0]),
    ...(parts.beforePromotion ?? []),
    ...promote(scan, parts.accepted ?? now),
  ];
};
export const quiet = (parts: Parts = {}): readonly Fact[] => [
  source(truth(A)),
  RUN,
  ...scanned('s', truth(A), parts),
];
/** A list that was accepted, and then a scan of another. */
export const followed = (first: Truth, second: Truth): readonly Fact[] => [
  source(first),
  RUN,
  ...scanned('s', first),
  RUN,
  source(second),
  ...scanned('t', second),
];

export const [firstOfA, lastOfA] = pagesOf(truth(A)) as [Page, Page];
export const [, lastOfB] = pagesOf(truth(B, at(2))) as [Page, Page];
/** Another candidate of the same list, promoted meanwhile. */
export const rival = scanned('rival1/0', truth(A));
