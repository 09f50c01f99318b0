/**
 * D5 as a table and a step: which state follows which, and on what event. The workflow and the printed docs/states.md
 * come from here; the store refuses every other edge as well, and a test compares the two.
 */
import type { ReasonFor } from './endReasons.js';
import type { Candidate, CandidateState, Evidence, SnapshotProven } from './generation.js';
import type { Digest, EpochMs } from './ids.js';
import type { SourceRevision } from './snapshot.js';

/** The edges of D5, and no others. */
export const EDGES = {
  DISCOVERING: ['VALIDATING', 'INCOMPLETE', 'QUARANTINED', 'UNVERSIONED_OBSERVATION'],
  VALIDATING: ['SNAPSHOT_PROVEN', 'INCOMPLETE', 'QUARANTINED'],
  SNAPSHOT_PROVEN: ['ELIGIBLE', 'QUARANTINED', 'INCOMPLETE', 'RETIRED'],
  ELIGIBLE: ['RETIRED', 'QUARANTINED'],
  UNVERSIONED_OBSERVATION: [],
  INCOMPLETE: [],
  QUARANTINED: [],
  RETIRED: [],
} as const satisfies Record<CandidateState, readonly CandidateState[]>;

export type ScanEvent =
  | {
      readonly type: 'pagesComplete';
      readonly pages: number;
      readonly tools: number;
      readonly revision: SourceRevision;
    }
  | {
      readonly type: 'pagesUnversioned';
      readonly pages: number;
      readonly tools: number;
      readonly observed: Digest;
    }
  | { readonly type: 'tailBound'; readonly pageRoot: Digest }
  | {
      readonly type: 'promoted';
      readonly generation: number;
      readonly policyEpoch: number;
      readonly receipt: string;
    }
  | {
      readonly type: 'retired';
      readonly reason: ReasonFor<'RETIRED'>;
      readonly successor: number | null;
      readonly freshUntil: EpochMs | null;
      readonly evidence: Evidence;
    }
  | { readonly type: 'incomplete'; readonly reason: ReasonFor<'INCOMPLETE'>; readonly evidence: Evidence }
  | { readonly type: 'quarantined'; readonly reason: ReasonFor<'QUARANTINED'>; readonly evidence: Evidence };

export type StepResult =
  | { readonly ok: true; readonly next: Candidate }
  | {
      readonly ok: false;
      readonly refusal: 'NO_SUCH_EDGE';
      readonly from: CandidateState;
      readonly event: ScanEvent['type'];
    };

const target: Record<ScanEvent['type'], CandidateState> = {
  pagesComplete: 'VALIDATING',
  pagesUnversioned: 'UNVERSIONED_OBSERVATION',
  tailBound: 'SNAPSHOT_PROVEN',
  promoted: 'ELIGIBLE',
  retired: 'RETIRED',
  incomplete: 'INCOMPLETE',
  quarantined: 'QUARANTINED',
};

/** Whether D5 has an edge between two states. */
export const hasEdge = (from: CandidateState, to: CandidateState): boolean =>
  (EDGES[from] as readonly CandidateState[]).includes(to);

/**
 * One step of a candidate. An edge that the table lacks is a named refusal, never an exception, and leaves the
 * candidate as it was.
 */
export const step = (from: Candidate, event: ScanEvent): StepResult => {
  const refused: StepResult = { ok: false, refusal: 'NO_SUCH_EDGE', from: from.state, event: event.type };
  if (!hasEdge(from.state, target[event.type])) return refused;
  const { key, scan } = from;
  switch (event.type) {
    case 'pagesComplete': {
      const { pages, tools, revision } = event;
      return { ok: true, next: { state: 'VALIDATING', key, scan, pages, tools, revision } };
    }
    case 'pagesUnversioned': {
      const { pages, tools, observed } = event;
      return {
        ok: true,
        next: { state: 'UNVERSIONED_OBSERVATION', key, scan, pages, tools, observed, reason: 'NO_REVISION' },
      };
    }
    case 'tailBound': {
      if (from.state !== 'VALIDATING') return refused;
      const { pages, tools, revision } = from;
      const next: SnapshotProven = {
        state: 'SNAPSHOT_PROVEN',
        key,
        scan,
        pages,
        tools,
        revision,
        pageRoot: event.pageRoot,
      };
      return { ok: true, next };
    }
    case 'promoted': {
      const { generation, policyEpoch, receipt } = event;
      return { ok: true, next: { state: 'ELIGIBLE', key, scan, generation, policyEpoch, receipt } };
    }
    case 'retired': {
      const { reason, successor, freshUntil, evidence } = event;
      return { ok: true, next: { state: 'RETIRED', key, scan, reason, successor, freshUntil, evidence } };
    }
    case 'incomplete':
      return {
        ok: true,
        next: { state: 'INCOMPLETE', key, scan, reason: event.reason, evidence: event.evidence },
      };
    case 'quarantined':
      return {
        ok: true,
        next: { state: 'QUARANTINED', key, scan, reason: event.reason, evidence: event.evidence },
      };
  }
};
