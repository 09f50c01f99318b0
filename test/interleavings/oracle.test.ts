/** The oracle is judged first: it must call right what is right, and wrong what is wrong. */
import { describe, expect, test } from 'vitest';
import {
  A,
  at,
  B,
  begin,
  firstOfA,
  followed,
  lastOfA,
  lastOfB,
  pagesOf,
  quiet,
  RUN,
  read,
  refuse,
  rival,
  scanned,
  source,
  tail,
  truth,
} from './histories.js';
import type { Fact, Page } from './history.js';
import { judge } from './oracle.js';

test('D3 a quiet scan that was accepted is right', () => {
  expect(
    judge([...quiet(), { fact: 'runEnd', scan: 's', reason: 'PROMOTED' }, { fact: 'serving', tools: A }]),
  ).toEqual([]);
});

test('D3 a quiet scan that was refused is wrong', () => {
  const facts = [
    source(truth(A)),
    RUN,
    ...begin('s'),
    ...read('s', pagesOf(truth(A))[0] as Page),
    refuse('s', 'REVISION_CHANGED'),
  ];
  expect(judge(facts)).toEqual(['s: REVISION_CHANGED without a cause: this scan had to be accepted']);
});

test('D3 a scan under which the list moved is rightly refused', () => {
  const facts = [
    source(truth(A)),
    RUN,
    ...begin('s'),
    source(truth(B, at(2))),
    refuse('s', 'REVISION_CHANGED'),
  ];
  expect(judge(facts)).toEqual([]);
});

describe('what was accepted is wrong where', () => {
  test.each<[string, readonly Fact[], string]>([
    [
      'D3 pages are of two revisions',
      quiet({ pages: [firstOfA, lastOfB] }),
      's: D3: pages of more than one revision',
    ],
    [
      'D3 the list had moved before the tail',
      quiet({ beforeTail: [source(truth(B, at(2)))] }),
      's: D3: accepted a revision that was not current at the tail',
    ],
    ['D3 nobody asked for the tail', quiet({ tailPage: undefined }), 's: D3: accepted without a tail'],
    [
      'D3 another list is made active',
      quiet({ accepted: truth(B) }),
      's: D3: accepted another list than the one current at the tail',
    ],
    ['D1 the list had not ended', quiet({ pages: [firstOfA] }), 's: D1: accepted before the list had ended'],
    [
      'D4 the source names no revision',
      [source(truth(A, null)), RUN, ...scanned('s', truth(A, null))],
      's: D4: accepted without a revision',
    ],
    [
      'D8 the tail is of another identity',
      quiet({ tailPage: { ...firstOfA, identity: 'b' } }),
      's: D8: pages and tail of more than one identity',
    ],
    [
      'P1 the policy moved meanwhile',
      quiet({ beforePromotion: [{ fact: 'policy' }] }),
      's: P1: accepted under another policy epoch than the scan began with',
    ],
    [
      'P1 the trust moved meanwhile',
      quiet({ beforePromotion: [{ fact: 'trust' }] }),
      's: P1: accepted under another trust than the scan began with',
    ],
    [
      'P1 the server was closed',
      quiet({ beforePromotion: [{ fact: 'closed' }] }),
      's: P1: promoted while the server was closed',
    ],
    [
      'P1 another candidate had won',
      quiet({ beforePromotion: rival }),
      's: P1: two candidates won beside one pointer',
    ],
    [
      'D2 a hint after the tail asked nobody',
      quiet({ beforePromotion: [{ fact: 'hint' }] }),
      's: D2: a hint came after the tail, and nobody asked again',
    ],
    [
      'D2 hints are answered for ever',
      quiet({ beforePromotion: [1, 2, 3].flatMap(() => tail('s', firstOfA)) }),
      's: D2: more than 3 tails',
    ],
    [
      'D6 a stale attempt stored a page',
      quiet({ beforeTail: read('s', lastOfA, '0.0') }),
      's: D6: an attempt that lost its claim stored a page',
    ],
    [
      'D6 a stored page is asked for again',
      quiet({ beforeTail: [{ fact: 'page', scan: 's', claim: '0.1', page: firstOfA }] }),
      's: D6: a page that was stored is asked for again',
    ],
    [
      'D9 the counter went back',
      followed(truth(A, at(9)), truth(B, at(3))),
      't: D8, D9: accepted though it is ROLLBACK',
    ],
    [
      'D9 one revision has two lists',
      followed(truth(A), truth(B)),
      't: D8, D9: accepted though it is EQUIVOCATION',
    ],
    [
      'D9 the counter jumps',
      followed(truth(A), truth(B, at(2_000_000_000))),
      't: D8, D9: accepted though it is FAST_FORWARD',
    ],
    [
      'D9 the incarnation is another',
      followed(truth(A), truth(B, { incarnation: 'j', counter: 1 })),
      't: D8, D9: accepted though it is NEW_INCARNATION',
    ],
    [
      'D8 nobody announced the identity',
      followed(truth(A), truth(B, at(2), 'b')),
      't: D8, D9: accepted though it is IDENTITY_CHANGED',
    ],
    [
      'D5 too many tools are gone',
      followed(truth(A), truth(B.slice(1), at(2))),
      't: D8, D9: accepted though it is SHRUNK',
    ],
    [
      'S7 nothing had changed',
      followed(truth(A), truth(A)),
      't: S7: a new generation though nothing changed',
    ],
  ])('%s', (_, facts, says) => {
    expect(judge(facts)).toContain(says);
  });
});

