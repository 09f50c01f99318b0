/** A run that shows less than it must says so. */
import { expect, test } from 'vitest';
import { runRound, type Verdict } from './round.js';
import { scheduleOf } from './schedule.js';
import { createSimulation } from './simulation.js';
import { FLOORS_FROM, Tally } from './tally.js';

const ENOUGH = { realRounds: 0, seconds: 1 };
const verdict = await runRound(scheduleOf(1, 1), createSimulation(), false);
const tallyOf = (rounds: number, how: Partial<Verdict> = {}): Tally => {
  const tally = new Tally(1);
  const kinds = new Set(tally.kinds.keys());
  for (let round = 0; round < rounds; round++)
    tally.add({ ...verdict, kinds, accepted: round % 2 === 0, ...how }, []);
  return tally;
};

test('a run of enough rounds of each kind, half of them accepted, falls short of nothing', () => {
  expect(tallyOf(FLOORS_FROM).shortfalls(ENOUGH)).toEqual([]);
});

test('fewer real rounds than were asked for', () => {
  const tally = tallyOf(10);
  tally.realRounds = 4;
  expect(tally.shortfalls({ realRounds: 5, seconds: 1 })).toEqual(['4 real rounds, and not 5']);
});

test('a full run has real rounds and an end in time, whatever was asked for', () => {
  expect(tallyOf(100_000).shortfalls({ realRounds: 0, seconds: 301 })).toEqual([
    '0 real rounds, and not 2000',
    '301 seconds, and not 300',
  ]);
});

test.each([
  [true, '100.0 % accepted, and not 25–75 %'],
  [false, '0.0 % accepted, and not 25–75 %'],
])('accepted everywhere: %s', (accepted, says) => {
  expect(tallyOf(FLOORS_FROM, { accepted }).shortfalls(ENOUGH)).toEqual([says]);
});

test('a kind that hardly happened, where there are rounds enough to tell', () => {
  const rare = { kinds: new Set<never>() };
  expect(tallyOf(FLOORS_FROM, rare).shortfalls(ENOUGH)).toContain(`crash in 0 rounds, and not 20`);
  expect(tallyOf(FLOORS_FROM - 1, rare).shortfalls(ENOUGH)).toEqual([]);
});

test('a core without a guard that nothing found out', () => {
  const tally = tallyOf(10);
  tally.addMutant('a guard', false);
  expect(tally.shortfalls(ENOUGH)).toEqual(['nothing disagreed with a core without: a guard']);
});
