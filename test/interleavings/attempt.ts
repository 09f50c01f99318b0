/** An attempt of a step, as Temporal would make it: it can be killed, or frozen and woken after another took over. */
import { ApplicationFailure } from '@temporalio/common';
import type { Fact } from './history.js';
import type { Answer } from './scriptedSource.js';
import type { World } from './world.js';

/** A worker that dies: no fault of the source or of Genlock's own, so that a retry follows. */
export const killed = (): ApplicationFailure => ApplicationFailure.retryable('killed', 'KILLED');
export const isKill = (error: unknown): boolean =>
  error instanceof Error && 'type' in error && error.type === 'KILLED';

export class Attempt {
  readonly world: World;
  readonly scan: string;
  readonly claim: string;
  readonly number: number;
  /** Whether another attempt has its place: it passes no moments any more. */
  gone: boolean;
  /** What a real attempt has asked its source last. */
  asked: Promise<unknown> | null = null;
  /** Rejects where the attempt is frozen. */
  readonly frozen: Promise<never>;
  freeze: () => Promise<void> = async () => undefined;

  constructor(world: World, scan: string, segment: number, number: number, gone: boolean) {
    this.world = world;
    this.scan = scan;
    this.claim = `${segment}.${number}`;
    this.number = number;
    this.gone = gone;
    this.frozen = new Promise<never>((_, reject) => {
      this.freeze = () => {
        this.gone = true;
        reject(new Error('frozen'));
        return new Promise<void>((wake) =>
          this.world.sleepers.push({ attempt: this, wake, moments: 0, work: null }),
        );
      };
    });
    this.frozen.catch(() => undefined);
  }

  /** One moment. Nothing to wait for where nothing is planned. */
  at(name: string): Promise<void> | undefined {
    return this.gone ? undefined : this.world.moment(name, this);
  }

  answered(part: 'page' | 'tail', answer: Answer): void {
    const { scan, claim } = this;
    this.world.facts.push(
      answer.kind === 'page'
        ? { fact: part, scan, claim, page: answer.page }
        : { fact: 'fault', scan, what: answer.what },
    );
  }

  note(fact: Fact): void {
    this.world.facts.push(fact);
  }
}
