import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkDigest } from '../../../src/dev/fileDigest.js';

// FIPS 180-4's own example: SHA-256 of "abc".
const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'digest-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('checkDigest', () => {
  it('passes a file with the pinned digest', async () => {
    await writeFile(join(dir, 'f'), 'abc');
    await expect(checkDigest(join(dir, 'f'), 'f', ABC)).resolves.toBeUndefined();
  });

  it('refuses a file with one other byte, and names it', async () => {
    await writeFile(join(dir, 'f'), 'abd');
    await expect(checkDigest(join(dir, 'f'), 'the wheel', ABC)).rejects.toThrow(
      /the wheel has sha256 \w{64}, pinned is ba78/,
    );
  });

  it('refuses a file for which nothing is pinned', async () => {
    await writeFile(join(dir, 'f'), 'abc');
    await expect(checkDigest(join(dir, 'f'), 'f', undefined)).rejects.toThrow('no digest is pinned for f');
  });
});
