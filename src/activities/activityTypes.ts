/** What travels between workflow and activities: ids, digests and counts, never pages (a payload stays small). */
import type { DiscoveryResult } from '../domain/discoveryResult.js';
import type { ReasonFor } from '../domain/endReasons.js';
import type { DiscoveryKey, Evidence } from '../domain/generation.js';
import type { Digest, EpochMs } from '../domain/ids.js';
import type { SourceRevision } from '../domain/snapshot.js';

export type Stop =
  | {
      readonly kind: 'stop';
      readonly state: 'INCOMPLETE';
      readonly reason: ReasonFor<'INCOMPLETE'>;
      readonly evidence: Evidence;
    }
  | {
      readonly kind: 'stop';
      readonly state: 'QUARANTINED';
      readonly reason: ReasonFor<'QUARANTINED'>;
      readonly evidence: Evidence;
    };

export interface ScanStep {
  readonly key: DiscoveryKey;
  readonly scan: string;
}

export interface ScanSegment extends ScanStep {
  readonly round: number;
  readonly segment: number;
}

export type ScanPagesResult =
  | { readonly kind: 'more'; readonly pages: number; readonly tools: number }
  | {
      readonly kind: 'complete';
      readonly pages: number;
      readonly tools: number;
      readonly revision: SourceRevision;
    }
  | {
      readonly kind: 'unversioned';
      readonly pages: number;
      readonly tools: number;
      readonly observed: Digest;
    }
  | Stop;

export type VerifyTailResult = { readonly kind: 'bound'; readonly pageRoot: Digest } | Stop;

/** Another candidate won, or what the checks rested on moved. */
export interface Superseded {
  readonly kind: 'retired';
  readonly reason: 'LOST' | 'FENCED';
  readonly successor: number | null;
  readonly evidence: Evidence;
}

export type CheckContractResult =
  | { readonly kind: 'checked'; readonly tools: number; readonly quarantined: number }
  | { readonly kind: 'unchanged'; readonly generation: number; readonly freshUntil: EpochMs }
  | Superseded
  | Stop;

export type SealResult =
  | { readonly kind: 'sealed'; readonly generation: number; readonly snapshot: Digest }
  | Stop;

export type PromoteResult =
  | {
      readonly kind: 'promoted';
      readonly generation: number;
      readonly policyEpoch: number;
      readonly receipt: string;
    }
  | Superseded;

export interface RecordEnd {
  readonly key: DiscoveryKey;
  readonly result: Pick<DiscoveryResult, 'state' | 'reason' | 'scan' | 'evidence'>;
}

/** The activities, as the workflows see them. */
export interface DiscoveryActivities {
  scanPages(input: ScanSegment): Promise<ScanPagesResult>;
  verifyTail(input: ScanStep): Promise<VerifyTailResult>;
  checkContract(input: ScanStep): Promise<CheckContractResult>;
  seal(input: ScanStep): Promise<SealResult>;
  promote(input: ScanStep): Promise<PromoteResult>;
  recordEnd(input: RecordEnd): Promise<void>;
  startDiscovery(key: DiscoveryKey): Promise<void>;
}
