/** One schedule through both sides: the oracle judges the real one, and both must have gone the same way to the same end. */
import { judge } from './oracle.js';
import { asReal, type RealParts, runRealRound } from './realRound.js';
import { runRound, type Verdict } from './round.js';
import type { Schedule } from './schedule.js';
import { createSimulation } from './simulation.js';

/** @returns what is wrong; nothing where all agree */
export const disagreements = async (schedule: Schedule, parts: RealParts): Promise<readonly string[]> => {
  const real = await runRealRound(asReal(schedule), parts);
  const simulated = await runRound(asReal(schedule), createSimulation(), true);
  return [...judge(real.world.facts), ...differences(real, simulated)];
};

const differences = (real: Verdict, simulated: Verdict): readonly string[] => {
  const way = (verdict: Verdict): readonly string[] => [
    ...(verdict.world.trace ?? []),
    `end: ${verdict.reason}`,
  ];
  const [there, here] = [way(real), way(simulated)];
  const at = here.findIndex((line, index) => line !== there[index]);
  if (at === -1 && here.length === there.length) return [];
  const where = at === -1 ? here.length : at;
  return [
    `the real round ended ${real.reason}, the simulation ${simulated.reason}; they part at "${there[where]}" and "${here[where]}"`,
  ];
};
