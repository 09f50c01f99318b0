/** Looks for the round in which a core without one of its guards is found out, and the whole core is not. */
import { CORE, type Core } from './core.js';
import type { Mutant } from './mutant.js';
import { judge } from './oracle.js';
import { runRound } from './round.js';
import { type Schedule, scheduleOf } from './schedule.js';
import { createSimulation } from './simulation.js';

const judged = async (schedule: Schedule, core: Core): Promise<readonly string[]> =>
  judge((await runRound(schedule, createSimulation({ core }), false)).world.facts);

/**
 * The first round in which the oracle disagrees with this core alone, with what it says; null where `most` rounds show nothing.
 * @param fitted what a round is made to be, where the real parts could run it otherwise
 */
export const findDisagreement = async (
  { core, kinds }: Mutant,
  seed: number,
  most: number,
  fitted: (schedule: Schedule) => Schedule = (schedule) => schedule,
): Promise<{ readonly schedule: Schedule; readonly says: string } | null> => {
  for (let round = 0; round < most; round++) {
    const schedule = fitted(scheduleOf(seed, round, kinds));
    const [says] = await judged(schedule, core);
    // An oracle that disagrees with the whole core too has found no guard, but a fault of its own.
    if (says !== undefined && (await judged(schedule, CORE)).length === 0) return { schedule, says };
  }
  return null;
};
