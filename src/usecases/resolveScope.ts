/**
 * Whose view a request has: the caller's tenant, the audience class that the policy in force proves from its token
 * (S4), and the mutable facts of that (tenant, server, audience), which belong to one fence.
 */
import { CatalogError } from '../domain/errors.js';
import type { AudienceClass, ServerName } from '../domain/ids.js';
import type { VerifiedCaller } from '../keys/callerToken.js';
import type { CompiledPolicy } from '../policy/port.js';
import type { AdmissionStore, AdmissionView } from '../store/admissionStore.js';
import type { Policies } from './policies.js';
import { createTenantCache } from './tenantCache.js';

export interface CallerScope {
  readonly view: AdmissionView;
  /** Of exactly the epoch that the view holds; null where none is published. */
  readonly policy: CompiledPolicy | null;
  readonly audience: AudienceClass | null;
  /** Whether the view was read before this request came. */
  readonly cached: boolean;
}

export interface ScopeReader {
  /**
   * @param fresh reads the view again; else one that this process kept may do, under its fence
   * @throws CatalogError BUSY/FENCE_MOVED where policy changed at every try
   */
  resolve(caller: VerifiedCaller, server: ServerName, fresh: boolean): Promise<CallerScope>;
}

/** The tenant's own row: no server has the empty name. */
export const TENANT_SCOPE = '' as ServerName;
/** No scan has it, so a view under it holds nothing of any audience. */
const NO_AUDIENCE = '' as AudienceClass;

const VIEWS_KEPT = 1_000;
const TRIES = 3;

export const createScopeReader = (store: Pick<AdmissionStore, 'view'>, policies: Policies): ScopeReader => {
  const views = createTenantCache<AdmissionView>(VIEWS_KEPT);

  const readView = async (
    { tenant }: VerifiedCaller,
    server: ServerName,
    audience: AudienceClass,
    fresh: boolean,
  ): Promise<{ view: AdmissionView; cached: boolean }> => {
    const key = `${server}/${audience}`;
    const kept = fresh ? undefined : views.get(tenant, key);
    if (kept !== undefined) return { view: kept, cached: true };
    const view = await store.view(tenant, server, audience);
    if (view.server !== null && audience !== NO_AUDIENCE) views.put(tenant, key, view);
    return { view, cached: false };
  };

  return {
    resolve: async (caller, server, fresh) => {
      let policy = await policies.latest(caller.tenant);
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const audience = policy?.audienceOf(caller.claims) ?? null;
        // An audience that an older policy gave leads to a view that tells of the newer one.
        const { view, cached } = await readView(
          caller,
          server,
          audience ?? NO_AUDIENCE,
          fresh || attempt > 0,
        );
        if (view.policyEpoch === (policy?.epoch ?? 0)) return { view, policy, audience, cached };
        // A kept view can be the older one of the two; one just read says what is in force.
        if (!cached) policy = await policies.ofEpoch(caller.tenant, view.policyEpoch);
      }
      throw new CatalogError('BUSY', 'FENCE_MOVED');
    },
  };
};
