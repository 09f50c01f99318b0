/**
 * What a lease says and how long it may live. The claim names are read by enforcement points outside Genlock, so
 * they are pinned by a test with literal values.
 */
import type { EffectClass } from './descriptor.js';
import { CatalogError } from './errors.js';
import type { Digest, DurationMs, EpochMs, TenantId, ToolId } from './ids.js';
import { durationMs } from './ids.js';
import type { ServerIdentity } from './snapshot.js';

/** The `typ` header of a lease (RFC 8725 §3.11), so that no other token passes for one. */
export const LEASE_TYP = 'genlock-lease+jwt';

export const DEFAULT_LEASE_TTL: DurationMs = durationMs(10_000);
/** No configuration makes a lease live longer: it is the longest that a copy of one could be of interest. */
export const MAX_LEASE_TTL: DurationMs = durationMs(60_000);

/** What admission decided: one tool, one resource, one subject, one tenant, one argument digest (L1). */
export interface LeaseGrant {
  /** The issuer's URL: this Genlock. */
  readonly issuer: string;
  /** The enforcement point that may redeem it. */
  readonly audience: string;
  readonly subject: string;
  readonly tenant: TenantId;
  readonly server: ServerIdentity;
  readonly tool: ToolId;
  readonly descriptor: Digest;
  readonly generation: number;
  readonly policyEpoch: number;
  /** The fence that the decision was made under, opaque here: compared for equality only. */
  readonly fence: string;
  /** Computed by the operator's rule from validated arguments, never taken from the request. */
  readonly resource: string;
  /** Digest of the canonical arguments. */
  readonly args: Digest;
  readonly effectClass: EffectClass;
  /** RFC 7638 thumbprint of the holder's key. */
  readonly jkt: string;
}

/** The JWT claims set of a lease. Times are whole seconds since the epoch (RFC 7519 NumericDate). */
export interface LeaseClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly tenant: string;
  readonly server: string;
  readonly tool: string;
  readonly descriptor: string;
  readonly generation: number;
  readonly policyEpoch: number;
  readonly fence: string;
  readonly resource: string;
  readonly args: string;
  readonly effectClass: EffectClass;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
  readonly cnf: { readonly jkt: string };
}

export interface LeaseTimes {
  readonly now: EpochMs;
  readonly ttl: DurationMs;
  /** When the generation stops serving: the earlier of snapshot and freshness expiry (S7). */
  readonly generationExpires: EpochMs;
  /** When the caller's token expires. */
  readonly callerExpires: EpochMs;
}

/**
 * Claims of a lease (L1, L3). `exp` is the earliest of now + ttl, the generation's expiry and the caller's, rounded
 * down to whole seconds, so that a lease never outlives any of them.
 * @throws RangeError for a ttl that is not 1 s … 60 s
 * @throws CatalogError STALE_CATALOG/GENERATION_EXPIRED or UNAUTHENTICATED/EXPIRED where less than a second is left
 */
export const leaseClaims = (grant: LeaseGrant, times: LeaseTimes, jti: string): LeaseClaims => {
  const { now, ttl, generationExpires, callerExpires } = times;
  if (!(ttl >= 1_000 && ttl <= MAX_LEASE_TTL)) throw new RangeError('a lease lives 1 s to 60 s');
  const iat = Math.floor(now / 1_000);
  // A comparison with NaN is false, so the tests are written such that a missing time refuses.
  if (!(wholeSeconds(generationExpires) > iat)) throw new CatalogError('STALE_CATALOG', 'GENERATION_EXPIRED');
  if (!(wholeSeconds(callerExpires) > iat)) throw new CatalogError('UNAUTHENTICATED', 'EXPIRED');
  return {
    iss: grant.issuer,
    sub: grant.subject,
    aud: grant.audience,
    tenant: grant.tenant,
    server: grant.server,
    tool: grant.tool,
    descriptor: grant.descriptor,
    generation: grant.generation,
    policyEpoch: grant.policyEpoch,
    fence: grant.fence,
    resource: grant.resource,
    args: grant.args,
    effectClass: grant.effectClass,
    jti,
    iat,
    exp: Math.min(wholeSeconds(now + ttl), wholeSeconds(generationExpires), wholeSeconds(callerExpires)),
    cnf: { jkt: grant.jkt },
  };
};

const wholeSeconds = (ms: number): number => Math.floor(ms / 1_000);
