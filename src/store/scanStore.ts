/** What discovery keeps and reads: scans, their pages, candidates and generations. The worker's side of the store. */

import type { Acceptance } from '../domain/acceptance.js';
import type { EffectClass, Finding, ToolVerdict } from '../domain/descriptor.js';
import type { EndReason, EndState } from '../domain/endReasons.js';
import type { CandidateState, DiscoveryKey, Evidence } from '../domain/generation.js';
import type { AudienceClass, Digest, EpochMs, ServerName, TenantId, ToolId } from '../domain/ids.js';
import type { ReceiptRow } from '../domain/receiptRow.js';
import type { CredentialRef, RegisteredServer } from '../domain/server.js';
import type { Protocol, SchemaReference, SourceRevision } from '../domain/snapshot.js';

export interface ScanClaim {
  readonly key: DiscoveryKey;
  readonly id: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly round: number;
  /** Issued by the workflow. With `attempt`, which Temporal counts, it orders all claims of a scan (D6). */
  readonly segment: number;
  readonly attempt: number;
  readonly worker: string;
}

export interface ScanRecord {
  readonly tenant: TenantId;
  readonly id: string;
  readonly server: ServerName;
  readonly audience: AudienceClass;
  readonly round: number;
  readonly state: CandidateState;
  readonly policyEpoch: number;
  readonly trustVersion: number;
  readonly basePointerVersion: number;
  /** Who answered for the server when the scan began (D8); null where nothing of it was accepted yet. */
  readonly baseIdentity: Digest | null;
  readonly protocol: Protocol | null;
  readonly sourceEvidence: Evidence | null;
  readonly identity: Digest | null;
  readonly revision: SourceRevision | null;
  readonly pageRoot: Digest | null;
  readonly contentRoot: Digest | null;
  readonly tools: number | null;
  readonly credential: CredentialRef;
  /** Keyed digest of the secret that scanned; null without one. */
  readonly credentialFingerprint: Digest | null;
  readonly credentialExpires: EpochMs | null;
  /** When the source last still had the revision of the pages (S7). */
  readonly tailAt: EpochMs | null;
  /** Ids of the acceptances that its checks rest on. */
  readonly acceptances: readonly string[];
  readonly startedAt: EpochMs;
  readonly deadline: EpochMs;
  readonly endedAt: EpochMs | null;
}

/** What a statement about a scan's pages is fenced by (D6). */
export interface PageClaim {
  readonly scan: string;
  readonly segment: number;
  readonly attempt: number;
}

/** [name, descriptor digest, digest of the source text] */
export type PageTool = readonly [name: string, descriptor: Digest, raw: Digest];

/** A page but for its tools, which are counted. */
export interface PageFrame extends Omit<PageRecord, 'tools'> {
  readonly toolCount: number;
}

export interface PageRecord {
  readonly n: number;
  readonly requestCursor: string | undefined;
  readonly nextCursor: string | undefined;
  readonly nullCursor: boolean;
  readonly resultDigest: Digest;
  readonly rawDigest: Digest;
  /** All that the reading of the bytes depends on beside them. */
  readonly reading: Digest;
  readonly bytes: number;
  readonly tools: readonly PageTool[];
  readonly revision: SourceRevision | null;
  readonly identity: Digest;
  readonly worker: string;
}

/** What the contract checks found in one descriptor under one set of rules. */
export interface DescriptorResult {
  readonly contract: Digest;
  readonly hints: Digest;
  readonly text: Digest;
  readonly input: SchemaReference | null;
  readonly output: SchemaReference | null;
  readonly verdict: ToolVerdict;
}

export interface CandidateToolRow extends DescriptorResult {
  readonly name: string;
  readonly position: number;
  readonly descriptor: Digest;
  readonly raw: Digest;
}

export interface SealedToolRow extends CandidateToolRow {
  readonly contractVersion: number;
  readonly source: string;
}

