/**
 * Tells whether the process that once wrote its pid is still the one that has it. Pids repeat, in containers
 * nearly always, so a pid alone would let a dead stack lock its folder for ever.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * @returns what the process of that pid cannot share with a later one of the same pid (boot and start time);
 *   undefined when no such process is alive; 'unknown' when it lives and the system says no more.
 */
export function processIdentity(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command stands in parentheses and may hold spaces; state is the 1st field after it, start time the 20th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${fields[19]}`;
  } catch {
    return ps(pid, 'lstart=') ?? 'unknown';
  }
}

/** The command line of a process, or undefined when there is none or it is not shown to us. */
export function processCommand(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ps(pid, 'command=');
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function ps(pid: number, column: string): string | undefined {
  try {
    return (
      execFileSync('ps', ['-ww', '-o', column, '-p', String(pid)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: 5_000,
      }).trim() || undefined
    );
  } catch {
    return undefined;
  }
}
