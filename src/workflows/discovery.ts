/**
 * The durable discovery: pages, tail, contract, seal, promotion, as steps of the pure machine in
 * domain/transitions.ts. It holds ids and digests only, so that a catalog of any size costs a few dozen events.
 */
import {
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { DiscoveryActivities, ScanStep, Stop, Superseded } from '../activities/activityTypes.js';
import type { DiscoveryResult } from '../domain/discoveryResult.js';
import type { StepName } from '../domain/discoverySteps.js';
import type { EndReason } from '../domain/endReasons.js';
import type { Candidate, EndedCandidate } from '../domain/generation.js';
import { endReasonOf } from '../domain/generation.js';
import { MAX_ROUNDS } from '../domain/scanLimits.js';
import { type ScanEvent, step } from '../domain/transitions.js';
import { type DiscoveryInput, HINT_SIGNAL, SEARCH_ATTRIBUTES } from './contract.js';
import { describeCandidate, failureMessage } from './discoveryText.js';

const RETRY = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' } as const;
const COMMON = {
  retry: RETRY,
  // The SDK's own default gives an activity up as soon as it asks it to stop: a promotion could still commit after that.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
} as const;

/**
 * For what works on a source's own bytes: many workers may be lost, but a list that ends every worker that takes it up
 * comes to an end itself. Steps that only move what is already judged wait for as long as the store is away.
 */
const UNTRUSTED = { ...COMMON, retry: { ...RETRY, maximumAttempts: 20 } } as const;

// A scan may take as long as its own limits say; a dead worker shows by its missing heartbeat within seconds.
const { scanPages } = proxyActivities<DiscoveryActivities>({
  ...UNTRUSTED,
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '3s',
});
const { verifyTail } = proxyActivities<DiscoveryActivities>({
  ...UNTRUSTED,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '3s',
});
const { checkContract, seal } = proxyActivities<DiscoveryActivities>({
  ...UNTRUSTED,
  startToCloseTimeout: '10 minutes',
  // Sealing 10,000 tools holds the event loop for a second or two, and with it the heartbeat.
  heartbeatTimeout: '10s',
});
const { promote, recordEnd } = proxyActivities<DiscoveryActivities>({
  ...COMMON,
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '3s',
});

const hint = defineSignal(HINT_SIGNAL);

/** Tail verifications that hints may ask for before a promotion goes on all the same. */
const MAX_TAILS = 3;
/** After so many scans one run hands over to a fresh history. */
const MAX_SCANS_PER_RUN = 20;
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

export async function discovery({ key, pendingHint }: DiscoveryInput): Promise<DiscoveryResult> {
  let arrived = pendingHint === true ? 1 : 0;
  setHandler(hint, () => {
    arrived++;
  });

  let current: Candidate = { state: 'DISCOVERING', key, scan: '' };
  let counts: { pages: number | null; tools: number | null } = { pages: null, tools: null };

  const show = (step?: StepName, note?: string): void =>
    setCurrentDetails(describeCandidate(current, { ...counts, step, note }));
  const advance = (event: ScanEvent): Candidate => {
    const result = step(current, event);
    // The workflow's own code asks for these edges, so a refusal is a fault of the code, not of a source.
    if (!result.ok)
      throw ApplicationFailure.nonRetryable(`no edge from ${result.from} on ${result.event}`, 'INTERNAL');
    current = result.next;
    const ended = asEnded(current);
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.state, value: current.state },
      ...(ended === null ? [] : [{ key: SEARCH_ATTRIBUTES.reason, value: endReasonOf(ended) }]),
      ...(current.state === 'ELIGIBLE'
        ? [{ key: SEARCH_ATTRIBUTES.generation, value: current.generation }]
        : []),
    ]);
    show();
    return current;
  };
  const stop = ({ state, reason, evidence }: Stop): Candidate =>
    advance(
      state === 'INCOMPLETE'
        ? { type: 'incomplete', reason, evidence }
        : { type: 'quarantined', reason, evidence },
    );

  /** One scan from the first page to an end. `mark` of the answer: the hints that it has answered. */
  const runScan = async (scan: string, round: number): Promise<number> => {
    const input: ScanStep = { key, scan };
    current = { state: 'DISCOVERING', key, scan };
    counts = { pages: null, tools: null };
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.state, value: 'DISCOVERING' },
      // What an earlier round ended with is no reason of this one.
      { key: SEARCH_ATTRIBUTES.reason, value: null },
    ]);
    show(
      'scanPages',
      round === 0 ? undefined : `Round ${round + 1}: the list moved or may have, so the scan began again.`,
    );
    let mark = arrived;

    for (let segment = 0; ; segment++) {
      const pages = await scanPages.executeWithOptions(
        { summary: `read ${key.server}${segment === 0 ? '' : ` after ${counts.pages ?? 0} pages`}` },
        [{ ...input, round, segment }],
      );
      if (pages.kind === 'stop') {
        stop(pages);
        return mark;
      }
      counts = { pages: pages.pages, tools: pages.tools };
      if (pages.kind === 'more') {
        show('scanPages');
        continue;
      }
      if (pages.kind === 'unversioned') {
        advance({
          type: 'pagesUnversioned',
          pages: pages.pages,
          tools: pages.tools,
          observed: pages.observed,
        });
        return mark;
      }
      advance({ type: 'pagesComplete', pages: pages.pages, tools: pages.tools, revision: pages.revision });
      break;
    }

    mark = arrived;
    show('verifyTail');
    const tail = await verifyTail.executeWithOptions(
      { summary: `ask ${key.server} again after ${counts.pages ?? 0} pages` },
      [input],
    );
    if (tail.kind === 'stop') {
      stop(tail);
      return mark;
    }
    advance({ type: 'tailBound', pageRoot: tail.pageRoot });

    show('checkContract');
    const checked = await checkContract.executeWithOptions({ summary: `check ${counts.tools ?? 0} tools` }, [
      input,
    ]);
    if (checked.kind === 'stop') {
      stop(checked);
      return mark;
    }
    if (checked.kind === 'unchanged') {
      const { generation, freshUntil } = checked;
      const evidence = { generation, freshUntil };
      advance({ type: 'retired', reason: 'UNCHANGED', successor: generation, freshUntil, evidence });
      return mark;
    }
    if (checked.kind === 'retired') {
      advance(superseded(checked));
      return mark;
    }
    show('seal');
    const sealed = await seal.executeWithOptions(
      { summary: `seal ${checked.tools} tools, ${checked.quarantined} of them quarantined` },
      [input],
    );
    if (sealed.kind === 'stop') {
      stop(sealed);
      return mark;
    }
    // A hint that came meanwhile asks for one more tail. Restarting at each hint instead would starve.
    for (let tails = 1; arrived !== mark && tails < MAX_TAILS; tails++) {
      mark = arrived;
      const again = await verifyTail.executeWithOptions(
        { summary: `ask ${key.server} once more: a hint came` },
        [input],
      );
      if (again.kind === 'stop') {
        stop(again);
        return mark;
      }
    }
    show('promote');
    const outcome = await promote.executeWithOptions(
      { summary: `make generation ${sealed.generation} active` },
      [input],
    );
    if (outcome.kind === 'promoted') {
      const { generation, policyEpoch, receipt } = outcome;
      advance({ type: 'promoted', generation, policyEpoch, receipt });
    } else {
      advance(superseded(outcome));
    }
    return mark;
  };

  const result = (): DiscoveryResult => {
    const ended = asEnded(current);
    if (ended === null) throw ApplicationFailure.nonRetryable('the scan has not ended', 'INTERNAL');
    return {
      state: ended.state,
      reason: endReasonOf(ended),
      scan: ended.scan,
      generation:
        ended.state === 'ELIGIBLE' ? ended.generation : ended.state === 'RETIRED' ? ended.successor : null,
      tools: counts.tools,
      pages: counts.pages,
      receipt: ended.state === 'ELIGIBLE' ? ended.receipt : null,
      evidence: 'evidence' in ended ? ended.evidence : {},
    };
  };

  const noteEnd = (): Promise<void> => {
    const end = result();
    return recordEnd.executeWithOptions({ summary: `note ${end.state}: ${end.reason}` }, [
      { key, result: end },
    ]);
  };

  let restarts = 0;
  let cursorRestarts = 0;
  for (let round = 0; ; round++) {
    let mark = arrived;
    try {
      mark = await runScan(`${workflowInfo().runId}/${round}`, round);
    } catch (error) {
      if (asEnded(current) !== null) throw error;
      if (isCancellation(error))
        stop({ kind: 'stop', state: 'INCOMPLETE', reason: 'CANCELLED', evidence: {} });
      else
        stop({
          kind: 'stop',
          state: 'INCOMPLETE',
          reason: 'INTERNAL',
          evidence: { failure: failureType(error) },
        });
    }
    let ended = asEnded(current);
    if (ended !== null && RESTARTS.has(endReasonOf(ended)) && !isClosed(ended)) {
      restarts++;
      if (endReasonOf(ended) === 'CURSOR_EXPIRED') cursorRestarts++;
      const again = restarts < MAX_ROUNDS && cursorRestarts <= MAX_CURSOR_RESTARTS;
      if (!again && ended.state === 'INCOMPLETE' && ended.reason === 'REVISION_CHANGED') {
        current = {
          ...ended,
          reason: 'REVISION_UNSTABLE',
          evidence: { rounds: restarts, last: ended.evidence },
        };
        upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.reason, value: 'REVISION_UNSTABLE' }]);
        show();
        ended = current;
      }
      await CancellationScope.nonCancellable(() => noteEnd());
      if (again) continue;
    } else if (ended?.state !== 'ELIGIBLE') {
      await CancellationScope.nonCancellable(() => noteEnd());
    }

    // No await stands between this check and the return: a hint that comes later fails the completion and is seen.
    // A hint that came during a scan which failed asks for a new one as well: what it tells of may have mended the list.
    if (arrived === mark || (ended?.state === 'INCOMPLETE' && ENDS_ALL.has(ended.reason))) break;
    restarts = 0;
    cursorRestarts = 0;
    if (round + 1 >= MAX_SCANS_PER_RUN || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof discovery>({ key, pendingHint: true });
    }
  }

  const end = result();
  if (end.state === 'INCOMPLETE' || end.state === 'QUARANTINED') {
    // Shown as failed, so that an operator who filters by status finds what needs a person.
    const failure = ApplicationFailure.create({
      message: failureMessage(end),
      type: end.reason,
      nonRetryable: true,
      details: [end],
    });
    // An expected end: frames of this file would only push the evidence out of sight.
    failure.stack = '';
    throw failure;
  }
  return end;
}

const asEnded = (candidate: Candidate): EndedCandidate | null =>
  candidate.state === 'DISCOVERING' ||
  candidate.state === 'VALIDATING' ||
  candidate.state === 'SNAPSHOT_PROVEN'
    ? null
    : candidate;

const superseded = ({ reason, successor, evidence }: Superseded): ScanEvent => ({
  type: 'retired',
  reason,
  successor,
  freshUntil: null,
  evidence,
});

/** A closed server takes no candidate until somebody opens it: scanning again would end the same way. */
const isClosed = (ended: EndedCandidate): boolean =>
  ended.state === 'RETIRED' && ended.evidence['moved'] === 'closed';

/** The stable type of a failure, never its message: a message can hold what a driver or a source said. */
const failureType = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof ApplicationFailure) return cause.type ?? 'INTERNAL';
  return cause instanceof Error ? cause.name : 'INTERNAL';
};
