/**
 * The life of a program: start, stop on a signal, and an end that a person can read. No configuration ends in a stack
 * trace; what is not a known fault goes to the log with one, under an id, and to the terminal without.
 */
import { CatalogError, codeRow } from '../domain/errors.js';
import type { Program } from '../wiring.js';

/** The lines that tell a person what is wrong and what to do. */
export const explain = (error: unknown): string => {
  if (!(error instanceof CatalogError)) {
    const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return `genlock: ${name.split('\n')[0] ?? ''}\nThis is a fault of Genlock's own. GENLOCK_LOG_LEVEL=debug shows more.`;
  }
  const row = codeRow(error.code);
  const lines = [`genlock: ${error.code}/${error.reason}: ${row.reasons[error.reason] ?? row.meaning}`];
  for (const [name, value] of Object.entries(error.details)) {
    for (const line of detailLines(name, value)) lines.push(`  ${line}`);
  }
  lines.push(`Next: ${row.next}`);
  return lines.join('\n');
};

const detailLines = (name: string, value: unknown): readonly string[] => {
  if (Array.isArray(value))
    return value.map((item) => `${name}: ${typeof item === 'string' ? item : plain(item)}`);
  return [`${name}: ${typeof value === 'string' ? value : plain(value)}`];
};

const plain = (value: unknown): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, inner]) => `${name} ${typeof inner === 'string' ? inner : JSON.stringify(inner)}`)
        .join(', ')
    : JSON.stringify(value);

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
