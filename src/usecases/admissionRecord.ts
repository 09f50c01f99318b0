/**
 * What one decision leaves behind: the receipt that binds it (R1) and, where it was allowed, the lease (L1). Both are
 * signed before they are committed, and handed out only after.
 */
import { type Allowed, type Decision, type Refused, refused } from '../domain/decision.js';
import { CatalogError } from '../domain/errors.js';
import type { DurationMs, EpochMs } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import { type LeaseClaims, leaseClaims } from '../domain/lease.js';
import { type AdmissionReceipt, RECEIPT_SCHEMA } from '../domain/receipt.js';
import { receiptRow } from '../domain/receiptRow.js';
import type { KeySet } from '../keys/keySet.js';
import { signLease } from '../keys/lease.js';
import { signReceipt } from '../keys/receipt.js';
import { canonicalJson } from '../proof/canonical.js';
import { credentialEvidence } from '../proof/credential.js';
import { serverIdentity } from '../proof/identity.js';
import type { DecisionRow, LeaseRow } from '../store/admissionStore.js';
import type { Call, Judged } from './judgeCall.js';

export interface LeaseSettings {
  /** `iss` of leases: this Genlock. */
  readonly issuer: string;
  /** `aud` of leases: the enforcement point that may redeem them. */
  readonly audience: string;
  readonly ttl: DurationMs;
}

export interface RecordDeps {
  readonly keys: KeySet;
  readonly lease: LeaseSettings;
  readonly now: () => EpochMs;
  readonly newId: () => string;
}

export interface IssuedLease {
  readonly jti: string;
  readonly token: string;
  readonly expiresAt: string;
}

export interface AdmissionRecord {
  readonly decision: Decision;
  readonly lease: IssuedLease | null;
  readonly receipt: AdmissionReceipt;
  readonly jws: string;
  readonly row: Omit<DecisionRow, 'proof'>;
}

/** `{tenant fence}/{server fence}`, as the catalog writes it too. */
const fenceOf = ({ view }: Judged): string => `${view.tenantFence ?? ''}/${view.serverFence ?? ''}`;

/**
 * @param decision the judged one, or a refusal that stands in its place
 * @param jkt the holder's key; null where no proof held, which only a refusal can do without
 */
export const recordAdmission = (
  deps: RecordDeps,
  call: Call,
  judged: Judged,
  decision: Decision,
  jkt: string | null,
  requestId: string,
): AdmissionRecord => {
  const granted = decision.decision === 'allowed' ? grant(deps, call, judged, decision, jkt) : decision;
  const lease = 'claims' in granted ? granted : null;
  const final = 'claims' in granted ? decision : granted;
  const receipt = receiptBody(deps, call, judged, final, lease?.claims.jti ?? null, requestId);
  const jws = signReceipt(deps.keys, canonicalJson(receipt as unknown as JsonValue));
  return {
    decision: final,
    lease: lease === null ? null : issued(lease),
    receipt,
    jws,
    row: {
      tenant_fence: judged.view.tenantFence,
      server_fence: judged.view.serverFence,
      receipt: receiptRow(receipt, jws),
      lease: lease === null ? null : leaseRow(lease.claims, judged),
    },
  };
};

interface Granted {
  readonly claims: LeaseClaims;
  readonly token: string;
}

const grant = (
  deps: RecordDeps,
  { caller, node, server, argsDigest }: Call,
  judged: Judged,
  allowed: Allowed,
  jkt: string | null,
): Granted | Refused => {
  const { view } = judged;
  if (jkt === null || argsDigest === null || view.active === null) return refused('PROOF_INVALID', 'MISSING');
  try {
    const claims = leaseClaims(
      {
        issuer: deps.lease.issuer,
        audience: deps.lease.audience,
        subject: caller.subject,
        tenant: caller.tenant,
        server: serverIdentity(server, view.active.identity),
        tool: node.tool,
        descriptor: node.descriptor,
        generation: allowed.generation,
        policyEpoch: view.policyEpoch,
        fence: fenceOf(judged),
        resource: allowed.resource,
        args: argsDigest,
        effectClass: allowed.effectClass,
        jkt,
      },
      {
        now: deps.now(),
        ttl: deps.lease.ttl,
        generationExpires: allowed.expires,
        callerExpires: caller.expiresAt,
      },
      deps.newId(),
    );
    return { claims, token: signLease(deps.keys, claims) };
  } catch (error) {
    // Less than a second is left of the generation or of the caller's token.
    if (error instanceof CatalogError) return refused(error.code, error.reason, error.details);
    throw error;
  }
};

const issued = ({ claims, token }: Granted): IssuedLease => ({
  jti: claims.jti,
  token,
  expiresAt: new Date(claims.exp * 1_000).toISOString(),
});

const leaseRow = (claims: LeaseClaims, { audience }: Judged): LeaseRow => ({
  jti: claims.jti,
  audience: audience ?? '',
  subject: claims.sub,
  tool_id: claims.tool,
  descriptor: claims.descriptor,
  generation: claims.generation,
  policy_epoch: claims.policyEpoch,
  resource: claims.resource,
  args_digest: claims.args,
  effect_class: claims.effectClass,
  jkt: claims.cnf.jkt,
  expires_ms: claims.exp * 1_000,
});

const receiptBody = (
  deps: RecordDeps,
  { caller, node, server, argsDigest }: Call,
  judged: Judged,
  decision: Decision,
  lease: string | null,
  requestId: string,
): AdmissionReceipt => {
  const { view, audience, tool } = judged;
  const allowed = decision.decision === 'allowed' ? decision : null;
  const denied = decision.decision === 'refused' ? decision : null;
  return {
    schema: RECEIPT_SCHEMA,
    kind: 'admission',
    id: deps.newId(),
    tenant: caller.tenant,
    subject: caller.subject,
    server: view.active === null ? server : serverIdentity(server, view.active.identity),
    audienceClass: audience,
    policyEpoch: view.policyEpoch === 0 ? null : view.policyEpoch,
    fence: fenceOf(judged),
    code: denied?.code ?? null,
    reason: denied?.reason ?? null,
    requestId,
    at: new Date(deps.now()).toISOString(),
    catalogGeneration: view.active?.generation ?? null,
    pageRoot: view.active?.pageRoot ?? null,
    credential:
      view.active === null
        ? null
        : credentialEvidence(view.active.credential, view.active.credentialFingerprint),
    decision: allowed === null ? 'REFUSED' : 'ALLOWED',
    tool: node.tool,
    planGeneration: node.generation,
    descriptor: node.descriptor,
    effectClass: tool?.effectClass ?? null,
    args: argsDigest,
    resource: allowed?.resource ?? null,
    lease,
    policies: allowed?.policyIds ?? [],
    outcome: 'NOT_EXECUTED',
  };
};
