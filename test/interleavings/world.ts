/**
 * One round while it runs: at each moment of a discovery it does what the schedule has planned for it, and writes down
 * what was true. Simulation and real rounds pass the same moments, so that one schedule means the same to both.
 */

import type { Act, Kind } from './acts.js';
import { type Attempt, killed } from './attempt.js';
import type { Fact } from './history.js';
import type { Planned, Schedule } from './schedule.js';
import { ScriptedSource, type SourceAct } from './scriptedSource.js';

/** Acts of operators and of a competing candidate, as a side carries them out. */
export interface Operator {
  policy(): Promise<void> | void;
  trust(): Promise<void> | void;
  announce(identity: string): Promise<void> | void;
  setClosed(closed: boolean): Promise<void> | void;
  /** @returns whether the acceptance was taken */
  accept(scan: string): Promise<boolean> | boolean;
}

interface Sleeper {
  readonly attempt: Attempt;
  readonly wake: () => void;
  moments: number;
  work: Promise<unknown> | null;
}

export class World {
  readonly schedule: Schedule;
  readonly source: ScriptedSource;
  readonly facts: Fact[] = [];
  readonly sleepers: Sleeper[] = [];
  /** Kinds of which something was done. */
  readonly done = new Set<Kind>();
  /** Each moment with what was done at it; null where nobody wants to read it. */
  readonly trace: string[] | null;
  hints = 0;
  lastEnded = '';
  /** Candidates that have competed with the run. */
  rivals = 0;
  #run = -1;
  #moment = 0;
  #next = 0;
  readonly #operator: Operator;
  readonly #compete: () => Promise<void>;
  #sourceMoved: () => void;

  constructor(
    schedule: Schedule,
    parts: {
      operator: Operator;
      compete(world: World): Promise<void>;
      traced: boolean;
      sourceMoved?: (world: World) => void;
    },
  ) {
    this.schedule = schedule;
    this.source = new ScriptedSource(schedule);
    this.trace = parts.traced ? [] : null;
    this.#operator = parts.operator;
    this.#compete = () => parts.compete(this);
    this.#sourceMoved = () => parts.sourceMoved?.(this);
    this.facts.push({ fact: 'source', ...this.source.truth });
  }

  async beginRun(run: number): Promise<void> {
    this.#run = run;
    this.#moment = -1;
    this.hints = 0;
    while ((this.schedule.plan[this.#next]?.run ?? run) < run) this.#next++;
    await this.#due('before the run', null);
    this.#moment = 0;
  }

  moment(name: string, attempt: Attempt): Promise<void> | undefined {
    const at = this.#moment++;
    this.trace?.push(`${this.#run}/${at} ${attempt.scan} ${name}`);
    for (const sleeper of this.sleepers) sleeper.moments--;
    const planned = this.schedule.plan[this.#next];
    const due = planned !== undefined && planned.run === this.#run && planned.at <= at;
    return due || this.sleepers.some(({ moments }) => moments <= 0) ? this.#due(name, attempt) : undefined;
  }

  /** Wakes those whose time has come, or all; each goes on to its end before anything else does. */
  async wake(all: boolean): Promise<void> {
    for (const sleeper of [...this.sleepers]) {
      if (!all && sleeper.moments > 0) continue;
      this.sleepers.splice(this.sleepers.indexOf(sleeper), 1);
      this.trace?.push(`  a frozen worker wakes: ${sleeper.attempt.claim} of ${sleeper.attempt.scan}`);
      sleeper.wake();
      await sleeper.work?.catch(() => undefined);
    }
  }

  async #due(name: string, attempt: Attempt | null): Promise<void> {
    await this.wake(false);
    let end: { act: 'crash' } | { act: 'freeze'; moments: number } | null = null;
    for (;;) {
      const planned = this.schedule.plan[this.#next];
      if (planned === undefined || planned.run !== this.#run || planned.at > Math.max(this.#moment - 1, -1))
        break;
      const { act } = planned;
      if (act.do === 'freeze' && name !== 'store') break;
      this.#next++;
      this.#count(planned);
      if (act.do === 'crash') end = { act: 'crash' };
      else if (act.do === 'freeze') end = { act: 'freeze', moments: act.moments };
      else await this.#perform(act);
      if (end !== null) break;
    }
    if (end === null || attempt === null) return;
    if (end.act === 'crash') throw killed();
    const asleep = attempt.freeze();
    for (const sleeper of this.sleepers) if (sleeper.attempt === attempt) sleeper.moments = end.moments;
    await asleep;
  }

  #count({ act, kind }: Planned): void {
    this.done.add(kind);
    this.trace?.push(`  ${JSON.stringify(act)} (${kind})`);
  }

  async #perform(act: Exclude<Act, { do: 'crash' | 'freeze' }>): Promise<void> {
    const operator = this.#operator;
    switch (act.do) {
      case 'hint':
        this.hints++;
        this.facts.push({ fact: 'hint' });
        return;
      case 'policy':
      case 'trust':
        await operator[act.do]();
        this.facts.push({ fact: act.do });
        return;
      case 'announce': {
        const identity = this.source.identity === 'a' ? 'b' : 'a';
        await operator.announce(identity);
        this.facts.push({ fact: 'announced', identity });
        return;
      }
      case 'close':
      case 'open':
        await operator.setClosed(act.do === 'close');
        this.facts.push({ fact: act.do === 'close' ? 'closed' : 'opened' });
        return;
      case 'compete':
        await this.#compete();
        return;
      case 'accept':
        if (await operator.accept(this.lastEnded))
          this.facts.push({ fact: 'accepted', scan: this.lastEnded });
        return;
      default:
        this.source.apply(act satisfies SourceAct);
        this.#sourceMoved();
        this.facts.push({ fact: 'source', ...this.source.truth });
    }
  }
}
