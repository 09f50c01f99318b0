/**
 * The states of a candidate (D5) as a union: each member holds only what is then known, so that a page root
 * before the pages are whole, or a promotion of what is not proven, does not type-check.
 */
import type { EndReason, ReasonFor } from './endReasons.js';
import type { AudienceClass, Digest, EpochMs, ServerName, TenantId } from './ids.js';
import type { SourceRevision } from './snapshot.js';

/** What a discovery is about. One active pointer stands for each. */
export interface DiscoveryKey {
  readonly tenant: TenantId;
  readonly server: ServerName;
  readonly audience: AudienceClass;
}

export interface Discovering {
  readonly state: 'DISCOVERING';
  readonly key: DiscoveryKey;
  readonly scan: string;
}

export interface Validating {
  readonly state: 'VALIDATING';
  readonly key: DiscoveryKey;
  readonly scan: string;
  readonly pages: number;
  readonly tools: number;
  readonly revision: SourceRevision;
}

export interface SnapshotProven {
  readonly state: 'SNAPSHOT_PROVEN';
  readonly key: DiscoveryKey;
  readonly scan: string;
  readonly pages: number;
  readonly tools: number;
  readonly revision: SourceRevision;
  readonly pageRoot: Digest;
}

export interface Eligible {
  readonly state: 'ELIGIBLE';
  readonly key: DiscoveryKey;
  readonly scan: string;
  readonly generation: number;
  readonly policyEpoch: number;
  readonly receipt: string;
}

export interface UnversionedObservation {
  readonly state: 'UNVERSIONED_OBSERVATION';
  readonly key: DiscoveryKey;
  readonly scan: string;
  readonly pages: number;
  readonly tools: number;
  readonly observed: Digest;
  readonly reason: 'NO_REVISION';
}

export type Evidence = Readonly<Record<string, unknown>>;

export interface Incomplete {
  readonly state: 'INCOMPLETE';
  readonly key: DiscoveryKey;
  readonly scan: string;
  readonly reason: ReasonFor<'INCOMPLETE'>;
  readonly evidence: Evidence;
}

export interface Quarantined {
  readonly state: 'QUARANTINED';
  readonly key: DiscoveryKey;
  readonly scan: string;
  readonly reason: ReasonFor<'QUARANTINED'>;
  readonly evidence: Evidence;
}

export interface Retired {
  readonly state: 'RETIRED';
  readonly key: DiscoveryKey;
  readonly scan: string;
  readonly reason: ReasonFor<'RETIRED'>;
  /** The generation that serves instead, where there is one. */
  readonly successor: number | null;
  /** For UNCHANGED: until when the active generation was verified. */
  readonly freshUntil: EpochMs | null;
  readonly evidence: Evidence;
}

export type Candidate =
  | Discovering
  | Validating
  | SnapshotProven
  | Eligible
  | UnversionedObservation
  | Incomplete
  | Quarantined
  | Retired;

export type CandidateState = Candidate['state'];
export type EndedCandidate = Exclude<Candidate, Discovering | Validating | SnapshotProven>;

export const isEnded = (candidate: Candidate): candidate is EndedCandidate =>
  candidate.state !== 'DISCOVERING' &&
  candidate.state !== 'VALIDATING' &&
  candidate.state !== 'SNAPSHOT_PROVEN';

/** The reason that an ended candidate shows, PROMOTED for the good end. */
export const endReasonOf = (candidate: EndedCandidate): EndReason =>
  candidate.state === 'ELIGIBLE' ? 'PROMOTED' : candidate.reason;
