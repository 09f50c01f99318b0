import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockStack } from '../../../src/dev/stackLock.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lock with space '));
});
afterEach(() => rm(dir, { recursive: true }));

const lockAs = (pid: number, identity: string, number = 3) =>
  writeFile(join(dir, `stack-${number}.lock`), JSON.stringify({ pid, identity }));
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

describe('lockStack', () => {
  it('refuses a second stack and names the pid of the first', async () => {
    const lock = await lockStack(dir);
    await expect(lockStack(dir)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      reason: 'STACK_RUNNING',
      details: { pid: process.pid, folder: dir },
    });
    await lock.release();
  });

  it('is free again after release', async () => {
    for (let n = 0; n < 3; n++) await (await lockStack(dir)).release();
    expect(await readdir(dir)).toEqual(['stack-3.lock']);
  });

  it('takes over the lock of a dead process', async () => {
    await lockAs(deadPid(), 'some boot:1');
    await lockStack(dir);
    expect(await readdir(dir)).toEqual(['stack-4.lock']);
  });

  it('takes over a lock whose pid belongs to a later process', async () => {
    await lockAs(process.pid, 'another boot:1');
    await expect(lockStack(dir)).resolves.toBeDefined();
  });

  it('keeps out when it cannot tell whether the holder is another process', async () => {
    await lockAs(process.ppid, 'unknown');
    await expect(lockStack(dir)).rejects.toMatchObject({
      reason: 'STACK_RUNNING',
      details: { pid: process.ppid },
    });
  });

  it('takes over a damaged lock', async () => {
    await writeFile(join(dir, 'stack-7.lock'), '{"pid":');
    await lockStack(dir);
    expect(await readdir(dir)).toEqual(['stack-8.lock']);
  });

  it('lets exactly one of many win a stale lock', async () => {
    await lockAs(deadPid(), 'some boot:1');
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockStack(dir)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await readdir(dir)).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});
