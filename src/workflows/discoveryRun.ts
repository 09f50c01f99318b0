/**
 * The order of a discovery: pages, tail, contract, seal, promotion, and the rounds around them, as steps of the pure machine
 * in domain/transitions.ts. It knows nothing of Temporal's sandbox: discovery.ts gives it durable steps, tests give others.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { DiscoveryActivities, ScanStep, Stop, Superseded } from '../activities/activityTypes.js';
import type { DiscoveryResult } from '../domain/discoveryResult.js';
import type { StepName } from '../domain/discoverySteps.js';
import type { Candidate, DiscoveryKey, EndedCandidate } from '../domain/generation.js';
import { endReasonOf, isEnded } from '../domain/generation.js';
import { type Hints, NO_RESTARTS, type RoundRules } from '../domain/rounds.js';
import { type ScanEvent, step } from '../domain/transitions.js';

/** After so many scans one run hands over to a fresh history. */
const MAX_SCANS_PER_RUN = 10;

export interface Counts {
  readonly pages: number | null;
  readonly tools: number | null;
}

type Input<S extends keyof DiscoveryActivities> = Parameters<DiscoveryActivities[S]>[0];
type Output<S extends keyof DiscoveryActivities> = ReturnType<DiscoveryActivities[S]>;

/** The steps; `counts` and the results before are for telling an operator what is done. */
export interface RunSteps {
  scanPages(input: Input<'scanPages'>, counts: Counts): Output<'scanPages'>;
  verifyTail(input: ScanStep, counts: Counts, again: boolean): Output<'verifyTail'>;
  checkContract(input: ScanStep, counts: Counts): Output<'checkContract'>;
  seal(
    input: ScanStep,
    checked: Extract<Awaited<Output<'checkContract'>>, { readonly kind: 'checked' }>,
  ): Output<'seal'>;
  promote(input: ScanStep, generation: number): Output<'promote'>;
  /** Runs to its end also where the run was cancelled. */
  recordEnd(input: Input<'recordEnd'>): Output<'recordEnd'>;
  /** Lets hints gather before a scan that they ask for, so that a storm of them costs few. */
  settle(): Promise<void>;
}

/** What shows of a run while it goes on. */
export interface RunDisplay {
  /** A scan begins, at the first page. */
  began(candidate: Candidate): void;
  /** The candidate has another state, or an end another reason. */
  moved(candidate: Candidate): void;
  show(candidate: Candidate, counts: Counts, step?: StepName, note?: string): void;
}

export interface DiscoveryRun {
  readonly key: DiscoveryKey;
  readonly steps: RunSteps;
  readonly rules: RoundRules;
  readonly display: RunDisplay;
  /** Hints since the run began, this one's input included. */
  hintsArrived(): number;
  scanId(round: number): string;
  isCancellation(error: unknown): boolean;
  isHistoryLong(): boolean;
}

