/**
 * Turns on the event loop for long work on a source's own bytes: the loop is shared with the scans and heartbeats of
 * every tenant. Counted work, never a clock, says when a turn is over.
 */
import { setImmediate as immediate } from 'node:timers/promises';

/** About a microsecond each, as in DescriptorCheck. */
const WORK_PER_TURN = 10_000;

let last: Promise<void> = Promise.resolve();

/** One waiter goes on in each round of the loop: twenty such scans hold it up no longer at a time than one does. */
const nextTurn = (): Promise<void> => {
  last = last.then(() => immediate());
  return last;
};

/** Counts the work of one activity, and waits for a turn where there was enough of it. */
export type Turns = (work: number) => Promise<void>;

/** @param signal where it is aborted, the next turn rejects with its reason: another attempt may have the work */
export const turnsUntil = (signal: AbortSignal): Turns => {
  let done = 0;
  return async (work) => {
    done += work;
    if (done < WORK_PER_TURN) return;
    done = 0;
    await nextTurn();
    signal.throwIfAborted();
  };
};

/** Characters of a source text that are gone through in a microsecond. */
const CHARACTERS_PER_WORK = 10;

/** Runs what yields the characters of source text that it has gone through since. */
export const inTurns = async <T>(steps: Generator<number, T, void>, turns: Turns): Promise<T> => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await turns(value / CHARACTERS_PER_WORK);
  }
};
