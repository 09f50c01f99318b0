import { describe, expect, it } from 'vitest';
import { launchGuarded, runGuarded } from '../../../src/dev/processGuard.js';
import { processIdentity } from '../../../src/dev/processIdentity.js';

const LIMIT = { limitMs: 10_000 };
// A zombie that its new parent has not reaped yet does not count.
const isAlive = (pid: number): boolean => processIdentity(pid) !== undefined;

describe('processGuard', () => {
  it('passes on exit code, both streams and arguments with spaces', async () => {
    const run = await runGuarded('/bin/sh', ['-c', 'echo "$1"; echo err >&2; exit 7', 'sh', 'a  b'], LIMIT);
    expect(run.code).toBe(7);
    expect(run.output.split('\n').sort()).toEqual(['', 'a  b', 'err']);
  });

  it('reports a program that does not exist', async () => {
    expect((await runGuarded('/nowhere/at all', [], LIMIT)).code).toBe(127);
  });

  it('gives the program the environment it is told, and nothing to read', async () => {
    const env = { PATH: '/usr/bin:/bin', ONLY: 'this' };
    const run = await runGuarded('/bin/sh', ['-c', 'cat; echo "$ONLY:$HOME"'], { ...LIMIT, env });
    expect(run.output).toBe('this:\n');
  });

  it('stops a run at its limit, with all that it started', async () => {
    const run = await runGuarded('/bin/sh', ['-c', 'sleep 600 & echo $!; wait'], { limitMs: 300 });
    expect(run.timedOut).toBe(true);
    await expect.poll(() => isAlive(Number(run.output))).toBe(false);
  });

  it('stop asks with the signal first', async () => {
    const script = `trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done`;
    const lines: string[] = [];
    const program = await launchGuarded('/bin/sh', ['-c', script], { onLine: (line) => lines.push(line) });
    await expect.poll(() => lines).toContain('ready');
    await program.stop();
    expect(lines).toContain('asked');
    expect(await program.exited).toBe(3);
  });

  it('stop kills what does not listen, after the grace', async () => {
    const script = `trap '' TERM; echo $$; while :; do sleep 0.05; done`;
    const program = await launchGuarded('/bin/sh', ['-c', script], { graceMs: 200 });
    await expect.poll(() => program.tail().length).toBe(1);
    await program.stop();
    await program.stop();
    expect(program.exitCode()).toBe(137);
    expect(isAlive(Number(program.tail()[0]))).toBe(false);
  });

  it('ends the program when its watchdog is killed', async () => {
    const program = await launchGuarded('/bin/sh', ['-c', 'echo $$; exec sleep 600']);
    await expect.poll(() => program.tail().length).toBe(1);
    process.kill(program.pid, 'SIGKILL');
    await program.exited;
    await expect.poll(() => isAlive(Number(program.tail()[0]))).toBe(false);
  });

  it('keeps the last lines', async () => {
    const run = await runGuarded(
      '/bin/sh',
      ['-c', 'i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo $i; done'],
      LIMIT,
    );
    expect(run.tail).toHaveLength(20);
    expect(run.tail.at(-1)).toBe('50');
  });
});
