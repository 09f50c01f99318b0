import { createHash, createHmac } from 'node:crypto';
import * as dpop from 'dpop';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDpopKey, type DpopKey, generateDpopJwk, importDpopKey } from '../../../src/client/dpopKey.js';
import { epochMs } from '../../../src/domain/ids.js';
import { verifyDpopProof } from '../../../src/keys/dpop.js';

const now = epochMs(1_764_523_000_000);
const accessToken = 'header.payload.signature';
const ath = createHash('sha256').update(accessToken).digest('base64url');
const url = 'http://127.0.0.1:7000/v1/admissions';
const expected = { method: 'POST', url, accessToken, boundTo: null, now };
const invalid = (reason: string) => ({ code: 'PROOF_INVALID', reason });
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const good = { jti: 'j', htm: 'POST', htu: url, iat: now / 1_000, ath };

let pair: Awaited<ReturnType<typeof generateKeyPair>>;
let publicJwk: JWK;
let key: DpopKey;
beforeAll(async () => {
  pair = await generateKeyPair('ES256', { extractable: true });
  publicJwk = await exportJWK(pair.publicKey);
  key = await createDpopKey();
});

const proof = (claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: publicJwk, ...header })
    .sign(pair.privateKey);

describe('DPoP proof', () => {
  it('L1 a proof of our client verifies to the thumbprint of its key', async () => {
    const made = await key.prove({ method: 'POST', url, accessToken, now });
    expect(await verifyDpopProof(made, { ...expected, boundTo: key.jkt })).toMatchObject({
      jkt: key.jkt,
      iat: now / 1_000,
    });
  });

  it.each(['ES256', 'Ed25519', 'PS256'] as const)(
    'a proof of the independent dpop client verifies: %s',
    async (alg) => {
      const theirs = await dpop.generateKeyPair(alg);
      const made = await dpop.generateProof(theirs, url, 'POST', undefined, accessToken);
      const verified = await verifyDpopProof(made, { ...expected, now: epochMs(Date.now()) });
      expect(verified.jkt).toBe(await dpop.calculateThumbprint(theirs.publicKey));
    },
  );

  it('no two proofs of one key share a jti', async () => {
    const proofs = await Promise.all([1, 2].map(() => key.prove({ method: 'POST', url, accessToken, now })));
    const ids = await Promise.all(proofs.map(async (made) => (await verifyDpopProof(made, expected)).jti));
    expect(new Set(ids).size).toBe(2);
  });

  it('a stored key keeps its thumbprint', async () => {
    const jwk = await generateDpopJwk();
    const stored = await importDpopKey(JSON.parse(JSON.stringify(jwk)) as JWK);
    const made = await stored.prove({ method: 'POST', url, accessToken, now });
    expect((await verifyDpopProof(made, expected)).jkt).toBe((await importDpopKey(jwk)).jkt);
    await expect(importDpopKey(stored.publicJwk)).rejects.toThrow(TypeError);
  });

  it.each([undefined, ''])('MISSING for %j', async (none) => {
    await expect(verifyDpopProof(none, expected)).rejects.toMatchObject(invalid('MISSING'));
  });

  it.each(['x', 'a.b.c', `${'a'.repeat(5_000)}.b.c`])('MALFORMED for text that is no JWT', async (text) => {
    await expect(verifyDpopProof(text, expected)).rejects.toMatchObject(invalid('MALFORMED'));
  });

  it('two proofs in one header are refused', async () => {
    const made = await proof(good);
    await expect(verifyDpopProof(`${made}, ${made}`, expected)).rejects.toMatchObject(invalid('MALFORMED'));
  });

  it('alg none is refused', async () => {
    const none = `${encode({ alg: 'none', typ: 'dpop+jwt', jwk: publicJwk })}.${encode(good)}.`;
    await expect(verifyDpopProof(none, expected)).rejects.toMatchObject(invalid('MALFORMED'));
  });

  it('HS256 with an embedded symmetric key is refused', async () => {
    const header = { alg: 'HS256', typ: 'dpop+jwt', jwk: { kty: 'oct', k: 'c2VjcmV0' } };
    const input = `${encode(header)}.${encode(good)}`;
    const forged = `${input}.${createHmac('sha256', 'secret').update(input).digest('base64url')}`;
    await expect(verifyDpopProof(forged, expected)).rejects.toMatchObject(invalid('MALFORMED'));
  });

  it.each(['JWT', 'at+jwt', 'genlock-lease+jwt'])('typ %s is refused', async (typ) => {
    await expect(verifyDpopProof(await proof(good, { typ }), expected)).rejects.toMatchObject(
      invalid('MALFORMED'),
    );
  });

  it('a proof without its key is refused', async () => {
    await expect(verifyDpopProof(await proof(good, { jwk: undefined }), expected)).rejects.toMatchObject(
      invalid('MALFORMED'),
    );
  });

  it('a proof that carries its private key is refused', async () => {
    const jwk = await exportJWK(pair.privateKey);
    await expect(verifyDpopProof(await proof(good, { jwk }), expected)).rejects.toMatchObject(
      invalid('MALFORMED'),
    );
  });

  it('a proof signed by another key than the embedded one is refused', async () => {
    await expect(verifyDpopProof(await proof(good, { jwk: key.publicJwk }), expected)).rejects.toMatchObject(
      invalid('SIGNATURE'),
    );
  });

  it('a key that was seen before is still checked against the signature', async () => {
    const [header, payload] = (await proof(good)).split('.');
    await verifyDpopProof(await proof(good), expected);
    const [, , other] = (await proof({ ...good, jti: 'k' })).split('.');
    await expect(verifyDpopProof(`${header}.${payload}.${other}`, expected)).rejects.toMatchObject(
      invalid('SIGNATURE'),
    );
    expect((await verifyDpopProof(await proof(good), expected)).jti).toBe('j');
  });

  it('changed claims are refused', async () => {
    const [header, , signature] = (await proof(good)).split('.');
    const altered = `${header}.${encode({ ...good, jti: 'k' })}.${signature}`;
    await expect(verifyDpopProof(altered, expected)).rejects.toMatchObject(invalid('SIGNATURE'));
  });

  it.each([
    ['no jti', { jti: undefined }, 'MALFORMED'],
    ['an empty jti', { jti: '' }, 'MALFORMED'],
    ['a jti that is too long', { jti: 'j'.repeat(129) }, 'MALFORMED'],
    ['no iat', { iat: undefined }, 'MALFORMED'],
    ['another method', { htm: 'GET' }, 'WRONG_TARGET'],
    ['a method in lower case', { htm: 'post' }, 'WRONG_TARGET'],
    ['no htu', { htu: undefined }, 'WRONG_TARGET'],
    ['an htu that is no URL', { htu: '/v1/admissions' }, 'WRONG_TARGET'],
    ['another path', { htu: 'http://127.0.0.1:7000/v1/receipts' }, 'WRONG_TARGET'],
    ['another port', { htu: 'http://127.0.0.1:7001/v1/admissions' }, 'WRONG_TARGET'],
    ['another scheme', { htu: 'https://127.0.0.1:7000/v1/admissions' }, 'WRONG_TARGET'],
    ['no ath', { ath: undefined }, 'WRONG_TOKEN'],
    [
      'the ath of another token',
      { ath: createHash('sha256').update('t').digest('base64url') },
      'WRONG_TOKEN',
    ],
    ['an iat of 61 s ago', { iat: now / 1_000 - 61 }, 'STALE'],
    ['an iat of 3 s ahead', { iat: now / 1_000 + 3 }, 'STALE'],
  ])('%s is refused', async (_, change, reason) => {
    const claims = JSON.parse(JSON.stringify({ ...good, ...change })) as JWTPayload;
    await expect(verifyDpopProof(await proof(claims), expected)).rejects.toMatchObject(invalid(reason));
  });

  it.each([-60, 2])('an iat of %d s is within the window', async (seconds) => {
    const made = await proof({ ...good, iat: now / 1_000 + seconds });
    expect((await verifyDpopProof(made, expected)).jti).toBe('j');
  });

  it('RFC 9449 §4.3 query and fragment of the target are ignored, its spelling normalised', async () => {
    const made = await proof({ ...good, htu: 'HTTP://API.example:80/v1/x#frag' });
    const request = { ...expected, url: 'http://api.example/v1/x?after=1' };
    expect((await verifyDpopProof(made, request)).jti).toBe('j');
  });

  it('L1 a key that the token is not bound to is refused', async () => {
    await expect(verifyDpopProof(await proof(good), { ...expected, boundTo: key.jkt })).rejects.toMatchObject(
      invalid('KEY_MISMATCH'),
    );
  });

  it('an RSA key of 1024 bits is refused', async () => {
    const { generateKeyPairSync, sign, constants } = await import('node:crypto');
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const header = { alg: 'PS256', typ: 'dpop+jwt', jwk: small.publicKey.export({ format: 'jwk' }) };
    const input = `${encode(header)}.${encode(good)}`;
    const signature = sign('sha256', Buffer.from(input), {
      key: small.privateKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: 32,
    });
    await expect(
      verifyDpopProof(`${input}.${signature.toString('base64url')}`, expected),
    ).rejects.toMatchObject(invalid('MALFORMED'));
  });
});
