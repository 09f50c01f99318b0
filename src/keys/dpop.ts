/**
 * Verifies a DPoP proof (RFC 9449 §4.3) except for its replay, which is recorded in Postgres by the caller, and
 * only after everything else held: else an attacker could burn another's jti with a proof that does not verify.
 */
import { createHash } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, compactVerify, EmbeddedJWK, errors } from 'jose';
import { CatalogError, type ReasonOf } from '../domain/errors.js';
import type { DurationMs, EpochMs } from '../domain/ids.js';
import { durationMs } from '../domain/ids.js';

/** Asymmetric only (RFC 9449 §4.3); RS256 is left out, since PS256 is its better form. */
const ALGORITHMS = ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256'];
const MAX_PROOF_BYTES = 4_096;
const MAX_JTI_LENGTH = 128;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

export interface DpopExpectation {
  /** HTTP method of the request. */
  readonly method: string;
  /** Absolute URL of the request as the client sees it; its query and fragment are ignored. */
  readonly url: string;
  /** The access token that the request carries. */
  readonly accessToken: string;
  /** The key that the token is bound to (`cnf.jkt`), or null for an unbound token. */
  readonly boundTo: string | null;
  readonly now: EpochMs;
  /** How old a proof may be. Default 60 s. */
  readonly maxAge?: DurationMs;
  /** How far its iat may be ahead. Default 2 s. */
  readonly maxAhead?: DurationMs;
}

export interface VerifiedProof {
  /** RFC 7638 thumbprint of the holder's key. */
  readonly jkt: string;
  /** Unique per key within the window; the caller records it. */
  readonly jti: string;
  /** Seconds since the epoch, as the proof says. */
  readonly iat: number;
}

/**
 * @param proof the one value of the DPoP header; undefined where there is none
 * @throws CatalogError PROOF_INVALID with MISSING, MALFORMED, SIGNATURE, WRONG_TARGET, WRONG_TOKEN, STALE or KEY_MISMATCH
 */
export const verifyDpopProof = async (
  proof: string | undefined,
  expected: DpopExpectation,
): Promise<VerifiedProof> => {
  if (proof === undefined || proof === '') throw invalid('MISSING');
  if (proof.length > MAX_PROOF_BYTES) throw invalid('MALFORMED', { rule: 'too long' });
  const { jkt, claims } = await verifySignature(proof);

  const { jti, iat, htm, htu, ath } = claims;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI_LENGTH)
    throw invalid('MALFORMED', { claim: 'jti' });
  if (typeof iat !== 'number' || !Number.isFinite(iat)) throw invalid('MALFORMED', { claim: 'iat' });
  if (htm !== expected.method) throw invalid('WRONG_TARGET', { claim: 'htm' });
  if (typeof htu !== 'string' || target(htu) === null || target(htu) !== target(expected.url))
    throw invalid('WRONG_TARGET', { claim: 'htu' });
  if (ath !== createHash('sha256').update(expected.accessToken).digest('base64url'))
    throw invalid('WRONG_TOKEN');
  const age = expected.now - iat * 1_000;
  if (age > (expected.maxAge ?? DEFAULT_MAX_AGE) || -age > (expected.maxAhead ?? DEFAULT_MAX_AHEAD))
    throw invalid('STALE');
  if (expected.boundTo !== null && expected.boundTo !== jkt) throw invalid('KEY_MISMATCH');
  return { jkt, jti, iat };
};

const DEFAULT_MAX_AGE = durationMs(60_000);
const DEFAULT_MAX_AHEAD = durationMs(2_000);

/**
 * A client's header is the same in all its proofs, and importing its key costs more than verifying with it. A header
 * comes in only after its proof verified, so that garbage evicts nobody. It holds public keys by their own text:
 * whoever finds one there has presented that very key.
 */
const knownHeaders = new Map<string, { readonly key: CryptoKey; readonly jkt: string }>();
const MAX_KNOWN_HEADERS = 2_000;

const verifySignature = async (proof: string): Promise<{ jkt: string; claims: Record<string, unknown> }> => {
  const header = proof.slice(0, proof.indexOf('.'));
  const known = knownHeaders.get(header);
  try {
    if (known !== undefined) {
      const { payload } = await compactVerify(proof, known.key, { algorithms: ALGORITHMS });
      return { jkt: known.jkt, claims: claimsOf(payload) };
    }
    const { protectedHeader, payload, key } = await compactVerify(proof, EmbeddedJWK, {
      algorithms: ALGORITHMS,
    });
    const { typ, jwk } = protectedHeader;
    if (typ !== 'dpop+jwt') throw invalid('MALFORMED', { header: 'typ' });
    // A proof that carries its private key proves nothing about who made it, even where the rest verifies.
    if (jwk === undefined || PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name)))
      throw invalid('MALFORMED', { header: 'jwk' });
    const claims = claimsOf(payload);
    const jkt = await calculateJwkThumbprint(jwk, 'sha256');
    remember(header, { key, jkt });
    return { jkt, claims };
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    if (cause instanceof errors.JWSSignatureVerificationFailed) throw invalid('SIGNATURE', {}, cause);
    throw invalid('MALFORMED', {}, cause);
  }
};

const remember = (header: string, known: { readonly key: CryptoKey; readonly jkt: string }): void => {
  const [oldest] = knownHeaders.keys();
  if (knownHeaders.size >= MAX_KNOWN_HEADERS && oldest !== undefined) knownHeaders.delete(oldest);
  knownHeaders.set(header, known);
};

const claimsOf = (payload: Uint8Array): Record<string, unknown> => {
  const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims))
    throw invalid('MALFORMED', { rule: 'the claims are not an object' });
  return { ...claims };
};

/** RFC 9449 §4.3 point 9: compared after URL normalisation, without query and fragment. */
const target = (text: string): string | null => {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  url.search = '';
  url.hash = '';
  return url.href;
};

const invalid = (reason: ReasonOf<'PROOF_INVALID'>, details = {}, cause?: unknown): CatalogError =>
  new CatalogError('PROOF_INVALID', reason, details, cause === undefined ? undefined : { cause });
