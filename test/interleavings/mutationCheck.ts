/** Looks for the round in which a core without one of its guards is found out. */
import type { Mutant } from './mutant.js';
import { judge } from './oracle.js';
import { runRound } from './round.js';
import { type Schedule, scheduleOf } from './schedule.js';
import { createSimulation } from './simulation.js';

/**
 * The first round in which the oracle disagrees, with what it says; null where `most` rounds show nothing.
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
    const { world } = await runRound(schedule, createSimulation({ core }), false);
    const [says] = judge(world.facts);
    if (says !== undefined) return { schedule, says };
  }
  return null;
};
