/**
 * Compiled policies by tenant and epoch. An epoch never changes, so what was compiled once holds; which epoch is in
 * force is never believed from here: it comes with the view, under the fence.
 */
import type { Digest, TenantId } from '../domain/ids.js';
import type { CompiledPolicy } from '../policy/port.js';
import type { AdmissionStore } from '../store/admissionStore.js';
import { createTenantCache } from './tenantCache.js';

/** The language that bundles are written in. */
export interface PolicyLanguage {
  /**
   * The text that is stored and its digest.
   * @throws CatalogError BAD_REQUEST/INVALID_BUNDLE with every error
   */
  parse(value: unknown): { readonly text: string; readonly digest: Digest };
  compile(text: string, epoch: number): CompiledPolicy;
}

export interface Policies {
  /** The newest epoch that this process knows of; null where none is published. A first guess only. */
  latest(tenant: TenantId): Promise<CompiledPolicy | null>;
  /** null for epoch 0 and for an epoch that was never published. */
  ofEpoch(tenant: TenantId, epoch: number): Promise<CompiledPolicy | null>;
}

const EPOCHS_KEPT = 8;

export const createPolicies = (
  store: Pick<AdmissionStore, 'policyBundle'>,
  language: Pick<PolicyLanguage, 'compile'>,
): Policies => {
  const compiled = createTenantCache<CompiledPolicy>(EPOCHS_KEPT);
  const newest = new Map<TenantId, number>();

  const load = async (tenant: TenantId, epoch: number | null): Promise<CompiledPolicy | null> => {
    const stored = await store.policyBundle(tenant, epoch);
    if (stored === null) return null;
    const policy =
      compiled.get(tenant, String(stored.epoch)) ?? language.compile(stored.bundle, stored.epoch);
    compiled.put(tenant, String(stored.epoch), policy);
    newest.set(tenant, Math.max(stored.epoch, newest.get(tenant) ?? 0));
    return policy;
  };

  const ofEpoch: Policies['ofEpoch'] = async (tenant, epoch) =>
    epoch < 1 ? null : (compiled.get(tenant, String(epoch)) ?? load(tenant, epoch));

  return {
    ofEpoch,
    latest: (tenant) => {
      const epoch = newest.get(tenant);
      return epoch === undefined ? load(tenant, null) : ofEpoch(tenant, epoch);
    },
  };
};
