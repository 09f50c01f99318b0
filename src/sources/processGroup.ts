/**
 * Child processes that are ended together with everything they started, also when this process ends first.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

export interface GroupOptions {
  readonly command: string;
  /** What the program is told that it is called; the command where it is left out. */
  readonly argv0?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** How long a server may take to leave by itself after its input was closed. */
const LEAVE_MS = 500;
const TERMINATE_MS = 1_000;

const alive = new Set<number>();
let hooked = false;

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
};

const groupExists = (pid: number): boolean => {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Starts a process as the leader of a group of its own. */
export const spawnGroup = (options: GroupOptions): ChildProcessWithoutNullStreams => {
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: options.env,
    stdio: 'pipe',
    ...(options.argv0 === undefined ? {} : { argv0: options.argv0 }),
    detached: true,
    windowsHide: true,
  });
  const { pid } = child;
  if (pid !== undefined) {
    alive.add(pid);
    if (!hooked) {
      hooked = true;
      process.on('exit', () => {
        for (const one of alive) signalGroup(one, 'SIGKILL');
      });
    }
  }
  return child;
};

const until = async (gone: () => boolean, ms: number): Promise<boolean> => {
  const end = Date.now() + ms;
  while (!gone()) {
    if (Date.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
};

/** Closes its input, then asks, then kills: the whole group. Never throws; may be called twice. */
export const endGroup = async (child: ChildProcessWithoutNullStreams): Promise<void> => {
  const { pid } = child;
  if (pid === undefined || !alive.has(pid)) return;
  const gone = () => !groupExists(pid);
  child.stdin.end();
  if (!(await until(gone, LEAVE_MS))) {
    signalGroup(pid, 'SIGTERM');
    if (!(await until(gone, TERMINATE_MS))) signalGroup(pid, 'SIGKILL');
  }
  alive.delete(pid);
  child.stdout.destroy();
  child.stderr.destroy();
};
