/** D6 what is sealed opens with its key, in its place, whole, and nowhere else. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseTenantId } from '../../../src/domain/ids.js';
import { Secret } from '../../../src/domain/secret.js';
import { createSessionSeal } from '../../../src/keys/sessionSeal.js';

const key = () => new Secret(randomBytes(32).toString('base64'));
const OLD = key();
const place = { tenant: parseTenantId('acme'), scan: 'run/0' };
const old = createSessionSeal([OLD]);
const sealed = old.seal('the id of a session', place);

describe('D6 a sealed session', () => {
  test('opens in its place with its key, and shows nothing before', () => {
    expect(old.open(sealed, place)).toBe('the id of a session');
    expect(sealed).toMatch(/^[\w-]+$/);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('session');
  });

  test('is another text each time', () => {
    const again = old.seal('the id of a session', place);
    expect(again).not.toBe(sealed);
    expect(old.open(again, place)).toBe('the id of a session');
  });

  test.each([
    ['another scan', { ...place, scan: 'run/1' }],
    ['another tenant', { ...place, tenant: parseTenantId('globex') }],
  ])('that was moved to the row of %s opens nowhere', (_which, other) => {
    expect(old.open(sealed, other)).toBeNull();
  });

  test('that was changed in any byte, cut or lengthened does not open', () => {
    const bytes = Buffer.from(sealed, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const bent = Buffer.from(bytes);
      bent[at] = (bent[at] ?? 0) ^ 1;
      expect([at, old.open(bent.toString('base64url'), place)]).toEqual([at, null]);
    }
    for (const end of [0, 11, 27, 28, bytes.length - 1])
      expect(old.open(bytes.subarray(0, end).toString('base64url'), place)).toBeNull();
    expect(old.open(Buffer.concat([bytes, bytes]).toString('base64url'), place)).toBeNull();
    expect(old.open('', place)).toBeNull();
  });

  test('goes on opening while its key stands behind a newer one, which seals', () => {
    const rotated = createSessionSeal([key(), OLD]);
    expect(rotated.open(sealed, place)).toBe('the id of a session');
    expect(old.open(rotated.seal('newer', place), place)).toBeNull();
    expect(createSessionSeal([key()]).open(sealed, place)).toBeNull();
  });

  test.each([
    ['no key', []],
    ['a short key', [new Secret(randomBytes(31).toString('base64'))]],
    ['a long key behind a good one', [OLD, new Secret(randomBytes(33).toString('base64'))]],
  ])('is not made with %s', (_what, keys) => {
    expect(() => createSessionSeal(keys)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', reason: 'INVALID_VARIABLE' }),
    );
  });
});
