import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFreshStateFolder, openStateFolder } from '../../../src/dev/stateFolder.js';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'state with space '));
});
afterEach(() => rm(base, { recursive: true }));

describe('openStateFolder', () => {
  it('creates the folder for this user only', async () => {
    const folder = await openStateFolder(join(base, 'a', 'b'));
    expect((await stat(folder.dir)).mode & 0o777).toBe(0o700);
  });

  it('closes a folder that was open to others', async () => {
    const { dir, release } = await openStateFolder(join(base, 'a'));
    await release();
    await chmod(dir, 0o777);
    await openStateFolder(dir);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  });

  it('is held by one stack at a time', async () => {
    const folder = await openStateFolder(join(base, 'a'));
    await expect(openStateFolder(join(base, 'a'))).rejects.toMatchObject({ reason: 'STACK_RUNNING' });
    await folder.release();
    await expect(openStateFolder(join(base, 'a'))).resolves.toBeDefined();
  });

  it('says what is wrong with a path that cannot be a folder', async () => {
    await writeFile(join(base, 'file'), '');
    await expect(openStateFolder(join(base, 'file', 'state'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      reason: 'STATE_FOLDER',
      details: { folder: join(base, 'file', 'state'), why: 'ENOTDIR' },
    });
  });

  it.skipIf(process.platform !== 'linux')(
    'says so of a folder in which nothing can be made, and comes to an end',
    async () => {
      const refusal = { reason: 'STATE_FOLDER', details: { why: 'ENOENT' } };
      await expect(openStateFolder('/proc/x/start')).rejects.toMatchObject(refusal);
      await expect(openFreshStateFolder('/proc/x', 'demo-')).rejects.toMatchObject(refusal);
    },
  );

  it('takes a file of that name for no folder', async () => {
    await writeFile(join(base, 'file'), '');
    await expect(openStateFolder(join(base, 'file'))).rejects.toMatchObject({
      reason: 'STATE_FOLDER',
      details: { why: 'EEXIST' },
    });
  });

  it('a fresh one is of a name of its own, for this user only', async () => {
    const one = await openFreshStateFolder(join(base, 'a', 'b'), 'demo-');
    const two = await openFreshStateFolder(join(base, 'a', 'b'), 'demo-');
    expect(one.dir).not.toBe(two.dir);
    expect(one.dir.startsWith(join(base, 'a', 'b', 'demo-'))).toBe(true);
    expect((await stat(one.dir)).mode & 0o777).toBe(0o700);
  });

  it('remove deletes it', async () => {
    const folder = await openStateFolder(join(base, 'a'));
    await folder.remove();
    await expect(stat(folder.dir)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
