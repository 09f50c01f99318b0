/**
 * What a receipt says. Every kind has all its members, null where nothing is known, so that a verifier never has to
 * guess whether a member was left out or taken out (R1).
 */
import type { EffectClass } from './descriptor.js';
import type { AudienceClass, Digest, ServerName, TenantId, ToolId } from './ids.js';
import type { CredentialEvidence, IsoTime, ServerIdentity, SourceRevision } from './snapshot.js';

/** The `typ` header of a signed receipt; its payload is the RFC 8785 form of a ReceiptBody. */
export const RECEIPT_TYP = 'genlock-receipt+jws';
export const RECEIPT_SCHEMA = 'genlockReceipt.v1';

interface ReceiptCommon {
  readonly schema: typeof RECEIPT_SCHEMA;
  readonly id: string;
  readonly tenant: TenantId;
  /** The subject that asked, or `genlock` for what Genlock did by itself. */
  readonly subject: string;
  /** The name alone where no identity is known yet; null where the act concerns no server. */
  readonly server: ServerIdentity | ServerName | null;
  readonly audienceClass: AudienceClass | null;
  readonly policyEpoch: number | null;
  /** The fence that the decision was made under, opaque. */
  readonly fence: string | null;
  readonly code: string | null;
  readonly reason: string | null;
  readonly requestId: string | null;
  readonly at: IsoTime;
}

interface CatalogBinding {
  readonly catalogGeneration: number | null;
  readonly pageRoot: Digest | null;
  /** The identity that Genlock uses towards the server, as evidence, never the secret. */
  readonly credential: CredentialEvidence | 'none' | null;
}

/** The CAS of the active pointer (P1, P2). */
export interface CatalogReceipt extends ReceiptCommon, CatalogBinding {
  readonly kind: 'catalog';
  readonly decision: 'PROMOTED';
  readonly catalogGeneration: number;
  readonly pageRoot: Digest;
  readonly contentRoot: Digest;
  /** The sealed artifact's address. */
  readonly snapshot: Digest;
  readonly revision: SourceRevision;
  /** The generation that was active before, null for the first. */
  readonly previousGeneration: number | null;
  /**
   * Another identity that answered for the server when the scan began (D8); null where it was this one, or none. From
   * this promotion on no pointer of it is open, for any audience.
   */
  readonly replacedIdentity: ServerIdentity | null;
  /** Id of the discovery that proved it. */
  readonly discovery: string;
  /** Ids of the acceptances that it rests on, which it has used (D5). */
  readonly acceptances: readonly string[];
  readonly outcome: 'ACTIVE';
}

/** One decision about one call (A1–A6), allowed or refused. */
export interface AdmissionReceipt extends ReceiptCommon, CatalogBinding {
  readonly kind: 'admission';
  readonly decision: 'ALLOWED' | 'REFUSED';
  /** As the plan node named it; null where it named none of valid form. */
  readonly tool: ToolId | null;
  /** The generation that the plan node named; `catalogGeneration` is the one that the call was judged by. */
  readonly planGeneration: number;
  readonly descriptor: Digest | null;
  readonly effectClass: EffectClass | null;
  /** Digest of the canonical arguments. */
  readonly args: Digest | null;
  readonly resource: string | null;
  /** jti of the lease, null where refused. */
  readonly lease: string | null;
  /** Ids of the permits that determined the decision. */
  readonly policies: readonly string[];
  /** An admission executes nothing; what a call did is told by the receipt of its execution. */
  readonly outcome: 'NOT_EXECUTED';
}

export type OperatorAct =
  | 'REVOKE'
  | 'LIFT_REVOCATION'
  | 'PUBLISH_POLICY'
  | 'REGISTER_SERVER'
  | 'CHANGE_TRUST'
  | 'CHANGE_SETTINGS'
  | 'CLOSE_SERVER'
  | 'OPEN_SERVER'
  | 'ACCEPT'
  | 'ACCEPT_REVIEW'
  | 'REFUSE_REVIEW';

/** A change of what Genlock will decide, made by a person or a program with the operator role. */
export interface OperatorReceipt extends ReceiptCommon {
  readonly kind: 'operator';
  readonly decision: 'APPLIED';
  readonly act: OperatorAct;
  /** What was acted on: a revocation id, a bundle digest, a tool id … */
  readonly target: string;
  /** Digest of the full record of the act. */
  readonly record: Digest | null;
  readonly outcome: 'IN_FORCE';
}

export type ReceiptBody = CatalogReceipt | AdmissionReceipt | OperatorReceipt;
export type ReceiptKind = ReceiptBody['kind'];
