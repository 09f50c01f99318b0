import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportSPKI, importJWK, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { durationMs, epochMs } from '../../../src/domain/ids.js';
import { type CallerTokenSettings, createCallerVerifier } from '../../../src/keys/callerToken.js';
import { createKeySet, generateSigningJwk, type KeySet } from '../../../src/keys/keySet.js';

const issuer = 'https://issuer.example';
const audience = 'genlock';
const now = epochMs(1_764_523_000_000);
const seconds = now / 1_000;
const claims = {
  iss: issuer,
  aud: audience,
  sub: 'alice',
  tenant: 'acme',
  roles: ['stock-manager', 'stock-manager', 'auditor'],
  iat: seconds,
  exp: seconds + 300,
};
const refused = (reason: string) => ({ code: 'UNAUTHENTICATED', reason });
/** No fault of the caller: it may come again. */
const ISSUER_KEYS = { code: 'UNAVAILABLE', reason: 'ISSUER_KEYS' };
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The issuer's key set over HTTP, bent by what `answer` holds. */
const issuerServer = {
  fetches: 0,
  answer: { status: 200, body: '' },
  silent: false,
};
let server: Server;
let keys: KeySet;
let settings: CallerTokenSettings;

beforeAll(async () => {
  server = createServer((_, response) => {
    issuerServer.fetches += 1;
    if (!issuerServer.silent) response.writeHead(issuerServer.answer.status).end(issuerServer.answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  keys = createKeySet([generateSigningJwk()]);
  Object.assign(issuerServer, { fetches: 0, silent: false, answer: { status: 200, body: published(keys) } });
  const { port } = server.address() as AddressInfo;
  settings = { issuer, audience, jwksUrl: new URL(`http://127.0.0.1:${port}/jwks.json`) };
});

const published = (set: KeySet): string => JSON.stringify(set.publicJwks() satisfies JSONWebKeySet);
const token = (change: Record<string, unknown> = {}, typ = 'at+jwt', signer = keys): string =>
  signer.signCompact(typ, JSON.stringify({ ...claims, ...change }));
const verify = (text: string | undefined, at = now) => createCallerVerifier(settings).verify(text, at);

describe('caller token', () => {
  it('S4 gives tenant, subject and roles from verified claims', async () => {
    const caller = await verify(token({ dept: 'north' }));
    expect(caller).toMatchObject({
      tenant: 'acme',
      subject: 'alice',
      roles: ['stock-manager', 'auditor'],
      jkt: null,
      expiresAt: now + 300_000,
    });
    expect(caller.claims['dept']).toBe('north');
    expect(caller.tokenDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('L1 gives the key that the token is bound to', async () => {
    expect((await verify(token({ cnf: { jkt: 'k'.repeat(43) } }))).jkt).toBe('k'.repeat(43));
  });

  it.each([undefined, ''])('NO_TOKEN for %j', async (none) => {
    await expect(verify(none)).rejects.toMatchObject(refused('NO_TOKEN'));
  });

  it.each(['x', 'a.b.c', 'a'.repeat(9_000)])('MALFORMED for text that is no JWT', async (text) => {
    await expect(verify(text)).rejects.toMatchObject(refused('MALFORMED'));
    expect(issuerServer.fetches).toBe(0);
  });

  it('alg none is refused', async () => {
    await expect(verify(`${encode({ alg: 'none' })}.${encode(claims)}.`)).rejects.toMatchObject(
      refused('MALFORMED'),
    );
  });

  it('HS256 with the public key as secret is refused', async () => {
    const publicKey = await importJWK(keys.publicJwks().keys[0] ?? {}, 'ES256');
    const secret = publicKey instanceof Uint8Array ? publicKey : await exportSPKI(publicKey);
    const input = `${encode({ alg: 'HS256', kid: keys.kid })}.${encode(claims)}`;
    const forged = `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    await expect(verify(forged)).rejects.toMatchObject(refused('MALFORMED'));
  });

  it('an unknown critical header is refused', async () => {
    const header = encode({ alg: 'ES256', kid: keys.kid, crit: ['x'], x: 1 });
    const [, payload, signature] = token().split('.');
    await expect(verify(`${header}.${payload}.${signature}`)).rejects.toMatchObject(refused('MALFORMED'));
  });

  it.each(['genlock-lease+jwt', 'dpop+jwt', 'genlock-receipt+jws', 'logout+jwt'])(
    'typ %s is no access token',
    async (typ) => {
      await expect(verify(token({}, typ))).rejects.toMatchObject(refused('MALFORMED'));
    },
  );

  it('a token of another key is refused', async () => {
    const attacker = createKeySet([generateSigningJwk()]);
    await expect(verify(token({}, 'at+jwt', attacker))).rejects.toMatchObject(refused('BAD_SIGNATURE'));
  });

  it('S4 another tenant under the same signature is refused, also when the honest token is cached', async () => {
    const verifier = createCallerVerifier(settings);
    const honest = token();
    await verifier.verify(honest, now);
    const [header, , signature] = honest.split('.');
    const forged = `${header}.${encode({ ...claims, tenant: 'globex' })}.${signature}`;
    await expect(verifier.verify(forged, now)).rejects.toMatchObject(refused('BAD_SIGNATURE'));
  });

  it.each([
    ['another issuer', { iss: 'https://other' }, 'WRONG_ISSUER'],
    ['another audience', { aud: 'other' }, 'WRONG_AUDIENCE'],
    ['past its exp', { exp: seconds - 2 }, 'EXPIRED'],
    ['not yet valid', { nbf: seconds + 3 }, 'EXPIRED'],
    ['issued in the future', { iat: seconds + 3 }, 'EXPIRED'],
    ['no exp', { exp: undefined }, 'BAD_CLAIMS'],
    ['no subject', { sub: undefined }, 'BAD_CLAIMS'],
    ['an empty subject', { sub: '' }, 'BAD_CLAIMS'],
    ['a subject with a NUL', { sub: 'a\u0000b' }, 'BAD_CLAIMS'],
    ['no tenant', { tenant: undefined }, 'BAD_CLAIMS'],
    ['a tenant that is no id', { tenant: '../x' }, 'BAD_CLAIMS'],
    ['a tenant that is no text', { tenant: 7 }, 'BAD_CLAIMS'],
    ['roles that are no list', { roles: 'admin' }, 'BAD_CLAIMS'],
    ['a role that is no text', { roles: [{}] }, 'BAD_CLAIMS'],
    ['a confirmation that is not understood', { cnf: { 'x5t#S256': 'x' } }, 'BAD_CLAIMS'],
    ['a malformed thumbprint', { cnf: { jkt: 'short' } }, 'BAD_CLAIMS'],
    ['an exp that is no number', { exp: 'never' }, 'BAD_CLAIMS'],
  ])('%s is refused', async (_, change, reason) => {
    await expect(verify(token(change))).rejects.toMatchObject(refused(reason));
  });

  it('a token without roles has none', async () => {
    expect((await verify(token({ roles: undefined }))).roles).toEqual([]);
  });

  it('a clock tolerance of 2 s holds, and such a token is not remembered', async () => {
    const verifier = createCallerVerifier({ ...settings, keysMaxAge: durationMs(0) });
    const late = token({ exp: seconds - 1 });
    await verifier.verify(late, now);
    await verifier.verify(late, now);
    expect(issuerServer.fetches).toBe(2);
  });

  it('a verified token is answered from memory until its exp, never longer', async () => {
    const verifier = createCallerVerifier(settings);
    const text = token();
    const first = await verifier.verify(text, now);
    expect(await verifier.verify(text, epochMs(now + 299_999))).toBe(first);
    await expect(verifier.verify(text, epochMs(now + 302_000))).rejects.toMatchObject(refused('EXPIRED'));
  });

  it('the memory is bounded for each tenant, and one tenant evicts nothing of another', async () => {
    const verifier = createCallerVerifier({ ...settings, cacheSize: 1 });
    const mine = token();
    const first = await verifier.verify(mine, now);
    await verifier.verify(token({ tenant: 'globex' }), now);
    expect(await verifier.verify(mine, now)).toBe(first);
    await verifier.verify(token({ sub: 'bob' }), now);
    expect(await verifier.verify(mine, now)).not.toBe(first);
  });

  it('a rotated key is fetched when its kid is first seen', async () => {
    const verifier = createCallerVerifier({ ...settings, keysCooldown: durationMs(0) });
    await verifier.verify(token(), now);
    const next = createKeySet([generateSigningJwk()]);
    issuerServer.answer.body = published(next);
    expect((await verifier.verify(token({}, 'at+jwt', next), now)).subject).toBe('alice');
  });

  it('unknown kids cause no more than one fetch within the cooldown', async () => {
    const verifier = createCallerVerifier(settings);
    for (let round = 0; round < 5; round += 1) {
      const attacker = createKeySet([generateSigningJwk()]);
      await expect(verifier.verify(token({}, 'at+jwt', attacker), now)).rejects.toMatchObject(
        refused('BAD_SIGNATURE'),
      );
    }
    expect(issuerServer.fetches).toBe(1);
  });

  it.each([
    ['an error', 500, ''],
    ['a redirect', 302, ''],
    ['no JSON', 200, 'x'],
    ['no key set', 200, '{}'],
    ['more than 1 MiB', 200, `{"keys":[],"x":"${'x'.repeat(1_100_000)}"}`],
  ])('A6 an issuer that answers with %s makes its keys unavailable', async (_, status, body) => {
    issuerServer.answer = { status, body };
    await expect(verify(token())).rejects.toMatchObject(ISSUER_KEYS);
  });

  it('A6 an issuer that cannot be reached makes its keys unavailable', async () => {
    settings = { ...settings, jwksUrl: new URL('http://127.0.0.1:1/jwks.json') };
    await expect(verify(token())).rejects.toMatchObject(ISSUER_KEYS);
  });

  it('A6 an issuer that never answers is given up', async () => {
    issuerServer.silent = true;
    settings = { ...settings, fetchTimeout: durationMs(50) };
    await expect(verify(token())).rejects.toMatchObject(ISSUER_KEYS);
  });
});
