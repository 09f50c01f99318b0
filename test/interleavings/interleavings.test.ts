/** The short form of `npm run interleavings`: the same rounds and mutants, fewer of them. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import '../support/services.js';
import type { TestDatabase } from '../support/clonedDatabase.js';
import { disagreements } from './agreement.js';
import { MUTANTS } from './mutants.js';
import { findDisagreement } from './mutationCheck.js';
import { judge } from './oracle.js';
import { cloneForRounds, LANES, openRealStack, type RealStack } from './realStack.js';
import { runRound } from './round.js';
import { scheduleOf } from './schedule.js';
import { createSimulation } from './simulation.js';
import { findRealDisagreement, SQL_MUTANTS } from './sqlMutants.js';
import { Tally } from './tally.js';

const SEED = 7;
const ROUNDS = 5_000;
const REAL_ROUNDS = 60;
const MOST = 3_000;

test('D1 D2 D3 D6 D8 D9 P1 whatever comes between, only the true list is accepted, and a quiet scan is', async () => {
  const tally = new Tally(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const verdict = await runRound(scheduleOf(SEED, round), createSimulation({ segmentPages: 3 }), false);
    tally.add(verdict, judge(verdict.world.facts));
  }
  expect(tally.disagreements).toEqual([]);
  expect(tally.shortfalls({ realRounds: 0, seconds: 0 })).toEqual([]);
});

test('one seed is one schedule, and one schedule one history', async () => {
  const run = async () => (await runRound(scheduleOf(SEED, 3), createSimulation(), true)).world.facts;
  expect(await run()).toEqual(await run());
});

describe('a core without one of its guards is found out', () => {
  test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('%s', async (_, mutant) => {
    expect(await findDisagreement(mutant, SEED, MOST)).not.toBeNull();
  });
});

describe('through the real parts', () => {
  let database: TestDatabase;
  let stack: RealStack;
  beforeAll(async () => {
    database = await cloneForRounds(inject('postgres'));
    stack = await openRealStack(database);
  });
  afterAll(async () => {
    await stack.close();
    await database.drop();
  });

  test('D6 P1 the fetch loop, the strict reader and Postgres go the way of the simulation', async () => {
    const found: (readonly [number, readonly string[]])[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let round = next++; round < REAL_ROUNDS; round = next++) {
        const says = await disagreements(scheduleOf(SEED, round), stack);
        if (says.length > 0) found.push([round, says]);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(found).toEqual([]);
  });

  describe('a database without one of its guards is found out', () => {
    test.each(SQL_MUTANTS.map((mutant) => [mutant.name, mutant] as const))('P1 %s', async (_, mutant) => {
      expect(await findRealDisagreement(mutant, inject('postgres'), stack, SEED)).not.toBeNull();
    });
  });
});
