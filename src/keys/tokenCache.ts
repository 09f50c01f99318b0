/**
 * Verified callers by tenant and token digest. Each tenant has a bound of its own, so that one tenant's flood of
 * tokens evicts nothing of another's; an entry ends with its token's exp, without any tolerance.
 */
import type { Digest, EpochMs } from '../domain/ids.js';
import type { VerifiedCaller } from './callerToken.js';

export interface TokenCache {
  get(tenant: string, token: Digest, now: EpochMs): VerifiedCaller | undefined;
  put(caller: VerifiedCaller, now: EpochMs): void;
}

/** @param size how many tokens are remembered for each tenant; the least recently used goes first */
export const createTokenCache = (size: number): TokenCache => {
  const tenants = new Map<string, Map<Digest, VerifiedCaller>>();

  return {
    get: (tenant, token, now) => {
      const entries = tenants.get(tenant);
      const caller = entries?.get(token);
      if (entries === undefined || caller === undefined) return undefined;
      entries.delete(token);
      if (caller.expiresAt <= now) return undefined;
      // A Map iterates in order of insertion: inserted again, it is the most recently used.
      entries.set(token, caller);
      return caller;
    },
    put: (caller, now) => {
      if (caller.expiresAt <= now || size < 1) return;
      const entries = tenants.get(caller.tenant) ?? new Map<Digest, VerifiedCaller>();
      tenants.set(caller.tenant, entries);
      entries.set(caller.tokenDigest, caller);
      if (entries.size <= size) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
};
