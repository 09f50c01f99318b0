/**
 * The durable discovery: discoveryRun.ts with activities as its steps. It holds ids and digests only, so that a catalog of
 * any size costs a few dozen events.
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
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { DiscoveryActivities } from '../activities/activityTypes.js';
import type { DiscoveryResult } from '../domain/discoveryResult.js';
import { endReasonOf, isEnded } from '../domain/generation.js';
import { ROUNDS } from '../domain/rounds.js';
import { type DiscoveryInput, HINT_SIGNAL, SEARCH_ATTRIBUTES } from './contract.js';
import { type RunDisplay, type RunSteps, runDiscovery } from './discoveryRun.js';
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
  // Judging and sealing give the loop turns; the longest stretch is reading one page, or writing out the artifact.
  heartbeatTimeout: '10s',
});
const { promote, recordEnd } = proxyActivities<DiscoveryActivities>({
  ...COMMON,
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '3s',
});

const hint = defineSignal(HINT_SIGNAL);

/** How long hints gather before a scan that they ask for, and a server has to list what it has announced. */
const SETTLE = '2s';

export async function discovery({ key, pendingHint }: DiscoveryInput): Promise<DiscoveryResult> {
  let arrived = pendingHint === true ? 1 : 0;
  setHandler(hint, () => {
    arrived++;
  });
  const end = await runDiscovery({
    key,
    steps: stepsOf(key.server),
    rules: ROUNDS,
    display,
    hintsArrived: () => arrived,
    scanId: (round) => `${workflowInfo().runId}/${round}`,
    isCancellation,
    isHistoryLong: () => workflowInfo().continueAsNewSuggested,
  });
  if (end === null) return await continueAsNew<typeof discovery>({ key, pendingHint: true });
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

const stepsOf = (server: string): RunSteps => ({
  settle: () => sleep(SETTLE, { summary: 'let hints gather' }),
  scanPages: (input, { pages }) =>
    scanPages.executeWithOptions(
      { summary: `read ${server}${input.segment === 0 ? '' : ` after ${pages ?? 0} pages`}` },
      [input],
    ),
  verifyTail: (input, { pages }, again) =>
    verifyTail.executeWithOptions(
      {
        summary: again
          ? `ask ${server} once more: a hint came`
          : `ask ${server} again after ${pages ?? 0} pages`,
      },
      [input],
    ),
  checkContract: (input, { tools }) =>
    checkContract.executeWithOptions({ summary: `check ${tools ?? 0} tools` }, [input]),
  seal: (input, { tools, quarantined }) =>
    seal.executeWithOptions({ summary: `seal ${tools} tools, ${quarantined} of them quarantined` }, [input]),
  promote: (input, generation) =>
    promote.executeWithOptions({ summary: `make generation ${generation} active` }, [input]),
  recordEnd: (input) =>
    CancellationScope.nonCancellable(() =>
      recordEnd.executeWithOptions({ summary: `note ${input.result.state}: ${input.result.reason}` }, [
        input,
      ]),
    ),
});

const display: RunDisplay = {
  began: () =>
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.state, value: 'DISCOVERING' },
      // What an earlier round ended with is no reason of this one.
      { key: SEARCH_ATTRIBUTES.reason, value: null },
    ]),
  moved: (candidate) =>
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.state, value: candidate.state },
      ...(isEnded(candidate) ? [{ key: SEARCH_ATTRIBUTES.reason, value: endReasonOf(candidate) }] : []),
      ...(candidate.state === 'ELIGIBLE'
        ? [{ key: SEARCH_ATTRIBUTES.generation, value: candidate.generation }]
        : []),
    ]),
  show: (candidate, counts, step, note) =>
    setCurrentDetails(describeCandidate(candidate, { ...counts, step, note })),
};
