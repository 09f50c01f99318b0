/** What may follow the accepted generation (D8, D9), and what is that very content (S7). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isShrunk, isUnchanged, judgeContinuity, MAX_REVISION_JUMP } from '../../../src/domain/continuity.js';
import { type Digest, durationMs, epochMs, parseDigest } from '../../../src/domain/ids.js';
import type { SourceRevision } from '../../../src/domain/snapshot.js';

const digest = (digit: string): Digest => parseDigest(`sha256:${digit.repeat(64)}`);
const [IDENTITY, OTHER, CONTENT, CHANGED] = [digest('1'), digest('2'), digest('c'), digest('d')] as const;
const counter = (n: number, incarnation = 'i'): SourceRevision => ({
  binding: 'SERVER_REVISION',
  value: { incarnation, counter: n },
});
const token = (text: string): SourceRevision => ({ binding: 'SNAPSHOT_TOKEN', value: { token: text } });

const accepted = { identity: IDENTITY, revision: counter(7), contentRoot: CONTENT };
const judge = (
  revision: SourceRevision,
  more: { identity?: Digest; contentRoot?: Digest; announced?: boolean; sameCredential?: boolean } = {},
  before: typeof accepted | { identity: Digest; revision: SourceRevision; contentRoot: Digest } = accepted,
) => {
  const identity = more.identity ?? IDENTITY;
  const verdict = judgeContinuity(before, before.identity === identity ? before : null, {
    identity,
    revision,
    contentRoot: more.contentRoot ?? CHANGED,
    sameCredential: more.sameCredential ?? true,
    identityAnnounced: more.announced ?? false,
  });
  return verdict.kind === 'held' ? verdict.reason : verdict.kind;
};

describe('D9 revisions of one source', () => {
  test('D9 the first generation follows nothing', () => {
    const proposed = { ...accepted, sameCredential: true, identityAnnounced: false };
    expect(judgeContinuity(null, null, proposed)).toEqual({ kind: 'follows' });
  });

  test('D9 a lower counter is a ROLLBACK, even with the accepted content', () => {
    expect(judge(counter(6))).toBe('ROLLBACK');
    expect(judge(counter(6), { contentRoot: CONTENT })).toBe('ROLLBACK');
  });

  test('D9 the same counter with other content is an EQUIVOCATION, with the same content it follows', () => {
    expect(judge(counter(7))).toBe('EQUIVOCATION');
    expect(judge(counter(7), { contentRoot: CONTENT })).toBe('follows');
  });

  test('D9 what another credential sees at the same revision is no EQUIVOCATION, but a rollback stays one', () => {
    expect(judge(counter(7), { sameCredential: false })).toBe('follows');
    expect(judge(token('t'), { sameCredential: false }, { ...accepted, revision: token('t') })).toBe(
      'follows',
    );
    expect(judge(counter(6), { sameCredential: false })).toBe('ROLLBACK');
  });

  test('D9 an absurd jump is a FAST_FORWARD', () => {
    expect(judge(counter(8))).toBe('follows');
    expect(judge(counter(7 + MAX_REVISION_JUMP))).toBe('follows');
    expect(judge(counter(7 + MAX_REVISION_JUMP + 1))).toBe('FAST_FORWARD');
    expect(judge(counter(Number.MAX_SAFE_INTEGER))).toBe('FAST_FORWARD');
  });

  test('D9 another incarnation is held, whatever its counter; a bare integer has the empty one', () => {
    expect(judge(counter(8, 'j'))).toBe('NEW_INCARNATION');
    expect(judge(counter(7, ''))).toBe('NEW_INCARNATION');
    expect(judge(counter(7, 'j'), { contentRoot: CONTENT })).toBe('NEW_INCARNATION');
  });

  test('D9 tokens have no order: the same one with other content is an EQUIVOCATION, another one follows', () => {
    const before = { ...accepted, revision: token('t') };
    expect(judge(token('t'), {}, before)).toBe('EQUIVOCATION');
    expect(judge(token('t'), { contentRoot: CONTENT }, before)).toBe('follows');
    expect(judge(token('u'), {}, before)).toBe('follows');
  });

  test('D9 another kind of binding is held: by a token in between a lower counter could pass', () => {
    expect(judge(token('t'))).toBe('NEW_INCARNATION');
    expect(judge(counter(9), {}, { ...accepted, revision: token('t') })).toBe('NEW_INCARNATION');
  });

  test('D9 an announced identity that comes back may not come back older than it was last accepted', () => {
    const back = { ...accepted, revision: counter(3), sameCredential: true, identityAnnounced: true };
    const other = { ...accepted, identity: `sha256:${'9'.repeat(64)}` as Digest };
    expect(judgeContinuity(other, accepted, back)).toMatchObject({ kind: 'held', reason: 'ROLLBACK' });
    expect(judgeContinuity(other, null, back)).toEqual({ kind: 'follows' });
  });

  test('D9 what is held shows both revisions', () => {
    const verdict = judgeContinuity(accepted, accepted, {
      ...accepted,
      revision: counter(6),
      sameCredential: true,
      identityAnnounced: false,
    });
    expect(verdict).toEqual({
      kind: 'held',
      reason: 'ROLLBACK',
      evidence: { accepted: counter(7), proposed: counter(6) },
    });
  });

  test('D9 of two counters of one incarnation, only the one that is not lower can follow', () => {
    const safe = fc.nat({ max: 1_000_000 });
    fc.assert(
      fc.property(safe, safe, (a, b) => {
        const verdict = judge(counter(b), {}, { ...accepted, revision: counter(a) });
        expect(verdict).toBe(b > a ? 'follows' : b === a ? 'EQUIVOCATION' : 'ROLLBACK');
      }),
    );
  });
});

describe('D8 identity', () => {
  test('D8 another identity is held unless it was announced', () => {
    expect(judge(counter(8), { identity: OTHER })).toBe('IDENTITY_CHANGED');
    expect(judge(counter(8), { identity: OTHER, announced: true })).toBe('follows');
  });

  test('D8 an announced identity has counters of its own', () => {
    expect(judge(counter(1, 'j'), { identity: OTHER, announced: true })).toBe('follows');
  });

  test('D8 the announcement of an identity forgives no rollback of the old one', () => {
    expect(judge(counter(6), { announced: true })).toBe('ROLLBACK');
  });
});

describe('S7 unchanged', () => {
  const active = { ...accepted, policyEpoch: 1, trustVersion: 1, expires: epochMs(100_000) };
  const candidate = { ...accepted, revision: counter(9), policyEpoch: 1, trustVersion: 1 };
  const times = { now: epochMs(10_000), renewBefore: durationMs(20_000) };

  test('S7 the same content under the same epoch and trust is unchanged, though the revision moved', () => {
    expect(isUnchanged(active, candidate, times)).toBe(true);
  });

  test.each([
    ['content', { contentRoot: CHANGED }],
    ['identity', { identity: OTHER }],
    ['policy epoch', { policyEpoch: 2 }],
    ['trust', { trustVersion: 2 }],
  ] as const)('S7 another %s is a change', (_, more) => {
    expect(isUnchanged(active, { ...candidate, ...more }, times)).toBe(false);
  });

  test('S7 near the expiry of the snapshot a new generation is sealed all the same', () => {
    expect(isUnchanged(active, candidate, { ...times, now: epochMs(79_999) })).toBe(true);
    expect(isUnchanged(active, candidate, { ...times, now: epochMs(80_000) })).toBe(false);
    expect(isUnchanged(active, candidate, { ...times, now: epochMs(200_000) })).toBe(false);
  });

  test('S7 where nothing is active, nothing is unchanged', () => {
    expect(isUnchanged(null, candidate, times)).toBe(false);
  });
});

test('D5 a list is shrunk where more than the allowed share is gone, and not at the share itself', () => {
  expect(isShrunk({ active: 10, removed: 3 }, 0.3)).toBe(false);
  expect(isShrunk({ active: 10, removed: 4 }, 0.3)).toBe(true);
  expect(isShrunk({ active: 0, removed: 0 }, 0)).toBe(false);
});