describe('a run is wrong where', () => {
  test.each<[string, readonly Fact[], string]>([
    [
      'D2 it leaves a hint unanswered',
      [...quiet(), { fact: 'hint' }, { fact: 'runEnd', scan: 's', reason: 'PROMOTED' }],
      's: D2: the run ends with a hint that asks for a scan',
    ],
    [
      'D3 it ends where another round had to begin',
      [
        source(truth(A)),
        RUN,
        ...begin('s'),
        source(truth(B, at(2))),
        refuse('s', 'REVISION_CHANGED'),
        { fact: 'runEnd', scan: 's', reason: 'REVISION_CHANGED' },
      ],
      's: D3: the run ends with REVISION_CHANGED after 1 rounds',
    ],
    [
      'D3 it scans again though nothing asked for it',
      [...quiet(), ...scanned('t', truth(A))],
      't: a scan that nothing asked for, after PROMOTED',
    ],
    [
      'P1 something else is served',
      [...quiet(), { fact: 'serving', tools: B }],
      'P1: release#1 reserve#2 is served, and not release#1 reserve#1 that was accepted last',
    ],
  ])('%s', (_, facts, says) => {
    expect(judge(facts)).toContain(says);
  });
});

describe('a refusal that nothing caused is wrong', () => {
  const failing = (scan: string): readonly Fact[] =>
    [1, 2, 3].map(() => ({ fact: 'fault', scan, what: 'UPSTREAM_ERROR' }) as const);
  const begun = [source(truth(A)), RUN, ...begin('s')];

  test('D3 faults of pages are no reason to give the tail up, those of the tail are', () => {
    const [one, two] = pagesOf(truth(A)) as [Page, Page];
    const before = [...begun, ...failing('s').slice(1), ...read('s', one), ...read('s', two)];
    const asking = { fact: 'step', scan: 's', step: 'verifyTail' } as const;
    const end = refuse('s', 'TAIL_UNVERIFIED');
    expect(judge([...before, asking, ...failing('s').slice(2), end])).toEqual([
      's: TAIL_UNVERIFIED without a cause: this scan had to be accepted',
    ]);
    expect(judge([...before, asking, ...failing('s'), end])).toEqual([]);
  });

  test.each(['INTERNAL', 'ROLLBACK'])('P1 %s after the pointer moved', (reason) => {
    const facts = [...begun, ...read('s', firstOfA), ...rival, refuse('s', reason)];
    const says = `s: ${reason} without a cause: this scan had to be accepted`;
    expect(judge(facts)).toEqual(reason === 'INTERNAL' ? [says] : []);
  });
});

test('D6 a page that is stored while the next one has come is that page', () => {
  const [one, two] = pagesOf(truth(A)) as [Page, Page];
  const came = (page: Page): Fact => ({ fact: 'page', scan: 's', claim: '0.1', page });
  const stored = ({ cursor }: Page): Fact => ({ fact: 'stored', scan: 's', claim: '0.1', cursor });
  const pages = [came(one), came(two), stored(one), stored(two)];
  expect(judge(quiet({ pages: [], beforeTail: pages }))).toEqual([]);
  expect(judge(quiet({ pages: [], beforeTail: [...pages.slice(0, 3)] }))).toContain(
    's: D1: accepted before the list had ended',
  );
});

test('D8 an announced identity follows', () => {
  const facts = [
    source(truth(A)),
    RUN,
    ...scanned('s', truth(A)),
    RUN,
    { fact: 'announced', identity: 'b' } as const,
    source(truth(B, at(2), 'b')),
    ...scanned('t', truth(B, at(2), 'b')),
  ];
  expect(judge(facts)).toEqual([]);
});
