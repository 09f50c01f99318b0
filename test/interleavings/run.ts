/**
 * `npm run interleavings -- --rounds 100000 --seed N`: random schedules against the core, a share of them through the real
 * parts as well, and the core with each guard removed. Ends with one line of JSON, and with 1 where anything is wrong.
 * `--seed N --round K` runs that round again and shows it moment by moment; with `--real` through the real parts.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { disagreements } from './agreement.js';
import { MUTANTS } from './mutants.js';
import { findDisagreement } from './mutationCheck.js';
import { judge } from './oracle.js';
import type { RealResult, Share } from './realRoundsProcess.js';
import { cloneForRounds, openRealStack, startRunPostgres } from './realStack.js';
import { runRound } from './round.js';
import { scheduleOf } from './schedule.js';
import { createSimulation } from './simulation.js';
import { findRealDisagreement, SQL_MUTANTS } from './sqlMutants.js';
import { FLOORS_FROM, Tally } from './tally.js';

const PROCESSES = 2;
const SEGMENT_PAGES = 3;
/** Simulated rounds in which a core without a guard must be found out. */
const MOST = 3_000;

const note = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

const runShare = (share: Share, taken: (result: RealResult) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('./realRoundsProcess.ts', import.meta.url)), {
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    child.on('message', (result: RealResult) => taken(result));
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error('a process of real rounds broke off')),
    );
    child.send(share);
  });

const runAll = async (tally: Tally, rounds: number, realRounds: number): Promise<void> => {
  const { seed } = tally;
  const { postgres, stop } = await startRunPostgres();
  try {
    const database = await cloneForRounds(postgres);
    const { workerUrl, operatorUrl } = database;
    const shares = Array.from({ length: PROCESSES }, (_, first) =>
      runShare(
        { seed, first, step: PROCESSES, end: realRounds, workerUrl, operatorUrl },
        ({ round, says }) => {
          tally.realRounds++;
          if (says.length > 0) tally.disagreements.push({ round, real: true, says });
        },
      ),
    );
    const real = Promise.all(shares);
    real.catch(() => undefined);
    for (let round = 0; round < rounds; round++) {
      const verdict = await runRound(
        scheduleOf(seed, round),
        createSimulation({ segmentPages: SEGMENT_PAGES }),
        false,
      );
      tally.add(verdict, judge(verdict.world.facts));
      // So that the processes' messages are read.
      if (round % 500 === 0) await new Promise((turn) => setImmediate(turn));
    }
    for (const mutant of MUTANTS)
      tally.addMutant(mutant.name, (await findDisagreement(mutant, seed, MOST)) !== null);
    await real;
    if (realRounds > 0) {
      const untouched = await openRealStack(database);
      for (const mutant of SQL_MUTANTS) {
        const says = await findRealDisagreement(mutant, postgres, untouched, seed);
        tally.addMutant(`SQL: ${mutant.name}`, says !== null);
      }
      await untouched.close();
    }
    await database.drop();
  } finally {
    await stop();
  }
};

const show = async (seed: number, round: number, real: boolean): Promise<boolean> => {
  const schedule = scheduleOf(seed, round);
  note(JSON.stringify(schedule, null, 2));
  const { world, reason } = await runRound(schedule, createSimulation({ segmentPages: SEGMENT_PAGES }), true);
  note([...(world.trace ?? []), `end: ${reason}`].join('\n'));
  const says = [...judge(world.facts)];
  if (real) {
    const { postgres, stop } = await startRunPostgres();
    try {
      const stack = await openRealStack(await cloneForRounds(postgres));
      says.push(...(await disagreements(schedule, stack)));
      await stack.close();
    } finally {
      await stop();
    }
  }
  note(says.length === 0 ? 'The oracle agrees.' : says.join('\n'));
  return says.length === 0;
};

const wholeNumber = (name: string, text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} takes a whole number from 0`);
  return value;
};

const main = async (): Promise<boolean> => {
  const text = { type: 'string' } as const;
  const options = {
    rounds: text,
    seed: text,
    round: text,
    'real-rounds': text,
    real: { type: 'boolean' },
  } as const;
  const { values } = parseArgs({ options });
  const seed = wholeNumber('seed', values.seed ?? '1');
  if (values.round !== undefined)
    return await show(seed, wholeNumber('round', values.round), values.real === true);
  const rounds = wholeNumber('rounds', values.rounds ?? '100000');
  const realRounds = Math.min(
    rounds,
    wholeNumber('real-rounds', values['real-rounds'] ?? String(Math.ceil(rounds / 50))),
  );
  const start = performance.now();
  const tally = new Tally(seed);
  await runAll(tally, rounds, realRounds);
  note([...tally.kinds].map(([kind, count]) => `${kind.padEnd(18)}${count}`).join('\n'));
  for (const { round, real, says } of tally.disagreements.slice(0, 20)) {
    note(`\nseed ${seed} round ${round}: ${says.join('; ')}`);
    note(`  npm run interleavings -- --seed ${seed} --round ${round}${real ? ' --real' : ''}`);
  }
  const seconds = (performance.now() - start) / 1000;
  if (!tally.judgesFloors)
    note(
      `Of ${rounds} rounds neither the accepted share nor the rounds of each kind are judged: ${FLOORS_FROM} would be enough.`,
    );
  const short = tally.shortfalls({ realRounds, seconds });
  for (const text of short) note(text);
  console.log(tally.line(seconds));
  return tally.disagreements.length === 0 && short.length === 0;
};

main().then(
  (good) => process.exit(good ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
