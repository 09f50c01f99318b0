/**
 * Signs leases, and verifies them with nothing but the public key set, as an enforcement point outside Genlock does.
 * Verifying here says that a lease was issued and is in time; whether it may be redeemed is the store's question.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import { EFFECT_CLASSES } from '../domain/descriptor.js';
import { CatalogError } from '../domain/errors.js';
import type { EpochMs } from '../domain/ids.js';
import { LEASE_TYP, type LeaseClaims } from '../domain/lease.js';
import type { KeySet } from './keySet.js';

const MAX_LEASE_BYTES = 16_384;

/** Compact JWT of a lease, ES256, typ `genlock-lease+jwt`. */
export const signLease = (keys: KeySet, claims: LeaseClaims): string =>
  keys.signCompact(LEASE_TYP, JSON.stringify(claims));

export interface LeaseExpectation {
  readonly issuer: string;
  readonly audience: string;
  readonly now: EpochMs;
  /** How far the verifier's clock may be behind or ahead, at most 2 s. Default 0. */
  readonly toleranceSeconds?: number;
}

/**
 * The claims of a lease that verifies (RFC 7519 §7.2, RFC 8725: algorithm and typ are fixed here, not read from it).
 * @throws CatalogError LEASE_EXPIRED/PAST_EXPIRY
 * @throws CatalogError LEASE_MISMATCH/LEASE_MALFORMED|LEASE_SIGNATURE|LEASE_ISSUER|LEASE_AUDIENCE
 */
export const verifyLease = async (
  jwt: string,
  jwks: JSONWebKeySet,
  { issuer, audience, now, toleranceSeconds = 0 }: LeaseExpectation,
): Promise<LeaseClaims> => {
  if (!(toleranceSeconds >= 0 && toleranceSeconds <= 2)) throw new RangeError('clock tolerance is 0 to 2 s');
  if (jwt.length > MAX_LEASE_BYTES) throw new CatalogError('LEASE_MISMATCH', 'LEASE_MALFORMED');
  try {
    const { payload } = await jwtVerify(jwt, createLocalJWKSet(jwks), {
      algorithms: ['ES256'],
      typ: LEASE_TYP,
      issuer,
      audience,
      currentDate: new Date(now),
      clockTolerance: toleranceSeconds,
    });
    if (!isLeaseClaims(payload)) throw new CatalogError('LEASE_MISMATCH', 'LEASE_MALFORMED');
    return payload;
  } catch (error) {
    throw error instanceof CatalogError ? error : leaseError(error);
  }
};

const leaseError = (cause: unknown): CatalogError => {
  if (cause instanceof errors.JWTExpired)
    return new CatalogError('LEASE_EXPIRED', 'PAST_EXPIRY', {}, { cause });
  if (cause instanceof errors.JWTClaimValidationFailed && cause.claim === 'iss')
    return new CatalogError('LEASE_MISMATCH', 'LEASE_ISSUER', {}, { cause });
  if (cause instanceof errors.JWTClaimValidationFailed && cause.claim === 'aud')
    return new CatalogError('LEASE_MISMATCH', 'LEASE_AUDIENCE', {}, { cause });
  if (cause instanceof errors.JWSSignatureVerificationFailed || cause instanceof errors.JWKSNoMatchingKey)
    return new CatalogError('LEASE_MISMATCH', 'LEASE_SIGNATURE', {}, { cause });
  return new CatalogError('LEASE_MISMATCH', 'LEASE_MALFORMED', {}, { cause });
};

const TEXT_CLAIMS = [
  'iss',
  'sub',
  'aud',
  'tenant',
  'server',
  'tool',
  'descriptor',
  'fence',
  'resource',
  'args',
  'jti',
];
const INTEGER_CLAIMS = ['generation', 'policyEpoch', 'iat', 'exp'];

const isLeaseClaims = (value: object): value is LeaseClaims => {
  const claims = value as Record<string, unknown>;
  const cnf = claims['cnf'];
  return (
    TEXT_CLAIMS.every((name) => typeof claims[name] === 'string' && claims[name] !== '') &&
    INTEGER_CLAIMS.every((name) => Number.isSafeInteger(claims[name])) &&
    EFFECT_CLASSES.some((effectClass) => effectClass === claims['effectClass']) &&
    typeof cnf === 'object' &&
    cnf !== null &&
    'jkt' in cnf &&
    typeof cnf.jkt === 'string' &&
    cnf.jkt !== ''
  );
};
