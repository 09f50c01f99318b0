/**
 * Verifies callers' tokens against the operator's issuer. Nothing that the token says is believed before its
 * signature; a verified token is remembered until its own exp, never longer.
 */
import { createHash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { CatalogError, type ReasonOf } from '../domain/errors.js';
import {
  type Digest,
  type DurationMs,
  type EpochMs,
  epochMs,
  parseTenantId,
  type TenantId,
} from '../domain/ids.js';
import { createTokenCache } from './tokenCache.js';

/** No symmetric algorithm and no `none`: a public key must never be usable as an HMAC secret (RFC 8725 §2.1). */
const ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];
/** What an access token may call itself; a lease or a proof is none, whoever signed it (RFC 9068, RFC 8725 §3.11). */
const TYPES = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];
const CLOCK_TOLERANCE_SECONDS = 2;
const MAX_TOKEN_BYTES = 8_192;
const MAX_JWKS_BYTES = 1_048_576;
const MAX_SUBJECT_LENGTH = 255;
const MAX_ROLES = 100;
/** Control characters and lone surrogates: neither Postgres nor a canonical receipt can hold all of them. */
const UNSTORABLE = /[\p{Cs}\p{Cc}]/u;
const ROLE = /^[\x21-\x7e]{1,128}$/;

export interface CallerTokenSettings {
  /** Must equal `iss`. */
  readonly issuer: string;
  /** Must be in `aud`. */
  readonly audience: string;
  readonly jwksUrl: URL;
  /** One fetch of the key set. Default 5 s. */
  readonly fetchTimeout?: DurationMs;
  /** How long a fetched key set is used without asking again. Default 10 min. */
  readonly keysMaxAge?: DurationMs;
  /** How soon after a fetch an unknown kid causes another. Default 30 s. */
  readonly keysCooldown?: DurationMs;
  /** How many verified tokens are remembered for each tenant. Default 10,000. */
  readonly cacheSize?: number;
}

export interface VerifiedCaller {
  readonly tenant: TenantId;
  readonly subject: string;
  readonly roles: readonly string[];
  /** Every claim, for the policy's audience rules (S4). */
  readonly claims: Readonly<JWTPayload>;
  readonly tokenDigest: Digest;
  /** The key that the token is bound to (`cnf.jkt`); null for a bearer token. */
  readonly jkt: string | null;
  readonly expiresAt: EpochMs;
}

export interface CallerVerifier {
  /**
   * @param token the text after `Bearer` or `DPoP`; undefined where there is none
   * @throws CatalogError UNAUTHENTICATED with each of its reasons
   * @throws CatalogError UNAVAILABLE/ISSUER_KEYS
   */
  verify(token: string | undefined, now: EpochMs): Promise<VerifiedCaller>;
}

export const createCallerVerifier = (settings: CallerTokenSettings): CallerVerifier => {
  const keys = createRemoteJWKSet(settings.jwksUrl, {
    timeoutDuration: settings.fetchTimeout ?? 5_000,
    cacheMaxAge: settings.keysMaxAge ?? 600_000,
    cooldownDuration: settings.keysCooldown ?? 30_000,
    [customFetch]: fetchBounded,
  });
  const cache = createTokenCache(settings.cacheSize ?? 10_000);

  return {
    verify: async (token, now) => {
      if (token === undefined || token === '') throw unauthenticated('NO_TOKEN');
      if (token.length > MAX_TOKEN_BYTES) throw unauthenticated('MALFORMED');
      const tokenDigest = `sha256:${createHash('sha256').update(token).digest('hex')}` as Digest;
      const claimedTenant = tenantClaim(token);
      const known = cache.get(claimedTenant, tokenDigest, now);
      if (known !== undefined) return known;

      const caller = await verifyToken(token, tokenDigest, keys, settings, now);
      cache.put(caller, now);
      return caller;
    },
  };
};

const verifyToken = async (
  token: string,
  tokenDigest: Digest,
  keys: ReturnType<typeof createRemoteJWKSet>,
  { issuer, audience }: CallerTokenSettings,
  now: EpochMs,
): Promise<VerifiedCaller> => {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      algorithms: ALGORITHMS,
      issuer,
      audience,
      requiredClaims: ['exp', 'sub', 'tenant'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
    });
    if (!TYPES.includes(protectedHeader.typ?.toLowerCase())) throw unauthenticated('MALFORMED');
    if (payload.iat !== undefined && payload.iat > now / 1_000 + CLOCK_TOLERANCE_SECONDS)
      throw unauthenticated('EXPIRED');
    return callerOf(payload, tokenDigest);
  } catch (error) {
    throw error instanceof CatalogError ? error : tokenError(error);
  }
};

