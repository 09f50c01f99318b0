/**
 * Runs a schedule: the workflow's own order of steps (src/workflows/discoveryRun.ts), with attempts that die or freeze as
 * Temporal's would, over steps that are either simulated or the real activities.
 */
import type { DiscoveryActivities } from '../../src/activities/activityTypes.js';
import type { DiscoveryResult } from '../../src/domain/discoveryResult.js';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import type { RoundRules } from '../../src/domain/rounds.js';
import { runDiscovery } from '../../src/workflows/discoveryRun.js';
import type { Kind } from './acts.js';
import { Attempt, isKill } from './attempt.js';
import type { Tool } from './history.js';
import type { Schedule } from './schedule.js';
import { type Operator, World } from './world.js';

type Step = 'scanPages' | 'verifyTail' | 'checkContract' | 'seal' | 'promote' | 'recordEnd';

/** Steps and store of one key. */
export interface Side {
  readonly key: DiscoveryKey;
  readonly rules: RoundRules;
  readonly operator: Operator;
  step<S extends Step>(
    step: S,
    attempt: Attempt,
    input: Parameters<DiscoveryActivities[S]>[0],
  ): ReturnType<DiscoveryActivities[S]>;
  sourceMoved?(world: World): void;
  /** The tools that callers are served; null for none. */
  serving(): Promise<readonly Tool[] | null> | readonly Tool[] | null;
}

export interface Verdict {
  readonly schedule: Schedule;
  readonly state: string;
  readonly reason: string;
  readonly accepted: boolean;
  readonly world: World;
  readonly kinds: ReadonlySet<Kind>;
}

const MAX_ATTEMPTS = 20;

const isOurs = (error: unknown, attempt: Attempt): boolean => attempt.gone || isKill(error);

const discover = (
  side: Side,
  world: World,
  prefix: string,
  rival: boolean,
): Promise<DiscoveryResult | null> => {
  const attempting = async <S extends Step>(
    step: S,
    input: Parameters<DiscoveryActivities[S]>[0] & { scan?: string; segment?: number },
  ): Promise<Awaited<ReturnType<DiscoveryActivities[S]>>> => {
    const scan = input.scan ?? '';
    if (step !== 'recordEnd') world.facts.push({ fact: 'step', scan, step });
    for (let number = 1; ; number++) {
      const attempt = new Attempt(world, scan, input.segment ?? 0, number, rival);
      const work = side.step(step, attempt, input) as Promise<Awaited<ReturnType<DiscoveryActivities[S]>>>;
      try {
        return await Promise.race([work, attempt.frozen]);
      } catch (error) {
        if (number >= MAX_ATTEMPTS || rival || !isOurs(error, attempt)) throw error;
        for (const sleeper of world.sleepers) if (sleeper.attempt === attempt) sleeper.work = work;
        work.catch(() => undefined);
      }
    }
  };
  const ended = (scan: string, state: string, reason: string): void => {
    world.facts.push({ fact: 'scanEnd', scan, state, reason });
    if (!rival) world.lastEnded = scan;
  };
  return runDiscovery({
    key: side.key,
    rules: side.rules,
    hintsArrived: () => (rival ? 0 : world.hints),
    scanId: (round) => `${prefix}/${round}`,
    isCancellation: () => false,
    isHistoryLong: () => false,
    display: { began: () => undefined, moved: () => undefined, show: () => undefined },
    steps: {
      scanPages: (input) => attempting('scanPages', input),
      verifyTail: (input) => attempting('verifyTail', input),
      checkContract: async (input) => {
        const result = await attempting('checkContract', input);
        if (result.kind === 'unchanged') ended(input.scan, 'RETIRED', 'UNCHANGED');
        return result;
      },
      seal: (input) => attempting('seal', input),
      promote: async (input) => {
        const result = await attempting('promote', input);
        if (result.kind === 'promoted') ended(input.scan, 'ELIGIBLE', 'PROMOTED');
        return result;
      },
      settle: async () => undefined,
      recordEnd: async (input) => {
        await attempting('recordEnd', input);
        ended(input.result.scan, input.result.state, input.result.reason);
      },
    },
  });
};

/** @param traced whether the verdict's world keeps each moment */
export const runRound = async (schedule: Schedule, side: Side, traced: boolean): Promise<Verdict> => {
  const world = new World(schedule, {
    operator: side.operator,
    traced,
    ...(side.sourceMoved === undefined ? {} : { sourceMoved: (moved) => side.sourceMoved?.(moved) }),
    compete: async (at) => {
      await discover(side, at, `rival${++at.rivals}`, true);
    },
  });
  let last: DiscoveryResult | null = null;
  for (let run = 0; run < schedule.runs; run++) {
    await world.beginRun(run);
    world.facts.push({ fact: 'runBegin' });
    last = await discover(side, world, `run${run}`, false);
    await world.wake(true);
    if (last !== null) world.facts.push({ fact: 'runEnd', scan: last.scan, reason: last.reason });
    world.facts.push({ fact: 'serving', tools: await side.serving() });
  }
  const reason = last?.reason ?? 'HANDED_OVER';
  const accepted = reason === 'PROMOTED' || reason === 'UNCHANGED';
  return { schedule, state: last?.state ?? '', reason, accepted, world, kinds: world.done };
};
