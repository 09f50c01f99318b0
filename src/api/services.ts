/** What the routes work with, put together once from the ports that an application is given. */
import type { DurationMs, EpochMs } from '../domain/ids.js';
import type { CallerVerifier } from '../keys/callerToken.js';
import type { KeySet } from '../keys/keySet.js';
import type { AdmissionStore } from '../store/admissionStore.js';
import type { OperatorStore } from '../store/operatorStore.js';
import type { Metrics } from '../telemetry/metrics.js';
import { type AdmitCalls, createAdmitCalls } from '../usecases/admitCall.js';
import type { ArgumentCheck } from '../usecases/checkArguments.js';
import type { DiscoveryControl } from '../usecases/discoveryControl.js';
import { createPolicies, type PolicyLanguage } from '../usecases/policies.js';
import { type CatalogReader, createCatalogReader } from '../usecases/readCatalog.js';
import { createTenantGate, type TenantGate } from '../usecases/tenantGate.js';

/** A part without which nothing can be decided. */
export interface ReadinessCheck {
  /** As /readyz names it: `database`, `temporal`. */
  readonly part: string;
  /** False, or a rejection, where it does not answer. */
  readonly ready: () => Promise<boolean>;
}

/** The part of a pino logger that is used. */
export interface ApiLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface AppDeps {
  /** Issuer of leases, and the origin that a DPoP proof's `htu` names. No slash at its end. */
  readonly publicUrl: string;
  /** Of this program, for the API document. */
  readonly version: string;
  readonly verifier: CallerVerifier;
  /** As `genlock_api`. */
  readonly admissionStore: AdmissionStore;
  /** As `genlock_operator`. */
  readonly operatorStore: OperatorStore;
  /** Sign leases and receipts. */
  readonly keys: KeySet;
  readonly language: PolicyLanguage;
  readonly checkArguments: ArgumentCheck;
  readonly control: DiscoveryControl;
  readonly lease: {
    /** `aud` of leases. */
    readonly audience: string;
    readonly ttl: DurationMs;
  };
  readonly requireBoundTokens: boolean;
  readonly checks: readonly ReadinessCheck[];
  readonly metrics: Metrics;
  readonly log: ApiLog;
  readonly now: () => EpochMs;
  readonly newId: () => string;
}

export interface Services extends AppDeps {
  readonly admit: AdmitCalls;
  readonly catalogs: CatalogReader;
  /** Reviews and diffs read whole source texts. */
  readonly reviewReads: TenantGate;
}

/** At once for each tenant; each holds a few megabytes. */
const REVIEW_READS = 4;

export const createServices = (deps: AppDeps): Services => {
  const store = deps.admissionStore;
  const policies = createPolicies(store, deps.language);
  return {
    ...deps,
    admit: createAdmitCalls({
      store,
      policies,
      checkArguments: deps.checkArguments,
      keys: deps.keys,
      lease: { issuer: deps.publicUrl, ...deps.lease },
      requireBoundTokens: deps.requireBoundTokens,
      metrics: deps.metrics,
      now: deps.now,
      newId: deps.newId,
    }),
    catalogs: createCatalogReader({ store, policies, now: deps.now }),
    reviewReads: createTenantGate(REVIEW_READS, 'REVIEW_READS'),
  };
};
