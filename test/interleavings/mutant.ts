/** A core with one guard less, and the ways to take one out. */
import type { Kind } from './acts.js';
import { CORE, type Core, FENCES, type Fence } from './core.js';

export interface Mutant {
  readonly name: string;
  readonly core: Core;
  /** What has to happen for the guard to matter: rounds of these kinds find it soonest. */
  readonly kinds: readonly [Kind, ...Kind[]];
}

type Accept = Core['acceptPage'];
export const accepting = (name: string, kinds: Mutant['kinds'], acceptPage: Accept): Mutant => ({
  name,
  kinds,
  core: { ...CORE, acceptPage },
});
export const fencing = (name: string, kinds: Mutant['kinds'], fence: Fence): Mutant => ({
  name,
  kinds,
  core: { ...CORE, fences: { ...FENCES, [fence]: () => true } },
});
export const ruling = (name: string, kinds: Mutant['kinds'], rules: Partial<Core['rounds']>): Mutant => ({
  name,
  kinds,
  core: { ...CORE, rounds: { ...CORE.rounds, ...rules } },
});
/** A hold that does not hold. */
export const letting = (name: string, kinds: Mutant['kinds'], ...reasons: readonly string[]): Mutant => ({
  name,
  kinds,
  core: {
    ...CORE,
    judgeWithAcceptances: (...given) => {
      const judged = CORE.judgeWithAcceptances(...given);
      const lets = judged.continuity.kind === 'held' && reasons.includes(judged.continuity.reason);
      return lets ? { continuity: { kind: 'follows' }, restsOn: [] } : judged;
    },
  },
});
