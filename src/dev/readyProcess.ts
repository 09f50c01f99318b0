/** A program of ours in a process of its own: started, waited for until it says that it is ready, stopped with us. */
import { CatalogError } from '../domain/errors.js';
import { type GuardedProcess, launchGuarded } from './processGuard.js';

export interface ReadyProcess {
  /** The program's own pid, not its watchdog's. */
  readonly pid: number;
  /** What it said when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>;
  readonly exited: Promise<number>;
  tail(): readonly string[];
  stop(): Promise<void>;
}

export interface ReadyOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How the program is called in errors. */
  readonly name: string;
  readonly graceMs?: number;
  readonly onLine?: (line: string) => void;
  readonly timeoutMs?: number;
}

const READY_LIMIT_MS = 60_000;

const readyLine = (line: string): Readonly<Record<string, unknown>> | null => {
  if (!line.startsWith('{"ready":true')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
};

/** @throws CatalogError CONFIG_INVALID/PROGRAM_FAILED with the program's last lines where it ends or never gets ready */
export const startReadyProcess = async (options: ReadyOptions): Promise<ReadyProcess> => {
  let resolveReady: (facts: Readonly<Record<string, unknown>>) => void = () => {};
  const ready = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
    resolveReady = resolve;
  });
  const guarded: GuardedProcess = await launchGuarded(options.command, options.args, {
    env: options.env,
    graceMs: options.graceMs ?? 5_000,
    onLine: (line) => {
      const facts = readyLine(line);
      if (facts === null) options.onLine?.(line);
      else resolveReady(facts);
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), options.timeoutMs ?? READY_LIMIT_MS);
  });
  const facts = await Promise.race([ready, guarded.exited.then(() => null), late]);
  clearTimeout(timer);
  if (facts === null) {
    await guarded.stop();
    throw new CatalogError('CONFIG_INVALID', 'PROGRAM_FAILED', {
      program: options.name,
      said: guarded.tail(),
    });
  }
  return {
    pid: Number(facts['pid']),
    ready: facts,
    exited: guarded.exited,
    tail: () => guarded.tail(),
    stop: () => guarded.stop(),
  };
};
