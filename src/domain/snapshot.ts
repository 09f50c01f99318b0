/**
 * The artifact that Genlock seals, and the small records beside it, with the literal names that they have on
 * the wire (S1, S2, S7). docs/snapshot-v1.md explains them to those who verify one.
 */
import type { EffectClass, ToolVerdict } from './descriptor.js';
import type { AudienceClass, Digest, Namespace, ServerName, TenantId, ToolId } from './ids.js';

export const SNAPSHOT_SCHEMA = 'toolCatalogSnapshot.v1';
export const FRESHNESS_SCHEMA = 'catalogFreshness.v1';
export const IDENTITY_SCHEMA = 'identity.v1';

export const PROTOCOLS = ['mcp-2025-11-25', 'mcp-2026-07-28', 'openapi-3.0', 'openapi-3.1'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** A point in time as `Date.prototype.toISOString` writes it: UTC, milliseconds, `Z`. */
export type IsoTime = string;

/** The operator's name of the server and the digest of its `identity.v1` (S1). */
export type ServerIdentity = `${ServerName}@${Digest}`;

/** A monotonic revision; a bare integer on the wire has the empty incarnation (D9). */
export interface RevisionCounter {
  readonly incarnation: string;
  readonly counter: number;
}

/** An opaque token that names one state of the source: equal or not, never ordered. */
export interface RevisionToken {
  readonly token: string;
}

/** How a snapshot is bound to one generation of its source, and to which (D3, D10). */
export type SourceRevision =
  | { readonly binding: 'SERVER_REVISION'; readonly value: RevisionCounter }
  | { readonly binding: 'SNAPSHOT_TOKEN'; readonly value: RevisionToken }
  | { readonly binding: 'GATEWAY_ISSUED'; readonly value: RevisionCounter }
  | { readonly binding: 'MANIFEST_COMPARED'; readonly value: RevisionCounter };

export const REVISION_BINDINGS = [
  'SERVER_REVISION',
  'SNAPSHOT_TOKEN',
  'GATEWAY_ISSUED',
  'MANIFEST_COMPARED',
] as const;

/** One page of the scan, as evidence. Cursors stand as digests: they can be secrets of a session. */
export interface SnapshotPage {
  readonly index: number;
  /** Digest of the cursor's UTF-8 bytes; `START` for the request that had none. */
  readonly requestCursor: Digest | 'START';
  /** Digest of the cursor's UTF-8 bytes; `END` where the page named none. */
  readonly nextCursor: Digest | 'END';
  /** Digest of the list result's canonical JSON (S5). */
  readonly result: Digest;
  /** Digest of the raw bytes of the message. */
  readonly raw: Digest;
  /** Number of tools on the page. */
  readonly tools: number;
  /** Length of the message in bytes. */
  readonly bytes: number;
}

/** A JSON Schema of a tool, with the dialect that was resolved, also where `$schema` was absent (S2). */
export interface SchemaReference {
  readonly digest: Digest;
  readonly dialect: string;
  readonly vocabularies: readonly string[];
}

export interface SnapshotTool {
  /** `namespace.name@contractVersion`. */
  readonly id: ToolId;
  readonly namespace: Namespace;
  readonly name: string;
  readonly contractVersion: number;
  /** Digest of the whole tool object's canonical JSON (S5). */
  readonly descriptor: Digest;
  /** Digest of the UTF-8 bytes of `source`. */
  readonly raw: Digest;
  /** null only in a quarantined tool that came without one. */
  readonly inputSchema: SchemaReference | null;
  readonly outputSchema: SchemaReference | null;
  readonly effectClass: EffectClass;
  readonly mayHaveSideEffects: boolean;
  readonly verdict: ToolVerdict;
  /** The source's own text of the tool object, byte for byte. Derived descriptions stand elsewhere (S3). */
  readonly source: string;
}

/** Shows which credential scanned, without letting anybody guess it. */
export interface CredentialEvidence {
  /** Digest of the reference (such as `env:NAME`), not of the secret. */
  readonly reference: Digest;
  /** Keyed digest of the secret under a key of the installation; null where none was taken. */
  readonly fingerprint: Digest | null;
}

/** S1. Sealed by proof/seal.ts, checked by proof/verifySnapshot.ts. */
export interface ToolCatalogSnapshot {
  readonly schema: typeof SNAPSHOT_SCHEMA;
  readonly server: ServerIdentity;
  /** Digest of the transport endpoint. */
  readonly endpoint: Digest;
  readonly protocol: Protocol;
  readonly tenant: TenantId;
  readonly audienceClass: AudienceClass;
  readonly policyEpoch: number;
  readonly catalogGeneration: number;
  readonly discoveryStartedAt: IsoTime;
  readonly revision: SourceRevision;
  readonly pages: readonly SnapshotPage[];
  readonly pageRoot: Digest;
  readonly contentRoot: Digest;
  /** Sorted by name, by UTF-16 code units: the order in which a source lists has no meaning (S5). */
  readonly tools: readonly SnapshotTool[];
  readonly credential: CredentialEvidence | 'none';
  /** The hard limit, whatever freshness says (S7). */
  readonly expires: IsoTime;
  readonly state: 'COMPLETE';
}

/** S7: written by promotion and by each verified refresh that finds nothing changed. */
export interface CatalogFreshness {
  readonly schema: typeof FRESHNESS_SCHEMA;
  readonly snapshot: Digest;
  readonly revision: SourceRevision;
  readonly verifiedAt: IsoTime;
  readonly expires: IsoTime;
}

export const SERVER_KINDS = ['mcp-http', 'mcp-stdio', 'openapi', 'managed'] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

/** D8: evidence of who answered. A member is null where the kind of server has none. */
export interface IdentityRecord {
  readonly schema: typeof IDENTITY_SCHEMA;
  readonly kind: ServerKind;
  readonly endpoint: Digest | null;
  /** SHA-256 of the certificate's SubjectPublicKeyInfo in DER. */
  readonly spki: Digest | null;
  /** SHA-256 of the artifact that a stdio server is started from. */
  readonly artifact: Digest | null;
}

/** How `next` stands to `known`. Counters of two incarnations have no order (D9). */
export type CounterOrder = 'same' | 'newer' | 'older' | 'other-incarnation';

/**
 * D9: compares two counters. `older` is a rollback; how far is too far is the caller's limit.
 * @param known the counter accepted before
 * @param next the counter seen now
 */
export const compareCounters = (known: RevisionCounter, next: RevisionCounter): CounterOrder => {
  if (known.incarnation !== next.incarnation) return 'other-incarnation';
  if (known.counter === next.counter) return 'same';
  return next.counter > known.counter ? 'newer' : 'older';
};

/** D3: whether both name one state of the source: same binding, same value. */
export const sameRevision = (a: SourceRevision, b: SourceRevision): boolean => {
  if (a.binding !== b.binding) return false;
  if (a.binding === 'SNAPSHOT_TOKEN' || b.binding === 'SNAPSHOT_TOKEN') {
    return (
      a.binding === 'SNAPSHOT_TOKEN' && b.binding === 'SNAPSHOT_TOKEN' && a.value.token === b.value.token
    );
  }
  return compareCounters(a.value, b.value) === 'same';
};
