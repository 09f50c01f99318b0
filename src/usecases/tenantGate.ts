/**
 * Bounds how many requests of one tenant read much at once (S4). What is above the bound is refused rather than made to wait:
 * it would wait with a connection of the pool that all tenants share.
 */
import { CatalogError, type ReasonOf } from '../domain/errors.js';
import type { TenantId } from '../domain/ids.js';

export interface TenantGate {
  /** @throws CatalogError OVERLOADED with the reason of this gate; else as `act` */
  run<T>(tenant: TenantId, act: () => Promise<T>): Promise<T>;
}

/** @param most at once, for each tenant */
export const createTenantGate = (most: number, reason: ReasonOf<'OVERLOADED'>): TenantGate => {
  const running = new Map<TenantId, number>();
  return {
    run: async (tenant, act) => {
      const before = running.get(tenant) ?? 0;
      if (before >= most) throw new CatalogError('OVERLOADED', reason, {});
      running.set(tenant, before + 1);
      try {
        return await act();
      } finally {
        const left = (running.get(tenant) ?? 1) - 1;
        if (left === 0) running.delete(tenant);
        else running.set(tenant, left);
      }
    },
  };
};