export interface ActiveGeneration {
  readonly generation: number;
  readonly identity: Digest;
  readonly scan: string;
  readonly version: number;
  readonly policyEpoch: number;
  readonly trustVersion: number;
  readonly revision: SourceRevision;
  readonly contentRoot: Digest;
  readonly expires: EpochMs;
  readonly sourceEvidence: Evidence | null;
}

export interface AcceptedRevision {
  readonly identity: Digest;
  readonly revision: SourceRevision;
  readonly contentRoot: Digest;
  readonly credential: CredentialRef;
  readonly credentialFingerprint: Digest | null;
}

export type PromoteOutcome =
  | {
      readonly outcome: 'promoted';
      readonly generation: number;
      readonly receipt: string;
      readonly policyEpoch: number;
      /** Those that a change of the server's identity has left without a catalog, whichever promotion it was (D8). */
      readonly closedAudiences: readonly AudienceClass[];
    }
  | { readonly outcome: 'lost'; readonly activeGeneration: number | null }
  | { readonly outcome: 'fenced'; readonly what: string };

export type RenewOutcome =
  | { readonly outcome: 'renewed'; readonly generation: number; readonly freshUntil: EpochMs }
  | { readonly outcome: 'lost'; readonly activeGeneration: number | null }
  | { readonly outcome: 'fenced'; readonly what: string };

export interface ScanStore {
  readServer(tenant: TenantId, server: ServerName): Promise<RegisteredServer | null>;
  /** null: a newer segment or attempt has the scan, or the server is gone. */
  claimScan(claim: ScanClaim): Promise<ScanRecord | null>;
  readScan(tenant: TenantId, scan: string): Promise<ScanRecord | null>;
  /** The stored pages in order, without their bytes. */
  pages(tenant: TenantId, scan: string): Promise<readonly PageRecord[]>;
  /** The same without their tools: what is bound to a tail. */
  pageChain(tenant: TenantId, scan: string): Promise<readonly PageFrame[]>;
  pageBytes(tenant: TenantId, scan: string, n: number): Promise<Uint8Array>;
  /**
   * False where the claim was lost: nothing was stored. One autocommitted statement (D6).
   * @param raw null where a page of these bytes and this reading is stored
   */
  storePage(tenant: TenantId, claim: PageClaim, page: PageRecord, raw: Uint8Array | null): Promise<boolean>;
  /** False where the claim was lost. */
  noteSource(
    tenant: TenantId,
    claim: PageClaim,
    source: {
      readonly protocol: Protocol;
      readonly identity: Digest;
      readonly evidence: Evidence;
      readonly revision: SourceRevision | null;
      readonly credentialFingerprint: Digest | null;
      readonly credentialExpires: EpochMs | null;
    },
  ): Promise<boolean>;
  /** Keeps the sealed session of the pages until their chain is whole or the scan ends. False where the claim was lost. */
  keepSession(tenant: TenantId, claim: PageClaim, sealed: string): Promise<boolean>;
  /** As it was kept; null without one. */
  readSession(tenant: TenantId, scan: string): Promise<string | null>;
  /** The page chain is whole. False where the claim was lost. */
  completeScan(
    tenant: TenantId,
    claim: PageClaim,
    list: { readonly contentRoot: Digest; readonly tools: number },
  ): Promise<boolean>;
  /** The tail held. False where the scan has ended or its pages are others. */
  proveScan(
    tenant: TenantId,
    scan: string,
    proof: { readonly pageRoot: Digest; readonly tailAt: EpochMs },
  ): Promise<boolean>;
  /** Idempotent: an ended scan keeps its first end. */
  endScan(
    tenant: TenantId,
    scan: string,
    end: { readonly state: EndState; readonly reason: EndReason; readonly evidence: Evidence },
  ): Promise<void>;

