/**
 * What an operator's acceptance of a held scan allows the scans after it (D5, D8, D9): what was looked at, and nothing
 * that could not have followed it.
 */
import {
  type Accepted,
  type Continuity,
  judgeContinuity,
  judgeRevision,
  type Proposed,
} from './continuity.js';
import type { ReasonFor } from './endReasons.js';
import type { Digest } from './ids.js';
import type { SourceRevision } from './snapshot.js';

/** The holds that are a question to a person. The others are faults of the list, which its author mends. */
export const ACCEPTABLE = [
  'SHRUNK',
  'ROLLBACK',
  'NEW_INCARNATION',
  'FAST_FORWARD',
  'IDENTITY_CHANGED',
] as const satisfies readonly ReasonFor<'QUARANTINED'>[];
export type AcceptableKind = (typeof ACCEPTABLE)[number];

/** What a scan is held for, and what it held. */
export interface Held {
  readonly kind: AcceptableKind;
  readonly identity: Digest;
  readonly revision: SourceRevision;
  readonly contentRoot: Digest;
}

/** An acceptance that is not used yet, bound to the scan that it was given for. */
export interface Acceptance extends Held {
  readonly id: string;
}

export const isAcceptable = (reason: string | null): reason is AcceptableKind =>
  ACCEPTABLE.some((kind) => kind === reason);

/**
 * D5, D9: whether an acceptance is one of this hold. A shrunk list is accepted as it is, an identity as a whole. A
 * revision is accepted with what may follow it: not a lower one, not another incarnation, no other content under the
 * same one, and no jump that would be held by itself.
 */
export const covers = (accepted: Held, held: Held): boolean => {
  if (accepted.kind !== held.kind || accepted.identity !== held.identity) return false;
  switch (accepted.kind) {
    case 'IDENTITY_CHANGED':
      return true;
    case 'SHRUNK':
      return accepted.contentRoot === held.contentRoot;
    case 'ROLLBACK':
    case 'NEW_INCARNATION':
    case 'FAST_FORWARD':
      if (held.revision.binding === 'SNAPSHOT_TOKEN' || accepted.revision.binding === 'SNAPSHOT_TOKEN')
        return isSameToken(accepted, held);
      return judgeRevision(accepted, { ...held, sameCredential: true }).kind === 'follows';
  }
};

/** A token has no order: what was accepted is the very list that it names. */
const isSameToken = (accepted: Held, held: Held): boolean =>
  accepted.revision.binding === 'SNAPSHOT_TOKEN' &&
  held.revision.binding === 'SNAPSHOT_TOKEN' &&
  accepted.revision.value.token === held.revision.value.token &&
  accepted.contentRoot === held.contentRoot;

/** The acceptance that covers a hold; undefined where there is none. */
export const acceptanceOf = (acceptances: readonly Acceptance[], held: Held): Acceptance | undefined =>
  acceptances.find((one) => covers(one, held));

/**
 * `judgeContinuity` beside what was accepted. A candidate can be held for its identity and then for its revision; each
 * hold needs an acceptance of its own.
 * @returns the verdict, and the acceptances that it rests on
 */
export const judgeWithAcceptances = (
  active: Pick<Accepted, 'identity'> | null,
  earlier: Accepted | null,
  proposed: Proposed,
  acceptances: readonly Acceptance[],
): { readonly continuity: Continuity; readonly restsOn: Acceptance[] } => {
  const restsOn: Acceptance[] = [];
  const cover = (continuity: Continuity): boolean => {
    if (continuity.kind === 'follows' || !isAcceptable(continuity.reason)) return false;
    const found = acceptanceOf(acceptances, { ...proposed, kind: continuity.reason });
    if (found !== undefined) restsOn.push(found);
    return found !== undefined;
  };
  let continuity = judgeContinuity(active, earlier, proposed);
  if (continuity.kind === 'held' && continuity.reason === 'IDENTITY_CHANGED' && cover(continuity))
    continuity = judgeContinuity(active, earlier, { ...proposed, identityAnnounced: true });
  if (cover(continuity)) continuity = { kind: 'follows' };
  return { continuity, restsOn };
};
