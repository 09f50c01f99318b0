/**
 * A bounded cache whose keys stand under a tenant (S4). Each tenant has a bound of its own, so that one tenant's
 * requests evict nothing of another's, and no key of one can name an entry of another.
 */
import type { TenantId } from '../domain/ids.js';

export interface TenantCache<V> {
  get(tenant: TenantId, key: string): V | undefined;
  put(tenant: TenantId, key: string, value: V): void;
}

/** @param size entries for each tenant; the least recently used goes first */
export const createTenantCache = <V>(size: number): TenantCache<V> => {
  const tenants = new Map<TenantId, Map<string, V>>();
  return {
    get: (tenant, key) => {
      const entries = tenants.get(tenant);
      const value = entries?.get(key);
      if (entries === undefined || value === undefined) return undefined;
      // A Map iterates in order of insertion: inserted again, it is the most recently used.
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    put: (tenant, key, value) => {
      const entries = tenants.get(tenant) ?? new Map<string, V>();
      tenants.set(tenant, entries);
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= size) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
};
