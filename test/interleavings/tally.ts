/** Counts a run, and says where it came short of what it is to show. */

import { KINDS, type Kind } from './acts.js';
import type { Verdict } from './round.js';

export interface Disagreement {
  readonly round: number;
  readonly real: boolean;
  readonly says: readonly string[];
}

/** Of 100 rounds; fewer or more accepted, and one half of the oracle would have little to judge. */
const ACCEPTED_SHARE = { least: 25, most: 75 };
/** Shares of fewer rounds are chance. */
export const FLOORS_FROM = 2_000;
/** What a full run is held to besides: it has so many rounds or more. */
const FULL = { rounds: 100_000, realRounds: 2_000, seconds: 300 };
/** Of 100 rounds each kind of fault must have happened in so many. */
const KIND_SHARE = 1;

export class Tally {
  readonly seed: number;
  readonly kinds = new Map<Kind, number>(KINDS.map((kind) => [kind, 0]));
  readonly #refused = new Map<string, number>();
  readonly disagreements: Disagreement[] = [];
  readonly uncaught: string[] = [];
  #rounds = 0;
  #accepted = 0;
  #mutants = 0;
  realRounds = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  add(verdict: Verdict, says: readonly string[]): void {
    this.#rounds++;
    if (verdict.accepted) this.#accepted++;
    else this.#refused.set(verdict.reason, (this.#refused.get(verdict.reason) ?? 0) + 1);
    for (const kind of verdict.kinds) this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    if (says.length > 0) this.disagreements.push({ round: verdict.schedule.round, real: false, says });
  }

  addMutant(name: string, caught: boolean): void {
    this.#mutants++;
    if (!caught) this.uncaught.push(name);
  }

  get judgesFloors(): boolean {
    return this.#rounds >= FLOORS_FROM;
  }

  /**
   * What the run failed to show; nothing where it is good.
   * @param asked real rounds that were asked for, and the seconds that the run took
   */
  shortfalls(asked: { readonly realRounds: number; readonly seconds: number }): readonly string[] {
    const least = Math.max(asked.realRounds, this.#rounds >= FULL.rounds ? FULL.realRounds : 0);
    return [
      ...this.uncaught.map((name) => `nothing disagreed with a core without: ${name}`),
      ...(this.realRounds < least ? [`${this.realRounds} real rounds, and not ${least}`] : []),
      ...(this.#rounds >= FULL.rounds && asked.seconds > FULL.seconds
        ? [`${Math.round(asked.seconds)} seconds, and not ${FULL.seconds}`]
        : []),
      ...(this.judgesFloors ? this.#belowFloors() : []),
    ];
  }

  #belowFloors(): readonly string[] {
    const share = (100 * this.#accepted) / this.#rounds;
    const { least, most } = ACCEPTED_SHARE;
    const floor = Math.floor((this.#rounds * KIND_SHARE) / 100);
    return [
      ...(share < least || share > most
        ? [`${share.toFixed(1)} % accepted, and not ${least}–${most} %`]
        : []),
      ...[...this.kinds]
        .filter(([, count]) => count < floor)
        .map(([kind, count]) => `${kind} in ${count} rounds, and not ${floor}`),
    ];
  }

  line(seconds: number): string {
    const refused = [...this.#refused].sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify({
      rounds: this.#rounds,
      realRounds: this.realRounds,
      accepted: this.#accepted,
      refused: Object.fromEntries(refused),
      disagreements: this.disagreements.length,
      mutantsCaught: `${this.#mutants - this.uncaught.length}/${this.#mutants}`,
      seconds: Math.round(seconds),
    });
  }
}
