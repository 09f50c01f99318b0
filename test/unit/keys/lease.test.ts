import { createHmac } from 'node:crypto';
import { exportSPKI, importJWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { epochMs } from '../../../src/domain/ids.js';
import { DEFAULT_LEASE_TTL, type LeaseClaims, leaseClaims } from '../../../src/domain/lease.js';
import { createKeySet, generateSigningJwk } from '../../../src/keys/keySet.js';
import { signLease, verifyLease } from '../../../src/keys/lease.js';
import { signReceipt, verifyReceipt } from '../../../src/keys/receipt.js';
import { exampleGrant, exampleReceipt } from '../../support/leases.js';

const now = epochMs(1_764_523_000_000);
const end = epochMs(now + 60_000);
const claims: LeaseClaims = leaseClaims(
  exampleGrant,
  { now, ttl: DEFAULT_LEASE_TTL, generationExpires: end, callerExpires: end },
  'j-1',
);
const keys = createKeySet([generateSigningJwk()]);
const jwks = keys.publicJwks();
const expected = { issuer: exampleGrant.issuer, audience: exampleGrant.audience, now };
const jwt = signLease(keys, claims);
const mismatch = (reason: string) => ({ code: 'LEASE_MISMATCH', reason });
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('lease', () => {
  it('L1 verifies with the public key set alone', async () => {
    expect(await verifyLease(jwt, jwks, expected)).toEqual(claims);
  });

  it('no byte of a lease can be changed', async () => {
    // The last character of a base64url part can hold unused bits, so bytes are flipped, not characters.
    const [header = '', payload = '', signature = ''] = jwt.split('.');
    const flip = (part: string): string => {
      const bytes = Buffer.from(part, 'base64url');
      const place = bytes.length >> 1;
      bytes[place] = (bytes[place] ?? 0) ^ 1;
      return bytes.toString('base64url');
    };
    for (const tampered of [
      `${flip(header)}.${payload}.${signature}`,
      `${header}.${flip(payload)}.${signature}`,
      `${header}.${payload}.${flip(signature)}`,
    ]) {
      await expect(verifyLease(tampered, jwks, expected)).rejects.toMatchObject({ code: 'LEASE_MISMATCH' });
    }
  });

  it('another resource under the same signature is refused', async () => {
    const [header, , signature] = jwt.split('.');
    const other = `${header}.${encode({ ...claims, resource: 'inventory/south/A1' })}.${signature}`;
    await expect(verifyLease(other, jwks, expected)).rejects.toMatchObject(mismatch('LEASE_SIGNATURE'));
  });

  it('alg none is refused', async () => {
    const none = `${encode({ alg: 'none', typ: 'genlock-lease+jwt' })}.${encode(claims)}.`;
    await expect(verifyLease(none, jwks, expected)).rejects.toMatchObject(mismatch('LEASE_MALFORMED'));
  });

  it('HS256 with the public key as secret is refused', async () => {
    const publicKey = await importJWK(jwks.keys[0] ?? {}, 'ES256');
    const secret = publicKey instanceof Uint8Array ? publicKey : await exportSPKI(publicKey);
    const input = `${encode({ alg: 'HS256', typ: 'genlock-lease+jwt', kid: keys.kid })}.${encode(claims)}`;
    const forged = `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    await expect(verifyLease(forged, jwks, expected)).rejects.toMatchObject(mismatch('LEASE_MALFORMED'));
  });

  it('a lease signed by another key under our kid is refused', async () => {
    const attacker = await importJWK({ ...generateSigningJwk() }, 'ES256');
    const forged = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'genlock-lease+jwt', kid: keys.kid })
      .sign(attacker);
    await expect(verifyLease(forged, jwks, expected)).rejects.toMatchObject(mismatch('LEASE_SIGNATURE'));
  });

  it('a lease of a key that is not published is refused', async () => {
    const other = createKeySet([generateSigningJwk()]);
    await expect(verifyLease(signLease(other, claims), jwks, expected)).rejects.toMatchObject(
      mismatch('LEASE_SIGNATURE'),
    );
  });

  it.each(['JWT', 'at+jwt', 'dpop+jwt', 'genlock-receipt+jws'])('typ %s is no lease', async (typ) => {
    const other = keys.signCompact(typ, JSON.stringify(claims));
    await expect(verifyLease(other, jwks, expected)).rejects.toMatchObject(mismatch('LEASE_MALFORMED'));
  });

  it('L3 an expired lease is refused', async () => {
    const late = { ...expected, now: epochMs(now + 10_000) };
    await expect(verifyLease(jwt, jwks, late)).rejects.toMatchObject({ code: 'LEASE_EXPIRED' });
  });

  it('a lease of another issuer is refused', async () => {
    await expect(verifyLease(jwt, jwks, { ...expected, issuer: 'http://other' })).rejects.toMatchObject(
      mismatch('LEASE_ISSUER'),
    );
  });

  it('a lease for another enforcement point is refused', async () => {
    await expect(verifyLease(jwt, jwks, { ...expected, audience: 'other' })).rejects.toMatchObject(
      mismatch('LEASE_AUDIENCE'),
    );
  });

  it.each(Object.keys(claims))('a lease without %s is refused', async (name) => {
    const { [name]: _, ...rest } = { ...claims } as Record<string, unknown>;
    const partial = keys.signCompact('genlock-lease+jwt', JSON.stringify(rest));
    await expect(verifyLease(partial, jwks, expected)).rejects.toMatchObject({ code: 'LEASE_MISMATCH' });
  });

  it('a clock tolerance of more than 2 s is refused', async () => {
    await expect(verifyLease(jwt, jwks, { ...expected, toleranceSeconds: 3 })).rejects.toThrow(RangeError);
  });
});

describe('receipt', () => {
  const text = JSON.stringify(exampleReceipt);
  const jws = signReceipt(keys, text);
  let parts: string[] = [];
  beforeAll(() => {
    parts = jws.split('.');
  });

  it('R1 verifies with the public key set alone, and gives back the very text', async () => {
    expect(await verifyReceipt(jws, jwks)).toEqual({
      body: exampleReceipt,
      canonicalBody: text,
      kid: keys.kid,
    });
  });

  it('R2 a refused call cannot be made an allowed one', async () => {
    const altered = `${parts[0]}.${encode({ ...exampleReceipt, decision: 'REFUSED' })}.${parts[2]}`;
    await expect(verifyReceipt(altered, jwks)).rejects.toMatchObject({
      code: 'RECEIPT_INVALID',
      reason: 'RECEIPT_SIGNATURE',
    });
  });

  it('R2 one flipped bit anywhere in the body is found', async () => {
    const bytes = Buffer.from(text);
    for (let place = 0; place < bytes.length; place += 37) {
      const copy = Buffer.from(bytes);
      copy[place] = (copy[place] ?? 0) ^ 1;
      const altered = `${parts[0]}.${copy.toString('base64url')}.${parts[2]}`;
      await expect(verifyReceipt(altered, jwks)).rejects.toMatchObject({ reason: 'RECEIPT_SIGNATURE' });
    }
  });

  it('a lease is no receipt', async () => {
    await expect(verifyReceipt(jwt, jwks)).rejects.toMatchObject({ reason: 'RECEIPT_MALFORMED' });
  });

  it('alg none is refused', async () => {
    const none = `${encode({ alg: 'none', typ: 'genlock-receipt+jws' })}.${parts[1]}.`;
    await expect(verifyReceipt(none, jwks)).rejects.toMatchObject({ reason: 'RECEIPT_MALFORMED' });
  });

  it.each(['', 'x', 'a.b', 'a.b.c'])('%j is refused', async (other) => {
    await expect(verifyReceipt(other, jwks)).rejects.toMatchObject({ code: 'RECEIPT_INVALID' });
  });

  it('signed JSON that is no receipt is refused', async () => {
    await expect(verifyReceipt(signReceipt(keys, '{}'), jwks)).rejects.toMatchObject({
      reason: 'RECEIPT_MALFORMED',
    });
  });
});
