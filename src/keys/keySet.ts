/**
 * Genlock's own signing keys: what signs leases and receipts, and the public set that anyone verifies them with.
 * Signing is synchronous node:crypto, since it stands on the path of every admission.
 *
 * `npm run bench -- signing` compares ES256 with EdDSA and node:crypto with jose. Verifying stays with jose, whose header
 * checks are worth what they cost.
 */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import type { JSONWebKeySet, JWK } from 'jose';
import { CatalogError } from '../domain/errors.js';
import type { Digest } from '../domain/ids.js';

const SIGNING_ALG = 'ES256';

/** A P-256 private key as it stands in the key file. `active: false` verifies but never signs again. */
export interface SigningJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly d: string;
  readonly kid: string;
  readonly active: boolean;
}

export interface KeySet {
  /** The key that signs. */
  readonly kid: string;
  /** Compact JWS (RFC 7515) over exactly these bytes of UTF-8 text. */
  signCompact(typ: string, payload: string): string;
  /** Public members only (RFC 7517), every key, so that what an older key signed still verifies. */
  publicJwks(): JSONWebKeySet;
  /**
   * HMAC-SHA-256 of a secret under a key that is derived from the oldest key of the set, so that adding a newer one
   * changes no fingerprint.
   */
  fingerprint(secret: string): Digest;
}

/** RFC 7638 thumbprint of a P-256 key, base64url of SHA-256. */
const thumbprint = (x: string, y: string): string =>
  createHash('sha256').update(`{"crv":"P-256","kty":"EC","x":"${x}","y":"${y}"}`).digest('base64url');

/** A fresh ES256 key, active. */
export const generateSigningJwk = (): SigningJwk => {
  const {
    x = '',
    y = '',
    d = '',
  } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    format: 'jwk',
  });
  return { kty: 'EC', crv: 'P-256', x, y, d, kid: thumbprint(x, y), active: true };
};

/**
 * A key set of one or more keys: the first active one signs, all verify.
 * @throws CatalogError CONFIG_INVALID/INVALID_VARIABLE where a key is malformed or none is active
 */
export const createKeySet = (keys: readonly SigningJwk[]): KeySet => {
  const loaded = keys.map((jwk, index) => ({ jwk, key: importPrivate(jwk, index) }));
  if (new Set(keys.map((jwk) => jwk.kid)).size !== keys.length)
    throw malformed('the same key stands there twice');
  const signer = loaded.find(({ jwk }) => jwk.active);
  if (signer === undefined) throw malformed('no key is active');
  const { kid } = signer.jwk;
  const oldest = keys.at(-1)?.d ?? '';
  const fingerprintKey = Buffer.from(
    hkdfSync('sha256', Buffer.from(oldest, 'base64url'), '', 'genlock credential fingerprint', 32),
  );
  const jwks: JSONWebKeySet = { keys: keys.map(publicPart) };

  return {
    kid,
    signCompact: (typ, payload) => {
      const header = base64url(JSON.stringify({ alg: SIGNING_ALG, kid, typ }));
      const input = `${header}.${base64url(payload)}`;
      const signature = sign('sha256', Buffer.from(input, 'ascii'), {
        key: signer.key,
        dsaEncoding: 'ieee-p1363',
      });
      return `${input}.${signature.toString('base64url')}`;
    },
    publicJwks: () => structuredClone(jwks),
    fingerprint: (secret) =>
      `sha256:${createHmac('sha256', fingerprintKey).update(secret, 'utf8').digest('hex')}` as Digest,
  };
};

// Members are picked one by one: a private member that somebody adds later cannot leak through a spread.
const publicPart = ({ kty, crv, x, y, kid }: SigningJwk): JWK => ({
  kty,
  crv,
  x,
  y,
  kid,
  use: 'sig',
  alg: SIGNING_ALG,
});

const base64url = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

const importPrivate = (jwk: SigningJwk, index: number): KeyObject => {
  if (jwk.kid !== thumbprint(jwk.x, jwk.y))
    throw malformed(`key ${index}: kid is not its RFC 7638 thumbprint`);
  const { kty, crv, x, y, d } = jwk;
  try {
    const key = createPrivateKey({ format: 'jwk', key: { kty, crv, x, y, d } });
    const publicKey = createPublicKey({ format: 'jwk', key: { kty, crv, x, y } });
    // OpenSSL takes a d that does not belong to x and y; nobody could verify what it signs.
    const probe = Buffer.from('genlock');
    if (verify('sha256', probe, publicKey, sign('sha256', probe, key))) return key;
  } catch {
    // The cause is dropped on purpose: it may quote key material.
  }
  throw malformed(`key ${index}: not a P-256 private key`);
};

const malformed = (rule: string): CatalogError =>
  new CatalogError('CONFIG_INVALID', 'INVALID_VARIABLE', { what: 'signing keys', rule });
