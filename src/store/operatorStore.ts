/** What operators change and look at. Every change bumps the fence of its scope before it is answered. */
import type { Held } from '../domain/acceptance.js';
import type { Finding, ToolVerdict } from '../domain/descriptor.js';
import type { CandidateState, Evidence } from '../domain/generation.js';
import type { AudienceClass, Digest, ServerName, TenantId } from '../domain/ids.js';
import type { ReceiptRow } from '../domain/receiptRow.js';
import type { RegisteredServer, ServerRegistration } from '../domain/server.js';
import type { CatalogFreshness, SourceRevision } from '../domain/snapshot.js';
import type { ReceiptQuery, RevocationKind, StoredReceipt } from './admissionStore.js';
import type { ReviewStore } from './reviewStore.js';

export interface RevocationRecord {
  readonly id: string;
  readonly kind: RevocationKind;
  /** Empty for a subject, which is revoked tenant-wide. */
  readonly server: string;
  readonly target: string;
  readonly reason: string;
  readonly by: string;
}

/** What an operator accepts: a held scan, by what it held. */
export interface AcceptanceRecord extends Held {
  readonly id: string;
  readonly discovery: string;
  readonly server: ServerName;
  readonly audience: AudienceClass;
  readonly reason: string;
  readonly by: string;
}

export interface StoredAcceptance extends AcceptanceRecord {
  readonly acceptedAt: string;
  readonly receipt: string;
  /** The discovery whose promotion rests on it. */
  readonly usedBy: string | null;
  /** Whether a scan can still rest on it: not used, and the catalog has not moved since. */
  readonly open: boolean;
}

export interface DiscoverySummary {
  readonly id: string;
  readonly server: ServerName;
  readonly audience: AudienceClass;
  readonly workflowId: string;
  readonly runId: string;
  readonly round: number;
  readonly state: CandidateState;
  readonly reason: string | null;
  readonly generation: number | null;
  readonly pages: number;
  readonly tools: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface DiscoveryDetail extends DiscoverySummary {
  readonly evidence: Evidence | null;
  readonly sourceEvidence: Evidence | null;
  readonly protocol: string | null;
  readonly identity: Digest | null;
  readonly revision: SourceRevision | null;
  readonly pageRoot: Digest | null;
  readonly contentRoot: Digest | null;
  /** When the source last still had the revision of the pages; null where it was not asked again (D3). */
  readonly tailAt: string | null;
  /** With what each page leaf of the page root binds, so that the root can be computed from it (S5). */
  readonly pageChain: readonly {
    readonly index: number;
    readonly requestCursor: Digest | 'START';
    readonly nextCursor: Digest | 'END';
    /** Whether the end was written as null rather than left out. */
    readonly nullCursor: boolean;
    readonly result: Digest;
    readonly raw: Digest;
    readonly tools: number;
    readonly bytes: number;
    readonly worker: string;
    readonly fetchedAt: string;
    readonly last: boolean;
  }[];
  /** S7: of a scan that was promoted, or that found nothing changed. */
  readonly freshness: CatalogFreshness | null;
  /** Lints of the catalog as a whole. */
  readonly catalogFindings: readonly Finding[];
  /** The quarantined tools first. */
  readonly toolFindings: readonly {
    readonly name: string;
    readonly status: string;
    readonly findings: unknown;
  }[];
}

/** A tool as a scan saw it, whatever became of the scan (D4). */
export interface DiscoveredTool {
  /** Place in the list, from 0 over all pages. */
  readonly position: number;
  readonly name: string;
  readonly descriptor: Digest;
  /** null where the scan did not get as far as judging it. */
  readonly verdict: ToolVerdict['status'] | null;
  /** The codes of what was found in it. */
  readonly codes: readonly string[];
}

export interface OperatorStore extends ReviewStore {
  /** @param expected the trust version that the receipt speaks of, 0 for a new server; left out takes any */
  registerServer(
    tenant: TenantId,
    server: ServerRegistration,
    receipt: ReceiptRow,
    expected?: number,
  ): Promise<
    | { readonly outcome: 'registered' | 'changed'; readonly trustVersion: number }
    | { readonly outcome: 'namespaceTaken' | 'exists' | 'moved' }
  >;
  readServer(tenant: TenantId, server: ServerName): Promise<RegisteredServer | null>;
  listServers(tenant: TenantId): Promise<readonly RegisteredServer[]>;
  setServerClosed(
    tenant: TenantId,
    server: ServerName,
    reason: string | null,
    receipt: ReceiptRow,
  ): Promise<boolean>;
  /** null: another bundle was published meanwhile. */
  publishPolicy(
    tenant: TenantId,
    expectedEpoch: number,
    bundle: { readonly text: string; readonly digest: Digest },
    by: string,
    receipt: ReceiptRow,
  ): Promise<number | null>;
  readPolicyBundle(
    tenant: TenantId,
    epoch: number | null,
  ): Promise<{ readonly epoch: number; readonly bundle: string; readonly digest: Digest } | null>;
  revoke(
    tenant: TenantId,
    revocation: RevocationRecord,
    receipt: ReceiptRow,
  ): Promise<'revoked' | 'noSuchServer'>;
  liftRevocation(
    tenant: TenantId,
    id: string,
    by: string,
    receipt: ReceiptRow,
  ): Promise<'lifted' | 'alreadyLifted' | 'noSuchRevocation'>;
  listRevocations(
    tenant: TenantId,
  ): Promise<
    readonly (RevocationRecord & { readonly revokedAt: string; readonly liftedAt: string | null })[]
  >;
  /** All that it binds is taken from the scan itself; of the record only id, kind, reason and operator are stored. */
  acceptHeld(
    tenant: TenantId,
    acceptance: AcceptanceRecord,
    receipt: ReceiptRow,
  ): Promise<'accepted' | 'noSuchDiscovery' | 'notAcceptable' | 'alreadyAccepted' | 'superseded'>;
  /** Newest first, at most a thousand. */
  listAcceptances(tenant: TenantId): Promise<readonly StoredAcceptance[]>;
  /** Newest first. `scan` ids start with the run id of the workflow. */
  listDiscoveries(
    tenant: TenantId,
    filter: { readonly server?: ServerName; readonly limit: number },
  ): Promise<readonly DiscoverySummary[]>;
  readDiscovery(tenant: TenantId, scan: string): Promise<DiscoveryDetail | null>;
  /** @param slice.after position of the last one seen, -1 for none. @returns null where there is no such scan */
  discoveredTools(
    tenant: TenantId,
    scan: string,
    slice: { readonly after: number; readonly limit: number },
  ): Promise<readonly DiscoveredTool[] | null>;
  readArtifact(
    tenant: TenantId,
    server: ServerName,
    audience: AudienceClass,
    generation: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly digest: Digest } | null>;
  receipts(tenant: TenantId, query: ReceiptQuery): Promise<readonly StoredReceipt[]>;
}
