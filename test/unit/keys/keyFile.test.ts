import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calculateJwkThumbprint } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadKeySet, rotateKeyFile } from '../../../src/keys/keyFile.js';
import { createKeySet, generateSigningJwk } from '../../../src/keys/keySet.js';
import { signReceipt, verifyReceipt } from '../../../src/keys/receipt.js';
import { exampleReceipt } from '../../support/leases.js';

const invalid = { code: 'CONFIG_INVALID', reason: 'INVALID_VARIABLE' };
const receipt = JSON.stringify(exampleReceipt);

describe('key file', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'genlock keys-'));
    file = join(folder, 'keys.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is created for its owner only and keeps its key', async () => {
    const { kid } = await loadKeySet(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await loadKeySet(file)).kid).toBe(kid);
    expect(await readdir(folder)).toEqual(['keys.json']);
  });

  it('processes that start at once on an empty folder end with one key', async () => {
    const sets = await Promise.all(Array.from({ length: 8 }, () => loadKeySet(file)));
    expect(new Set(sets.map((set) => set.kid)).size).toBe(1);
    expect(await readdir(folder)).toEqual(['keys.json']);
  });

  it('a file that others can read is refused', async () => {
    await loadKeySet(file);
    await chmod(file, 0o640);
    await expect(loadKeySet(file)).rejects.toMatchObject(invalid);
  });

  it.each(['', 'not json', '{}', '{"keys":[{"kty":"oct","k":"AA"}]}', '{"keys":[]}'])(
    'a file that holds %j is refused, not overwritten',
    async (text) => {
      await writeFile(file, text, { mode: 0o600 });
      await expect(loadKeySet(file)).rejects.toMatchObject(invalid);
      expect(await readFile(file, 'utf8')).toBe(text);
    },
  );

  it('a rotation of a file that does not exist is refused, and makes none', async () => {
    await expect(rotateKeyFile(file)).rejects.toMatchObject(invalid);
    expect(await readdir(folder)).toEqual([]);
  });

  it('R2 after a rotation the new key signs and the old one still verifies', async () => {
    const before = await loadKeySet(file);
    const old = signReceipt(before, receipt);
    const after = await rotateKeyFile(file);
    expect(after.kid).not.toBe(before.kid);
    expect((await loadKeySet(file)).kid).toBe(after.kid);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await verifyReceipt(old, after.publicJwks())).kid).toBe(before.kid);
    expect((await verifyReceipt(signReceipt(after, receipt), after.publicJwks())).kid).toBe(after.kid);
  });
});

describe('key set', () => {
  it('publishes no private member, and kid is the RFC 7638 thumbprint', async () => {
    const { keys } = createKeySet([generateSigningJwk()]).publicJwks();
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    expect(keys[0]?.kid).toBe(await calculateJwkThumbprint(keys[0] ?? {}, 'sha256'));
  });

  it('a kid that is not the thumbprint is refused', () => {
    expect(() => createKeySet([{ ...generateSigningJwk(), kid: 'other' }])).toThrow(
      expect.objectContaining(invalid),
    );
  });

  it('a set without an active key is refused', () => {
    expect(() => createKeySet([{ ...generateSigningJwk(), active: false }])).toThrow(
      expect.objectContaining(invalid),
    );
  });

  it('a set that holds a key twice is refused', () => {
    const key = generateSigningJwk();
    expect(() => createKeySet([key, key])).toThrow(expect.objectContaining(invalid));
  });

  it('an unusable key is refused without quoting it', () => {
    const key = generateSigningJwk();
    const d = key.d.slice(0, 10);
    let text = '';
    try {
      createKeySet([{ ...key, d }]);
    } catch (error) {
      text = JSON.stringify(error, Object.getOwnPropertyNames(error));
    }
    expect(text).toContain('CONFIG_INVALID');
    expect(text).not.toContain(d);
  });
});
