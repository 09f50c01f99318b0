/** What an acceptance of a held scan lets through, and what it does not (D5, D8, D9). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ACCEPTABLE,
  type AcceptableKind,
  type Acceptance,
  covers,
  type Held,
  isAcceptable,
  judgeWithAcceptances,
} from '../../../src/domain/acceptance.js';
import { MAX_REVISION_JUMP } from '../../../src/domain/continuity.js';
import { END_REASONS, type EndReason } from '../../../src/domain/endReasons.js';
import { type Digest, parseDigest } from '../../../src/domain/ids.js';
import type { SourceRevision } from '../../../src/domain/snapshot.js';

const digest = (digit: string): Digest => parseDigest(`sha256:${digit.repeat(64)}`);
const [IDENTITY, OTHER, CONTENT, CHANGED] = [digest('1'), digest('2'), digest('c'), digest('d')] as const;
const counter = (n: number, incarnation = 'i'): SourceRevision => ({
  binding: 'SERVER_REVISION',
  value: { incarnation, counter: n },
});
const token = (text: string): SourceRevision => ({ binding: 'SNAPSHOT_TOKEN', value: { token: text } });
const held = (kind: AcceptableKind, more: Partial<Held> = {}): Held => ({
  kind,
  identity: IDENTITY,
  revision: counter(7),
  contentRoot: CONTENT,
  ...more,
});
const REVISIONS = ['ROLLBACK', 'NEW_INCARNATION', 'FAST_FORWARD'] as const;

describe('D5 what can be accepted', () => {
  test('D5 five holds and no other end', () => {
    const reasons = Object.keys(END_REASONS) as EndReason[];
    expect(reasons.filter(isAcceptable).sort()).toEqual([
      'FAST_FORWARD',
      'IDENTITY_CHANGED',
      'NEW_INCARNATION',
      'ROLLBACK',
      'SHRUNK',
    ]);
    expect(isAcceptable(null)).toBe(false);
  });
});

describe('covers', () => {
  test.each(ACCEPTABLE)(
    '%s covers the very scan that was held, no other kind and no other identity',
    (kind) => {
      expect(covers(held(kind), held(kind))).toBe(true);
      for (const other of ACCEPTABLE.filter((one) => one !== kind))
        expect(covers(held(kind), held(other))).toBe(false);
      expect(covers(held(kind), held(kind, { identity: OTHER }))).toBe(false);
    },
  );

  test('SHRUNK covers the same list at any revision, and no other list', () => {
    expect(covers(held('SHRUNK'), held('SHRUNK', { revision: counter(9) }))).toBe(true);
    expect(covers(held('SHRUNK'), held('SHRUNK', { contentRoot: CHANGED }))).toBe(false);
  });

  test('D8 IDENTITY_CHANGED covers whatever the accepted identity lists', () => {
    const more = { revision: counter(1, 'other'), contentRoot: CHANGED };
    expect(covers(held('IDENTITY_CHANGED'), held('IDENTITY_CHANGED', more))).toBe(true);
  });

  test.each(REVISIONS)('D9 %s covers what may follow the accepted revision', (kind) => {
    const later = (n: number, incarnation?: string) =>
      covers(held(kind), held(kind, { revision: counter(n, incarnation), contentRoot: CHANGED }));
    expect(later(8)).toBe(true);
    expect(later(7 + MAX_REVISION_JUMP)).toBe(true);
    expect(later(6)).toBe(false);
    expect(later(8, 'other')).toBe(false);
    // The same revision with other content contradicts what was looked at; a jump beyond it was not looked at.
    expect(later(7)).toBe(false);
    expect(later(7 + MAX_REVISION_JUMP + 1)).toBe(false);
  });

  test.each(REVISIONS)('D9 %s covers a token by itself only, and no other binding', (kind) => {
    const accepted = held(kind, { revision: token('a') });
    expect(covers(accepted, held(kind, { revision: token('a') }))).toBe(true);
    expect(covers(accepted, held(kind, { revision: token('b') }))).toBe(false);
    expect(covers(accepted, held(kind, { revision: token('a'), contentRoot: CHANGED }))).toBe(false);
    expect(covers(accepted, held(kind))).toBe(false);
    expect(covers(held(kind), accepted)).toBe(false);
    const issued: SourceRevision = { binding: 'GATEWAY_ISSUED', value: { incarnation: 'i', counter: 8 } };
    expect(covers(held(kind), held(kind, { revision: issued }))).toBe(false);
  });

  test('D9 no acceptance of a revision ever covers a lower counter', () => {
    const counters = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(fc.constantFrom(...REVISIONS), counters, counters, (kind, a, b) => {
        const covered = covers(held(kind, { revision: counter(a) }), held(kind, { revision: counter(b) }));
        return !covered || b >= a;
      }),
    );
  });
});

describe('judgeWithAcceptances', () => {
  const active = { identity: IDENTITY, revision: counter(7), contentRoot: CONTENT };
  const proposal = (more: Partial<Held> = {}) => ({
    identity: IDENTITY,
    revision: counter(6),
    contentRoot: CHANGED,
    sameCredential: true,
    identityAnnounced: false,
    ...more,
  });
  const acceptance = (id: string, kind: AcceptableKind, more: Partial<Held> = {}): Acceptance => ({
    id,
    kind,
    identity: IDENTITY,
    revision: counter(6),
    contentRoot: CHANGED,
    ...more,
  });
  const judge = (
    proposed: ReturnType<typeof proposal>,
    acceptances: readonly Acceptance[],
    earlier: typeof active | null = active,
  ) => {
    const { continuity, restsOn } = judgeWithAcceptances(active, earlier, proposed, acceptances);
    return [continuity.kind === 'held' ? continuity.reason : 'follows', restsOn.map(({ id }) => id)];
  };

  test('D5 rests on the acceptance that it needs, and on none where it needs none', () => {
    const one = acceptance('a', 'ROLLBACK');
    expect(judge(proposal(), [])).toEqual(['ROLLBACK', []]);
    expect(judge(proposal(), [acceptance('s', 'SHRUNK'), one])).toEqual(['follows', ['a']]);
    expect(judge(proposal({ revision: counter(8) }), [one])).toEqual(['follows', []]);
  });

  test('D9 an equivocation stays one, whatever was accepted', () => {
    const all = ACCEPTABLE.map((kind) => acceptance(kind, kind, { revision: counter(7) }));
    expect(judge(proposal({ revision: counter(7) }), all)).toEqual(['EQUIVOCATION', []]);
  });

  test('D8 D9 an identity that comes back older needs an acceptance for each of the two', () => {
    const back = { ...active, identity: OTHER };
    const proposed = proposal({ identity: OTHER });
    const identity = acceptance('i', 'IDENTITY_CHANGED', { identity: OTHER });
    const rollback = acceptance('r', 'ROLLBACK', { identity: OTHER });
    expect(judge(proposed, [rollback], back)).toEqual(['IDENTITY_CHANGED', []]);
    expect(judge(proposed, [identity], back)).toEqual(['ROLLBACK', ['i']]);
    expect(judge(proposed, [rollback, identity], back)).toEqual(['follows', ['i', 'r']]);
  });
});
