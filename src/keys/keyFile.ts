/**
 * The file that holds the signing keys: a JWKS readable by its owner only. Several processes may start on an empty
 * folder at once, so creating it never overwrites another's keys.
 */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { CatalogError } from '../domain/errors.js';
import { createKeySet, generateSigningJwk, type KeySet, type SigningJwk } from './keySet.js';

/**
 * The keys of a file, which is created with one fresh key where it does not exist.
 * @throws CatalogError CONFIG_INVALID/INVALID_VARIABLE for a file that others can read, or that holds no usable keys
 */
export const loadKeySet = async (file: string): Promise<KeySet> => {
  try {
    return createKeySet(await readKeys(file));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const draft = await writeDraft(file, [generateSigningJwk()]);
  try {
    // link() fails where the name exists, unlike rename(): the process that came second reads the first one's keys.
    await link(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
  return createKeySet(await readKeys(file));
};

/**
 * Puts a fresh key first, which signs from the next load on; the others go on verifying. Programs load the file at
 * their start only: one that was not restarted signs with its old key and does not publish the new one.
 * @throws CatalogError CONFIG_INVALID/INVALID_VARIABLE for a file that is missing, that others can read, or that holds
 *   no usable keys
 */
export const rotateKeyFile = async (file: string): Promise<KeySet> => {
  const old = await readKeys(file).catch((error: unknown) => {
    throw isMissing(error) ? refuse(file, 'it does not exist: a program makes it at its first start') : error;
  });
  const keys = [generateSigningJwk(), ...old.map((key) => ({ ...key, active: false }))];
  const set = createKeySet(keys);
  await rename(await writeDraft(file, keys), file);
  return set;
};

const readKeys = async (file: string): Promise<SigningJwk[]> => {
  if (((await stat(file)).mode & 0o077) !== 0)
    throw refuse(file, 'only its owner may read or write it (chmod 600)');
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse(file, 'not JSON');
    throw error;
  }
  const keys = isRecord(parsed) ? parsed['keys'] : undefined;
  if (!Array.isArray(keys) || !keys.every(isSigningJwk))
    throw refuse(file, 'not a JWKS of P-256 private keys');
  return keys;
};

const writeDraft = async (file: string, keys: readonly SigningJwk[]): Promise<string> => {
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ keys }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return draft;
};

const isSigningJwk = (value: unknown): value is SigningJwk =>
  isRecord(value) &&
  value['kty'] === 'EC' &&
  value['crv'] === 'P-256' &&
  ['x', 'y', 'd', 'kid'].every((member) => typeof value[member] === 'string') &&
  typeof value['active'] === 'boolean';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const refuse = (file: string, rule: string): CatalogError =>
  new CatalogError('CONFIG_INVALID', 'INVALID_VARIABLE', { what: 'key file', file, rule });
