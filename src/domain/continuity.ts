/**
 * What a candidate may be beside the generation that is active (D8, D9, S7): whether its revision can follow the
 * accepted one, and whether it is that very content.
 */
import type { ReasonFor } from './endReasons.js';
import type { Digest, DurationMs, EpochMs } from './ids.js';
import type { SourceRevision } from './snapshot.js';
import { compareCounters, sameRevision } from './snapshot.js';

/** A jump of a counter beyond this is held: after it, nothing the source says later could follow (D9). */
export const MAX_REVISION_JUMP = 1_000_000_000;

export interface Accepted {
  readonly identity: Digest;
  readonly revision: SourceRevision;
  readonly contentRoot: Digest;
}

export interface Proposed {
  readonly identity: Digest;
  readonly revision: SourceRevision;
  readonly contentRoot: Digest;
  /** Whether it was scanned with the credential of the accepted one: another one may see another list. */
  readonly sameCredential: boolean;
  /** Whether the trust configuration lists the candidate's identity in advance. */
  readonly identityAnnounced: boolean;
}

export type Continuity =
  | { readonly kind: 'follows' }
  | {
      readonly kind: 'held';
      readonly reason: ReasonFor<'QUARANTINED'>;
      readonly evidence: Readonly<Record<string, unknown>>;
    };

const held = (reason: ReasonFor<'QUARANTINED'>, evidence: Readonly<Record<string, unknown>>): Continuity => ({
  kind: 'held',
  reason,
  evidence,
});

/**
 * D8, D9: whether a proven candidate may follow what was accepted before. The first one follows nothing.
 * @param active what serves now
 * @param accepted what was last accepted of the candidate's own identity: an identity that comes back after another
 *   one served may not come back older
 */
export const judgeContinuity = (
  active: Pick<Accepted, 'identity'> | null,
  accepted: Accepted | null,
  proposed: Proposed,
): Continuity => {
  if (active !== null && active.identity !== proposed.identity && !proposed.identityAnnounced)
    return held('IDENTITY_CHANGED', { accepted: active.identity, proposed: proposed.identity });
  // Another identity is another source: the counters of the two have no order.
  return accepted === null ? { kind: 'follows' } : judgeRevision(accepted, proposed);
};

/** D9: whether a revision of one source can follow one that was accepted of it. */
export const judgeRevision = (
  accepted: Pick<Accepted, 'revision' | 'contentRoot'>,
  proposed: Pick<Proposed, 'revision' | 'contentRoot' | 'sameCredential'>,
): Continuity => {
  const evidence = { accepted: accepted.revision, proposed: proposed.revision };
  // D9: only what the same credential sees twice at one revision contradicts itself.
  const agrees = accepted.contentRoot === proposed.contentRoot || !proposed.sameCredential;
  // By another kind of binding a lower counter could pass unseen.
  if (accepted.revision.binding !== proposed.revision.binding) return held('NEW_INCARNATION', evidence);
  if (accepted.revision.binding === 'SNAPSHOT_TOKEN' || proposed.revision.binding === 'SNAPSHOT_TOKEN') {
    return sameRevision(accepted.revision, proposed.revision) && !agrees
      ? held('EQUIVOCATION', evidence)
      : { kind: 'follows' };
  }
  const order = compareCounters(accepted.revision.value, proposed.revision.value);
  switch (order) {
    case 'other-incarnation':
      return held('NEW_INCARNATION', evidence);
    case 'older':
      return held('ROLLBACK', evidence);
    case 'same':
      return agrees ? { kind: 'follows' } : held('EQUIVOCATION', evidence);
    case 'newer':
      return proposed.revision.value.counter - accepted.revision.value.counter > MAX_REVISION_JUMP
        ? held('FAST_FORWARD', evidence)
        : { kind: 'follows' };
  }
};

/**
 * S7: whether a verified refresh found nothing changed, so that a freshness record is enough. Near the snapshot's
 * own expiry a new generation is sealed all the same.
 */
export const isUnchanged = (
  active:
    | (Accepted & { readonly policyEpoch: number; readonly trustVersion: number; readonly expires: EpochMs })
    | null,
  candidate: Accepted & { readonly policyEpoch: number; readonly trustVersion: number },
  times: { readonly now: EpochMs; readonly renewBefore: DurationMs },
): boolean =>
  active !== null &&
  active.contentRoot === candidate.contentRoot &&
  active.identity === candidate.identity &&
  active.policyEpoch === candidate.policyEpoch &&
  active.trustVersion === candidate.trustVersion &&
  active.expires - times.now > times.renewBefore;

/** D5: whether a candidate lacks more of the active tools than the registration allows, and is held for an operator. */
export const isShrunk = (
  { active, removed }: { readonly active: number; readonly removed: number },
  allowedShare: number,
): boolean => active > 0 && removed / active > allowedShare;
