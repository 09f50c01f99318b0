/** Long work shares the event loop: by counted work, and one of all that wait in each round of the loop. */
import { setImmediate as immediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inTurns, turnsUntil } from '../../../src/activities/turns.js';

const never = new AbortController().signal;
/** More than one turn's worth. */
const MUCH = 1_000_000;

/** Rounds of the loop until `work` is done. */
const roundsOf = async (work: Promise<unknown>): Promise<number> => {
  let done = false;
  const ended = work.finally(() => {
    done = true;
  });
  let rounds = 0;
  for (; !done; rounds++) await immediate();
  await ended;
  return rounds;
};

test('V4 the loop goes round between stretches of work, and not after each small piece', async () => {
  const spend = async (work: number, times: number): Promise<void> => {
    const turns = turnsUntil(never);
    for (let n = 0; n < times; n++) await turns(work);
  };
  expect(await roundsOf(spend(MUCH, 50))).toBeGreaterThanOrEqual(50);
  expect(await roundsOf(spend(1, 50))).toBeLessThan(5);
});

test('V4 however many work at a time, only one of them goes on in a round of the loop', async () => {
  let round = 0;
  let watching = true;
  const watch = (async () => {
    for (; watching; round++) await immediate();
  })();
  const stretches: number[] = [];
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const turns = turnsUntil(never);
      for (let n = 0; n < 10; n++) {
        await turns(MUCH);
        stretches.push(round);
      }
    }),
  );
  watching = false;
  await watch;
  expect(new Set(stretches).size).toBe(100);
});

test('D6 an attempt that was given up stops at its next turn', async () => {
  const attempt = new AbortController();
  let steps = 0;
  function* work(): Generator<number, void, void> {
    for (;;) {
      steps += 1;
      if (steps === 3) attempt.abort(new Error('given up'));
      yield MUCH * 10;
    }
  }
  await expect(inTurns(work(), turnsUntil(attempt.signal))).rejects.toThrow('given up');
  expect(steps).toBe(3);
});