const callerOf = (payload: JWTPayload, tokenDigest: Digest): VerifiedCaller => {
  const { sub, exp, tenant, roles = [], cnf } = payload;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_LENGTH || UNSTORABLE.test(sub))
    throw badClaim('sub');
  if (typeof exp !== 'number') throw badClaim('exp');
  if (!Array.isArray(roles) || roles.length > MAX_ROLES || !roles.every(isRole)) throw badClaim('roles');
  return {
    tenant: tenantOf(tenant),
    subject: sub,
    roles: [...new Set(roles)],
    claims: payload,
    tokenDigest,
    jkt: thumbprintOf(cnf),
    expiresAt: epochMs(Math.floor(exp * 1_000)),
  };
};

const isRole = (value: unknown): value is string => typeof value === 'string' && ROLE.test(value);

const tenantOf = (claim: unknown): TenantId => {
  if (typeof claim !== 'string') throw badClaim('tenant');
  try {
    return parseTenantId(claim);
  } catch {
    throw badClaim('tenant');
  }
};

// A cnf of a kind that is not understood must not be read as "unbound": such a token is refused (RFC 7800 §3).
const thumbprintOf = (cnf: unknown): string | null => {
  if (cnf === undefined) return null;
  if (typeof cnf !== 'object' || cnf === null || !('jkt' in cnf)) throw badClaim('cnf');
  const { jkt } = cnf;
  if (typeof jkt !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(jkt)) throw badClaim('cnf');
  return jkt;
};

/** Only a part of the cache key: the entry it finds was made from the verified claim. */
const tenantClaim = (token: string): string => {
  try {
    const { tenant } = decodeJwt(token);
    return typeof tenant === 'string' ? tenant : '';
  } catch (cause) {
    throw unauthenticated('MALFORMED', {}, cause);
  }
};

const tokenError = (cause: unknown): CatalogError => {
  if (cause instanceof errors.JWTExpired) return unauthenticated('EXPIRED', {}, cause);
  if (cause instanceof errors.JWTClaimValidationFailed) {
    if (cause.reason === 'missing') return unauthenticated('BAD_CLAIMS', { claim: cause.claim }, cause);
    if (cause.claim === 'iss') return unauthenticated('WRONG_ISSUER', {}, cause);
    if (cause.claim === 'aud') return unauthenticated('WRONG_AUDIENCE', {}, cause);
    if (cause.claim === 'nbf' && cause.reason === 'check_failed')
      return unauthenticated('EXPIRED', {}, cause);
    return unauthenticated('BAD_CLAIMS', { claim: cause.claim }, cause);
  }
  if (
    cause instanceof errors.JWSSignatureVerificationFailed ||
    cause instanceof errors.JWKSNoMatchingKey ||
    cause instanceof errors.JWKSMultipleMatchingKeys
  )
    return unauthenticated('BAD_SIGNATURE', {}, cause);
  if (
    cause instanceof errors.JWSInvalid ||
    cause instanceof errors.JWTInvalid ||
    cause instanceof errors.JOSEAlgNotAllowed ||
    cause instanceof errors.JOSENotSupported
  )
    return unauthenticated('MALFORMED', {}, cause);
  // What is left concerns the key set: it was not fetched, not in time, not JSON, or holds unusable keys.
  return new CatalogError('UNAVAILABLE', 'ISSUER_KEYS', {}, { cause });
};

/** A fetch that stops reading at a bound: the issuer is trusted with identities, not with this process's memory. */
const fetchBounded = async (url: string, options: RequestInit): Promise<Response> => {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_JWKS_BYTES) throw new Error('the key set is larger than 1 MiB');
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status });
};

const badClaim = (claim: string): CatalogError => unauthenticated('BAD_CLAIMS', { claim });

const unauthenticated = (reason: ReasonOf<'UNAUTHENTICATED'>, details = {}, cause?: unknown): CatalogError =>
  new CatalogError('UNAUTHENTICATED', reason, details, cause === undefined ? undefined : { cause });