  saveDescriptors(
    tenant: TenantId,
    descriptors: readonly { readonly raw: Digest; readonly source: string }[],
  ): Promise<void>;
  /** By the digest of the source text: what a number was spelled like is no part of a descriptor's digest. */
  knownChecks(
    tenant: TenantId,
    ruleset: Digest,
    raws: readonly Digest[],
  ): Promise<ReadonlyMap<Digest, DescriptorResult>>;
  saveChecks(
    tenant: TenantId,
    ruleset: Digest,
    results: ReadonlyMap<Digest, DescriptorResult>,
  ): Promise<void>;
  /** Those of the given source texts that are stored. */
  knownSources(tenant: TenantId, raws: readonly Digest[]): Promise<ReadonlySet<Digest>>;
  saveCandidateTools(tenant: TenantId, scan: string, rows: readonly CandidateToolRow[]): Promise<void>;
  candidateSummary(
    tenant: TenantId,
    scan: string,
  ): Promise<{
    readonly tools: number;
    readonly quarantined: number;
    readonly firstQuarantined: string | null;
  }>;
  /** How many tools of the active generation the candidate lacks, and some of their names. */
  removedTools(
    tenant: TenantId,
    scan: string,
    activeScan: string,
  ): Promise<{ readonly active: number; readonly removed: number; readonly examples: readonly string[] }>;

  active(key: DiscoveryKey): Promise<ActiveGeneration | null>;
  /** What served last: the active generation, or the one whose pointer another identity has closed (D8). */
  lastServed(key: DiscoveryKey): Promise<ActiveGeneration | null>;
  /** How an identity was seen when it was accepted, for any audience of the server; null where it never was. */
  acceptedSource(tenant: TenantId, server: ServerName, identity: Digest): Promise<Evidence | null>;
  /** What was last accepted of an identity, also where another one is active now (D9). */
  acceptedOf(key: DiscoveryKey, identity: Digest): Promise<AcceptedRevision | null>;
  /** What operators accepted beside the pointer of this version and no promotion has used, oldest first (D5). */
  openAcceptances(key: DiscoveryKey, pointerVersion: number): Promise<readonly Acceptance[]>;
  /** Names what the checks rest on; the promotion uses it. False where the scan is sealed or has ended. */
  restOn(tenant: TenantId, scan: string, acceptances: readonly string[]): Promise<boolean>;
  issueContractVersions(tenant: TenantId, scan: string): Promise<void>;
  sealedTools(tenant: TenantId, scan: string): Promise<readonly SealedToolRow[]>;
  /** What is worth telling of the catalog as a whole. False where the scan is sealed or has ended. */
  noteCatalogFindings(tenant: TenantId, scan: string, findings: readonly Finding[]): Promise<boolean>;
  saveClassification(
    tenant: TenantId,
    scan: string,
    rows: readonly {
      readonly name: string;
      readonly toolId: ToolId;
      readonly effectClass: EffectClass;
      readonly verdict: ToolVerdict;
    }[],
  ): Promise<void>;
  reserveGeneration(tenant: TenantId, scan: string): Promise<number>;
  saveArtifact(
    tenant: TenantId,
    scan: string,
    artifact: { readonly digest: Digest; readonly bytes: Uint8Array; readonly expires: EpochMs },
  ): Promise<void>;
  generationOf(
    tenant: TenantId,
    scan: string,
  ): Promise<{
    readonly generation: number;
    readonly snapshot: Digest | null;
    readonly expires: EpochMs | null;
  } | null>;
  promote(tenant: TenantId, scan: string, freshUntil: EpochMs, receipt: ReceiptRow): Promise<PromoteOutcome>;
  renewFreshness(tenant: TenantId, scan: string, freshUntil: EpochMs): Promise<RenewOutcome>;
  readPolicyBundle(
    tenant: TenantId,
    epoch: number | null,
  ): Promise<{ readonly epoch: number; readonly bundle: string; readonly digest: Digest } | null>;
}
