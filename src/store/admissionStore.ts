/** What admission and catalog reads may see: everything through the active pointer, nothing else (P3). */
import type { EffectClass, ToolVerdict } from '../domain/descriptor.js';
import type { EndReason } from '../domain/endReasons.js';
import type { CandidateState } from '../domain/generation.js';
import type { AudienceClass, Digest, EpochMs, ServerName, TenantId, ToolId } from '../domain/ids.js';
import type { ReceiptRow } from '../domain/receiptRow.js';
import type { OpenReview } from '../domain/review.js';
import type { CredentialRef } from '../domain/server.js';
import type { SchemaReference, SourceRevision } from '../domain/snapshot.js';

export type RevocationKind = 'tool-name' | 'tool-id' | 'server' | 'subject';

/** The mutable facts of one (tenant, server, audience), read together, with the fences they were read under. */
export interface AdmissionView {
  readonly tenantFence: string | null;
  readonly serverFence: string | null;
  readonly policyEpoch: number;
  readonly server: {
    readonly name: ServerName;
    readonly namespace: string;
    readonly closedReason: string | null;
    readonly trustVersion: number;
  } | null;
  readonly active: {
    readonly generation: number;
    readonly identity: Digest;
    readonly snapshot: Digest;
    readonly policyEpoch: number;
    readonly trustVersion: number;
    readonly pageRoot: Digest;
    readonly credential: CredentialRef;
    /** Keyed digest of the secret that scanned it; null without one. */
    readonly credentialFingerprint: Digest | null;
    readonly scan: string;
    /** Goes up with each review that is decided: what is kept of a tool holds under one number only (V6). */
    readonly reviews: number;
    readonly freshUntil: EpochMs;
  } | null;
  /** Of the newest hundred that were promoted, those not retired and not expired for a day, oldest first. */
  readonly retained: readonly {
    readonly generation: number;
    readonly state: 'ELIGIBLE' | 'QUARANTINED';
    readonly policyEpoch: number;
    readonly expires: EpochMs;
  }[];
  readonly newestGeneration: number;
  readonly latestScan: { readonly state: CandidateState; readonly reason: EndReason } | null;
  readonly revocations: readonly { readonly kind: RevocationKind; readonly target: string }[];
}

export interface ActiveTool {
  readonly id: ToolId;
  readonly name: string;
  readonly descriptor: Digest;
  readonly input: SchemaReference | null;
  readonly output: SchemaReference | null;
  readonly effectClass: EffectClass;
  readonly verdict: ToolVerdict;
  /** Where it is not as it was last approved, whatever its class; `heldBy` says whether that stops it. */
  readonly review: OpenReview | null;
  readonly source: string;
}

/** A tool with the generation and the number of reviews that it was read under. */
export interface BoundTool extends ActiveTool {
  readonly snapshot: Digest;
  readonly generation: number;
  readonly reviews: number;
}

export interface CatalogSlice {
  readonly generation: number;
  readonly snapshot: Digest;
  readonly identity: Digest;
  readonly policyEpoch: number;
  readonly revision: SourceRevision;
  readonly contentRoot: Digest;
  readonly pageRoot: Digest;
  readonly protocol: string;
  readonly tools: number;
  readonly freshUntil: EpochMs;
  readonly fence: string;
  readonly page: readonly ActiveTool[];
}

export interface ActiveServer {
  readonly server: ServerName;
  readonly namespace: string;
  readonly generation: number;
  readonly tools: number;
  readonly contentRoot: Digest;
  readonly freshUntil: EpochMs;
}

export interface LeaseRow {
  readonly jti: string;
  readonly audience: string;
  readonly subject: string;
  readonly tool_id: string;
  readonly descriptor: string;
  readonly generation: number;
  readonly policy_epoch: number;
  readonly resource: string;
  readonly args_digest: string;
  readonly effect_class: EffectClass;
  readonly jkt: string;
  readonly expires_ms: number;
}

/** One decision to be committed, under the fences it was made under. */
export interface DecisionRow {
  readonly tenant_fence: string | null;
  readonly server_fence: string | null;
  readonly receipt: ReceiptRow;
  readonly lease: LeaseRow | null;
  /** Recorded as used, with the decision, once all else about it has verified (RFC 9449 §11.1). */
  readonly proof: { readonly jkt: string; readonly jti: string; readonly expires_ms: number } | null;
}

export type CommitOutcome = 'COMMITTED' | 'FENCE_MOVED' | 'REPLAYED' | 'EXPIRED';

export interface StoredReceipt extends ReceiptRow {
  readonly at: string;
}

export interface ReceiptQuery {
  readonly id?: string;
  readonly kind?: StoredReceipt['kind'];
  readonly subject?: string;
  readonly before?: string;
  readonly limit: number;
}

export interface AdmissionStore {
  view(tenant: TenantId, server: ServerName, audience: AudienceClass): Promise<AdmissionView>;
  tool(
    tenant: TenantId,
    server: ServerName,
    audience: AudienceClass,
    tool: ToolId,
  ): Promise<BoundTool | null>;
  /** The id that the active generation has for a tool of this name; null where it has none. */
  toolId(tenant: TenantId, server: ServerName, audience: AudienceClass, name: string): Promise<ToolId | null>;
  catalog(
    tenant: TenantId,
    server: ServerName,
    audience: AudienceClass,
    slice: { readonly after: string; readonly limit: number },
  ): Promise<CatalogSlice | null>;
  servers(tenant: TenantId, audience: AudienceClass): Promise<readonly ActiveServer[]>;
  policyBundle(
    tenant: TenantId,
    epoch: number | null,
  ): Promise<{ readonly epoch: number; readonly bundle: string; readonly digest: Digest } | null>;
  /** Commits decisions of one (tenant, server); the answers stand in the order of the rows. */
  commitDecisions(
    tenant: TenantId,
    server: ServerName,
    rows: readonly DecisionRow[],
  ): Promise<readonly CommitOutcome[]>;
  /** Deletes proofs that no clock window would accept any more. Answers how many. */
  forgetProofs(tenant: TenantId): Promise<number>;
  receipts(tenant: TenantId, query: ReceiptQuery): Promise<readonly StoredReceipt[]>;
}
