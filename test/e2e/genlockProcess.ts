/** The command line in a process of its own, with a state folder of its own on a path with a space in it. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/packageRoot.js';

export interface Ended {
  /** 128 + n for signal n, as a shell says it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface GenlockProcess {
  readonly ended: Promise<Ended>;
  readonly stateDir: string;
  /** Waits until the output matches. @returns all of it so far @throws Error where the process ends before */
  said(pattern: RegExp): Promise<string>;
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void;
  /** Pids of everything that it has started, directly or not. */
  descendants(): readonly number[];
  /** Waits until none of these lives. */
  allGone(pids: readonly number[]): Promise<void>;
  stateEntries(): readonly string[];
}

export interface GenlockOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Uses the state folder of this one. */
  readonly sharing?: GenlockProcess;
}

const stateFolder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'genlock e2e '));
  // Temporal's program is brought once for a checkout; a test of bringing it stands in test/integration/dev.
  const kept = join(packageRoot(), '.genlock', 'bin');
  mkdirSync(kept, { recursive: true });
  symlinkSync(kept, join(dir, 'bin'));
  return dir;
};

const processes = (): readonly { readonly pid: number; readonly parent: number }[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid=,state='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => state !== undefined && !state.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));

const below = (root: number): readonly number[] => {
  const all = processes();
  const found: number[] = [];
  const queue = [root];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const parent = next;
    const children = all.filter((one) => one.parent === parent).map(({ pid }) => pid);
    found.push(...children);
    queue.push(...children);
  }
  return found;
};

export const genlock = (
  args: readonly string[],
  { env = {}, sharing }: GenlockOptions = {},
): GenlockProcess => {
  const stateDir = sharing?.stateDir ?? stateFolder();
  const child = spawn(process.execPath, [join(packageRoot(), 'dist', 'src', 'bin', 'genlock.js'), ...args], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      GENLOCK_STATE_DIR: stateDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  const heard = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    heard();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    heard();
  });
  const SIGNAL_CODES: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143, SIGKILL: 137 };
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code: code ?? SIGNAL_CODES[signal ?? ''] ?? 1, stdout, stderr });
      heard();
    });
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;

  return {
    ended,
    stateDir,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.test(stdout);
          if (!found && !hasEnded()) return;
          listeners.delete(look);
          if (found) resolve(stdout);
          else reject(new Error(`it ended without saying ${pattern}:\n${stdout}\n${stderr}`));
        };
        listeners.add(look);
        look();
      }),
    signal: (name) => void child.kill(name),
    descendants: () => below(child.pid ?? 0),
    allGone: async (pids) => {
      const left = (): readonly number[] =>
        processes()
          .map(({ pid }) => pid)
          .filter((pid) => pids.includes(pid));
      for (const end = Date.now() + 15_000; left().length > 0; ) {
        if (Date.now() > end) throw new Error(`still running: ${left().join(', ')}`);
        await new Promise((next) => setTimeout(next, 50));
      }
    },
    stateEntries: () => (existsSync(stateDir) ? readdirSync(stateDir) : []),
  };
};