/** @returns null where a hint waits for a scan that a fresh history is to run */
export const runDiscovery = async (run: DiscoveryRun): Promise<DiscoveryResult | null> => {
  const { key, steps, rules, display } = run;
  let current: Candidate = { state: 'DISCOVERING', key, scan: '' };
  let counts: Counts = { pages: null, tools: null };
  /** The hints that the scan has answered: those that came before its first page or its last tail. */
  let answered = 0;

  const hints = (): Hints => ({ arrived: run.hintsArrived(), answered });
  const show = (step?: StepName, note?: string): void => display.show(current, counts, step, note);
  const advance = (event: ScanEvent): void => {
    const result = step(current, event);
    // The run's own code asks for these edges, so a refusal is a fault of the code, not of a source.
    if (!result.ok)
      throw ApplicationFailure.nonRetryable(`no edge from ${result.from} on ${result.event}`, 'INTERNAL');
    current = result.next;
    display.moved(current);
    show();
  };
  const stop = ({ state, reason, evidence }: Stop): void =>
    advance(
      state === 'INCOMPLETE'
        ? { type: 'incomplete', reason, evidence }
        : { type: 'quarantined', reason, evidence },
    );

  /** @returns whether the pages are whole, and of a revision */
  const readPages = async (input: ScanStep, round: number): Promise<boolean> => {
    for (let segment = 0; ; segment++) {
      const pages = await steps.scanPages({ ...input, round, segment }, counts);
      if (pages.kind === 'stop') {
        stop(pages);
        return false;
      }
      counts = { pages: pages.pages, tools: pages.tools };
      switch (pages.kind) {
        case 'more':
          show('scanPages');
          break;
        case 'unversioned':
          advance({
            type: 'pagesUnversioned',
            pages: pages.pages,
            tools: pages.tools,
            observed: pages.observed,
          });
          return false;
        case 'complete':
          advance({
            type: 'pagesComplete',
            pages: pages.pages,
            tools: pages.tools,
            revision: pages.revision,
          });
          return true;
      }
    }
  };

  /** One scan from the first page to an end. */
  const runScan = async (scan: string, round: number): Promise<void> => {
    const input: ScanStep = { key, scan };
    current = { state: 'DISCOVERING', key, scan };
    counts = { pages: null, tools: null };
    display.began(current);
    show(
      'scanPages',
      round === 0 ? undefined : `Round ${round + 1}: the list moved or may have, so the scan began again.`,
    );
    answered = run.hintsArrived();
    if (!(await readPages(input, round))) return;

    answered = run.hintsArrived();
    show('verifyTail');
    const tail = await steps.verifyTail(input, counts, false);
    if (tail.kind === 'stop') return stop(tail);
    advance({ type: 'tailBound', pageRoot: tail.pageRoot });

    show('checkContract');
    const checked = await steps.checkContract(input, counts);
    if (checked.kind === 'stop') return stop(checked);
    if (checked.kind === 'unchanged') {
      const { generation, freshUntil } = checked;
      const evidence = { generation, freshUntil };
      return advance({ type: 'retired', reason: 'UNCHANGED', successor: generation, freshUntil, evidence });
    }
    if (checked.kind === 'retired') return advance(superseded(checked));
    show('seal');
    const sealed = await steps.seal(input, checked);
    if (sealed.kind === 'stop') return stop(sealed);
    for (let tails = 1; rules.asksTailAgain(hints(), tails); tails++) {
      answered = run.hintsArrived();
      const again = await steps.verifyTail(input, counts, true);
      if (again.kind === 'stop') return stop(again);
    }
    show('promote');
    const outcome = await steps.promote(input, sealed.generation);
    if (outcome.kind !== 'promoted') return advance(superseded(outcome));
    const { generation, policyEpoch, receipt } = outcome;
    advance({ type: 'promoted', generation, policyEpoch, receipt });
  };

  const noteEnd = (): Promise<void> => steps.recordEnd({ key, result: resultOf(current, counts) });

  let restarts = NO_RESTARTS;
  let idle = 0;
  for (let round = 0; ; round++) {
    const before = run.hintsArrived();
    try {
      await runScan(run.scanId(round), round);
    } catch (error) {
      if (isEnded(current)) throw error;
      answered = before;
      stop({ kind: 'stop', state: 'INCOMPLETE', ...fault(run, error) });
    }
    const after = rules.afterScan(restarts, ended(current));
    restarts = after.restarts;
    if (after.ended !== current) {
      current = after.ended;
      display.moved(current);
      show();
    }
    if (!isNoted(current)) await noteEnd();
    if (after.again) continue;

    // No await stands between this check and the return: a hint that comes later fails the completion and is seen.
    idle = current.state === 'ELIGIBLE' ? 0 : idle + 1;
    if (!rules.asksScan(hints(), after.ended, idle)) return resultOf(current, counts);
    restarts = NO_RESTARTS;
    try {
      await steps.settle();
    } catch (error) {
      if (!run.isCancellation(error)) throw error;
      return resultOf(current, counts);
    }
    if (round + 1 >= MAX_SCANS_PER_RUN || run.isHistoryLong()) return null;
  }
};

const ended = (candidate: Candidate): EndedCandidate => {
  if (!isEnded(candidate)) throw ApplicationFailure.nonRetryable('the scan has not ended', 'INTERNAL');
  return candidate;
};

/** A promotion and a renewal note their own end, in their own transaction. */
const isNoted = (candidate: Candidate): boolean =>
  isEnded(candidate) && ['PROMOTED', 'UNCHANGED'].includes(endReasonOf(candidate));

const resultOf = (candidate: Candidate, { pages, tools }: Counts): DiscoveryResult => {
  const end = ended(candidate);
  return {
    state: end.state,
    reason: endReasonOf(end),
    scan: end.scan,
    generation: end.state === 'ELIGIBLE' ? end.generation : end.state === 'RETIRED' ? end.successor : null,
    tools,
    pages,
    receipt: end.state === 'ELIGIBLE' ? end.receipt : null,
    evidence: 'evidence' in end ? end.evidence : {},
  };
};

const superseded = ({ reason, successor, evidence }: Superseded): ScanEvent => ({
  type: 'retired',
  reason,
  successor,
  freshUntil: null,
  evidence,
});

const fault = (run: DiscoveryRun, error: unknown) =>
  run.isCancellation(error)
    ? ({ reason: 'CANCELLED', evidence: {} } as const)
    : ({ reason: 'INTERNAL', evidence: { failure: failureType(error) } } as const);

/** The stable type of a failure, never its message: a message can hold what a driver or a source said. */
const failureType = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof ApplicationFailure) return cause.type ?? 'INTERNAL';
  return cause instanceof Error ? cause.name : 'INTERNAL';
};
