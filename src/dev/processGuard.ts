/**
 * Runs a program so that it never outlives this process, however this process ends. A small shell sits
 * between them and holds the read end of a pipe; when our end closes, it stops the program.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * $1 signal, $2 grace in tenths of a second, then the command. `read` ends when the last holder of the pipe's
 * other end is gone, which the kernel sees to even after SIGKILL. The final `kill 0` takes the watcher along.
 */
const WATCHDOG = `
signal=$1; grace=$2; shift 2
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
(
  while read -r _; do :; done <&3
  kill -s "$signal" "$program"
  while kill -0 "$program" && [ "$grace" -gt 0 ]; do
    grace=$((grace - 1)); sleep 0.1 || sleep 1
  done
  kill -s KILL "$program"
) >/dev/null 2>&1 &
wait "$program"; code=$?
trap '' TERM; kill -s TERM 0
exit "$code"
`;

/** An operating-system account to run as; only root can choose one. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface GuardOptions {
  /** Asks the program to end; it must be one that the program handles itself, as shells start it with SIGINT ignored. */
  readonly stopSignal?: 'SIGINT' | 'SIGTERM' | 'SIGKILL';
  /** How long the program may take to end after that signal before it is killed, in milliseconds. */
  readonly graceMs?: number;
  /** The environment of the program; left out, it inherits ours. */
  readonly env?: Readonly<Record<string, string>>;
  readonly account?: Account | undefined;
  /** Gets each line that the program writes, from either stream. */
  readonly onLine?: (line: string) => void;
}

export interface GuardedProcess {
  /** The watchdog's pid, which is also the process group of everything that it started. */
  readonly pid: number;
  /** Resolves with the exit code (128 + n for signal n) once the program is gone. Never rejects. */
  readonly exited: Promise<number>;
  /** The exit code, or undefined while it runs. */
  exitCode(): number | undefined;
  /** The last lines that it wrote. */
  tail(): readonly string[];
  /** Stops it and waits until it is gone: the signal, then SIGKILL after the grace. Safe to call twice. */
  stop(): Promise<void>;
}

const TAIL_LINES = 20;
const LINE_CHARS = 2_000;
/** How much longer than the grace the watchdog itself may take. */
const WATCHDOG_SLACK_MS = 2_000;

/**
 * Starts a program under the watchdog, in a session of its own, so that a terminal's Ctrl-C reaches only us and
 * we stop things in order. It is stopped when `stop` is called or when this process ends in any way.
 *
 * @throws the spawn error when not even the shell can be started; a missing program exits with 127.
 */
export async function launchGuarded(
  command: string,
  args: readonly string[],
  options: GuardOptions = {},
): Promise<GuardedProcess> {
  const { stopSignal = 'SIGTERM', graceMs = 5_000, account, onLine } = options;
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      WATCHDOG,
      'genlock-guard',
      stopSignal.slice(3),
      String(Math.ceil(graceMs / 100)),
      command,
      ...args,
    ],
    {
      // Another account may not be allowed to enter our working directory.
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(options.env ? { env: { ...options.env } } : {}),
      ...(account ?? {}),
    },
  );
  // The watchdog may be gone before we close its pipe; that is no failure.
  child.stdin.on('error', () => {});
  await new Promise<void>((started, failed) => {
    child.once('spawn', started);
    child.once('error', failed);
  });
  const group = child.pid ?? 0;

  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (text) => {
      const line = text.slice(0, LINE_CHARS);
      lines.push(line);
      if (lines.length > TAIL_LINES) lines.shift();
      onLine?.(line);
    });
  }

  let code: number | undefined;
  const exited = new Promise<number>((resolve) => {
    // A killed watchdog leaves its program behind; the group is then ours to end.
    child.once('exit', () => killGroup(group));
    child.once('close', (exit) => {
      code = exit ?? 137;
      resolve(code);
    });
  });

  return {
    pid: group,
    exited,
    exitCode: () => code,
    tail: () => [...lines],
    async stop() {
      child.stdin.destroy();
      const late = setTimeout(() => killGroup(group), graceMs + WATCHDOG_SLACK_MS);
      await exited;
      clearTimeout(late);
    },
  };
}

/** How a program that was meant to end by itself did. `timedOut`: it was stopped at its limit. */
export interface GuardedRun {
  readonly code: number;
  readonly timedOut: boolean;
  readonly output: string;
  readonly tail: readonly string[];
}

/** Runs a program to its end under the watchdog, for `limitMs` milliseconds at most. Its output is kept up to 64 kB. */
export async function runGuarded(
  command: string,
  args: readonly string[],
  options: GuardOptions & { readonly limitMs: number },
): Promise<GuardedRun> {
  let output = '';
  const run = await launchGuarded(command, args, {
    graceMs: 500,
    ...options,
    onLine: (line) => {
      if (output.length < 65_536) output += `${line}\n`;
      options.onLine?.(line);
    },
  });
  let timedOut = false;
  const limit = setTimeout(() => {
    timedOut = true;
    void run.stop();
  }, options.limitMs);
  const code = await run.exited;
  clearTimeout(limit);
  return { code, timedOut, output, tail: run.tail() };
}

function killGroup(group: number): void {
  try {
    if (group > 1) process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody of the group is left.
  }
}
