/**
 * The holder's key of an agent or of the CLI, and the proofs it makes (RFC 9449). On jose and WebCrypto alone, so
 * that the same file runs in Node and in a browser.
 */
import {
  base64url,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose';

const ALG = 'ES256';

export interface DpopRequest {
  readonly method: string;
  /** Absolute URL of the request. */
  readonly url: string;
  /** The access token that the request will carry. */
  readonly accessToken: string;
  /** Milliseconds since the epoch; the default is this machine's clock. */
  readonly now?: number;
}

export interface DpopKey {
  /** RFC 7638 thumbprint: what a token or a lease is bound to. */
  readonly jkt: string;
  readonly publicJwk: JWK;
  /** A fresh proof for one request, good once. */
  prove(request: DpopRequest): Promise<string>;
}

/** A new P-256 key that cannot be exported: it lives as long as this process or page. */
export const createDpopKey = async (): Promise<DpopKey> => {
  const { privateKey, publicKey } = await generateKeyPair(ALG, { extractable: false });
  return dpopKey(privateKey, await exportJWK(publicKey));
};

/** A new private key as a JWK, for a client that keeps it in a file of its own (mode 0600). */
export const generateDpopJwk = async (): Promise<JWK> =>
  exportJWK((await generateKeyPair(ALG, { extractable: true })).privateKey);

/**
 * The key that `generateDpopJwk` made.
 * @throws TypeError for anything but a P-256 private key
 */
export const importDpopKey = async (jwk: JWK): Promise<DpopKey> => {
  const { kty, crv, x, y, d } = jwk;
  if (kty !== 'EC' || crv !== 'P-256' || x === undefined || y === undefined || d === undefined)
    throw new TypeError('not a P-256 private key');
  const key = await importJWK({ kty, crv, x, y, d }, ALG);
  if (key instanceof Uint8Array) throw new TypeError('not a P-256 private key');
  return dpopKey(key, { kty, crv, x, y });
};

const dpopKey = async (
  privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'],
  publicJwk: JWK,
): Promise<DpopKey> => ({
  jkt: await calculateJwkThumbprint(publicJwk, 'sha256'),
  publicJwk,
  prove: async ({ method, url, accessToken, now = Date.now() }) => {
    const htu = new URL(url);
    htu.search = '';
    htu.hash = '';
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(accessToken));
    return new SignJWT({
      jti: crypto.randomUUID(),
      htm: method,
      htu: htu.href,
      iat: Math.floor(now / 1_000),
      ath: base64url.encode(new Uint8Array(digest)),
    })
      .setProtectedHeader({ alg: ALG, typ: 'dpop+jwt', jwk: publicJwk })
      .sign(privateKey);
  },
});
