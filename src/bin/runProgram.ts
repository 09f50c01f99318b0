/**
 * The life of a program: start, stop on a signal, and an end that a person can read. No configuration ends in a stack
 * trace; what is not a known fault goes to the log with one, under an id, and to the terminal without.
 */
import { explain } from '../cli/explain.js';
import type { Program } from '../wiring.js';

/** One JSON line on stdout, for whoever started the program and waits for it. The log goes to stderr. */
export const tellReady = (facts: Readonly<Record<string, unknown>>): void => {
  process.stdout.write(`${JSON.stringify({ ready: true, pid: process.pid, ...facts })}\n`);
};

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs one program until it ends or a signal asks for its end. A second signal ends the process at once.
 * @returns the exit code: 0, or 1 where it could not start or failed
 */
export const runProgram = async (start: () => Promise<Program>): Promise<number> => {
  let program: Program | undefined;
  let asked = false;
  const onSignal = (): void => {
    if (asked) process.exit(130);
    asked = true;
    program?.stop().catch((error: unknown) => {
      process.stderr.write(`${explain(error)}\n`);
      process.exit(1);
    });
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    program = await start();
    if (asked) await program.stop();
    await program.done;
    return 0;
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    return 1;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
};
