/**
 * What follows the end of a scan (D3, D5): another round, another scan for a hint, or the end of the run. Pure, so that
 * the workflow and the test that shuffles schedules go by the same answers.
 */
import type { EndReason } from './endReasons.js';
import { type EndedCandidate, endReasonOf } from './generation.js';
import { MAX_ROUNDS } from './scanLimits.js';

/** Ends after which a round is begun again from the first page, under what then is the policy and the trust. */
const RESTARTS: ReadonlySet<EndReason> = new Set<EndReason>([
  'REVISION_CHANGED',
  'SESSION_LOST',
  'CURSOR_EXPIRED',
  'CHANGED_DURING_SCAN',
  'FENCED',
]);
/** Ends that no waiting hint turns into another scan: one was asked for, the other has tried five times. */
const ENDS_ALL: ReadonlySet<EndReason> = new Set<EndReason>(['CANCELLED', 'REVISION_UNSTABLE']);
/** A refused cursor is tried once more from the start: twice is the server's way, not an accident. */
const MAX_CURSOR_RESTARTS = 1;
/** Tail verifications that hints may ask for before a promotion goes on all the same. */
const MAX_TAILS = 3;
/**
 * Scans in a row that hints may ask for while nothing comes of them. Some servers announce a change whenever their list is
 * read: hint, scan and hint would go on for ever.
 */
const MAX_IDLE_SCANS = 3;

/** Rounds that were begun again since the run began, or since a hint asked for a scan of its own. */
export interface Restarts {
  readonly all: number;
  readonly forCursors: number;
}

export const NO_RESTARTS: Restarts = { all: 0, forCursors: 0 };

export interface AfterScan {
  /** Whether a round is begun again. */
  readonly again: boolean;
  readonly restarts: Restarts;
  /** The end as it is told: a revision that moved once too often is REVISION_UNSTABLE. */
  readonly ended: EndedCandidate;
}

/** Hints counted since the run began, and how many of them the scan has answered. */
export interface Hints {
  readonly arrived: number;
  readonly answered: number;
}

/** D3: whether the round is begun again, five at most. */
export const afterScan = (restarts: Restarts, ended: EndedCandidate): AfterScan => {
  const reason = endReasonOf(ended);
  if (!RESTARTS.has(reason) || isClosed(ended)) return { again: false, restarts, ended };
  const next = {
    all: restarts.all + 1,
    forCursors: restarts.forCursors + (reason === 'CURSOR_EXPIRED' ? 1 : 0),
  };
  const again = next.all < MAX_ROUNDS && next.forCursors <= MAX_CURSOR_RESTARTS;
  if (again || ended.state !== 'INCOMPLETE' || reason !== 'REVISION_CHANGED')
    return { again, restarts: next, ended };
  const evidence = { rounds: next.all, last: ended.evidence };
  return { again, restarts: next, ended: { ...ended, reason: 'REVISION_UNSTABLE', evidence } };
};

/**
 * D2: whether a hint that came since the last tail asks for one more before the promotion. Restarting at each hint
 * instead would starve.
 * @param tails how often the tail was verified in this scan
 */
export const asksTailAgain = ({ arrived, answered }: Hints, tails: number): boolean =>
  arrived !== answered && tails < MAX_TAILS;

/**
 * D2: whether a hint asks for another scan: one that the last scan has not answered, also where that scan failed, since
 * what it tells of may have mended the list; and once more one that told of nothing, since some servers announce a change
 * before they list it. A hint is no proof, so that one which is left unanswered in the end costs no more than the wait for
 * the scheduled refresh.
 * @param idle scans in a row, this one included, that made nothing active
 */
export const asksScan = ({ arrived, answered }: Hints, ended: EndedCandidate, idle: number): boolean => {
  const reason = endReasonOf(ended);
  if (ENDS_ALL.has(reason)) return false;
  if (arrived !== answered) return idle < MAX_IDLE_SCANS;
  return arrived > 0 && reason === 'UNCHANGED' && idle === 1;
};

/** A closed server takes no candidate until somebody opens it: scanning again would end the same way. */
const isClosed = (ended: EndedCandidate): boolean =>
  ended.state === 'RETIRED' && ended.evidence['moved'] === 'closed';

/** The three answers together, as a run is given them. */
export const ROUNDS = { afterScan, asksTailAgain, asksScan } as const;
export type RoundRules = typeof ROUNDS;
