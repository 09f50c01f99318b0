/** What the API answers, as its OpenAPI document says it. Written out, so that a client needs nothing else of Genlock. */
import type { AcceptableKind } from '../domain/acceptance.js';
import type { EffectClass, Finding, ToolVerdict } from '../domain/descriptor.js';
import type { DiffClass } from '../domain/diff.js';
import type { Code } from '../domain/errors.js';
import type { CandidateState, Evidence } from '../domain/generation.js';
import type { JsonValue } from '../domain/json.js';
import type { OpenReview, ReviewState } from '../domain/review.js';

export interface CatalogSummary {
  readonly server: string;
  readonly namespace: string;
  readonly generation: number;
  readonly tools: number;
  readonly contentRoot: string;
  readonly freshUntil: string;
}

/** What a plan node stores of a tool (A1). */
export interface Binding {
  readonly generation: number;
  readonly descriptor: string;
  readonly policyEpoch: number;
}

export interface CatalogTool {
  readonly id: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly shortDescription?: string;
  readonly inputSchema: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly effectClass: EffectClass;
  readonly verdict: ToolVerdict;
  /** Why it is not admitted, though it is listed. */
  readonly review?: OpenReview;
  readonly binding: Binding;
}

export interface Catalog {
  readonly server: string;
  readonly audienceClass: string;
  readonly generation: number;
  readonly snapshot: string;
  readonly identity: string;
  readonly protocol: string;
  readonly revision: { readonly binding: string; readonly value: JsonValue };
  readonly policyEpoch: number;
  readonly contentRoot: string;
  readonly pageRoot: string;
  readonly freshUntil: string;
  readonly toolCount: number;
  readonly tools: readonly CatalogTool[];
  readonly next: string | null;
}

export interface PlanNode {
  readonly server: string;
  readonly tool: string;
  readonly generation: number;
  readonly descriptor: string;
  /** An object; left out counts as `{}`. */
  readonly arguments?: JsonValue;
  readonly policyEpoch?: number;
  readonly mode?: 'autonomous' | 'confirmed';
}

export interface SignedReceipt {
  readonly id: string;
  readonly jws: string;
}

export interface Admitted {
  readonly decision: 'ALLOWED';
  readonly lease: { readonly jti: string; readonly token: string; readonly expiresAt: string };
  readonly receipt: SignedReceipt;
  readonly generation: number;
  readonly effectClass: EffectClass;
  readonly resource: string;
  readonly argumentsDigest: string;
}

/** A node of a plan that was refused; the other nodes were decided by themselves. */
export interface RefusedNode {
  readonly decision: 'REFUSED';
  readonly status: number;
  readonly code: Code;
  readonly reason: string;
  readonly detail: string;
  readonly next: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly receipt: SignedReceipt | null;
}

export interface Receipt {
  readonly id: string;
  readonly at: string;
  readonly kind: 'catalog' | 'admission' | 'operator';
  readonly subject: string;
  readonly server: string | null;
  readonly tool: string | null;
  readonly generation: number | null;
  readonly decision: string;
  readonly code: string | null;
  readonly reason: string | null;
  readonly lease: string | null;
  readonly jws: string;
}

export type ServerSource =
  | { readonly kind: 'mcp-http'; readonly url: string }
  | {
      readonly kind: 'mcp-stdio';
      readonly command: string;
      readonly args?: readonly string[];
      readonly cwd?: string;
      readonly env?: Readonly<Record<string, string>>;
    };

/** Whatever is left out has the default of the API document. */
export interface ServerRegistration {
  readonly name: string;
  readonly namespace: string;
  readonly source: ServerSource;
  /** Audience class → `none`, `env:NAME` or `file:PATH`. */
  readonly audiences: Readonly<Record<string, string>>;
  readonly trust?: {
    readonly allowPrivateAddresses?: boolean;
    readonly tlsCaPem?: string;
    readonly spkiPins?: readonly string[];
    readonly acceptedIdentities?: readonly string[];
    readonly revisionPointer?: string;
    readonly tokenPointer?: string;
  };
  /** Times in milliseconds. */
  readonly limits?: Partial<
    Record<'pages' | 'tools' | 'pageBytes' | 'scanBytes' | 'pageTime' | 'scanTime', number>
  >;
  readonly contract?: {
    readonly dialects?: readonly 'draft-07'[];
    readonly onToolFault?: 'quarantine-tool' | 'quarantine-catalog';
    readonly shrinkShare?: number;
    readonly descriptorBytes?: number;
  };
  /** Milliseconds. */
  readonly freshness?: Partial<Record<'maxAge' | 'snapshotMaxAge', number>>;
  readonly refreshSeconds?: number;
}

export interface Server {
  readonly name: string;
  readonly namespace: string;
  readonly source: ServerSource;
  readonly audiences: Readonly<Record<string, string>>;
  readonly trust: Readonly<Record<string, JsonValue>>;
  readonly limits: Readonly<Record<string, number>>;
  readonly contract: Readonly<Record<string, JsonValue>>;
  readonly freshness: Readonly<Record<string, number>>;
  readonly refreshSeconds: number;
  readonly trustVersion: number;
  readonly closedReason: string | null;
}

export interface DiscoveryStart {
  readonly server: string;
  readonly audience: string;
  readonly workflowId: string | null;
  readonly ui: string | null;
  readonly failed: { readonly code: Code; readonly reason: string } | null;
}

export interface Registered {
  readonly outcome: 'registered' | 'changed' | 'unchanged';
  readonly server: Server;
  readonly receipt: string | null;
  readonly discoveries: readonly DiscoveryStart[];
}

export interface Discovery {
  readonly id: string;
  readonly server: string;
  readonly audience: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly round: number;
  readonly state: CandidateState;
  readonly reason: string | null;
  readonly meaning: string | null;
  readonly next: string | null;
  readonly generation: number | null;
  readonly pages: number;
  readonly tools: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly ui: string | null;
}

export interface DiscoveryDetail extends Discovery {
  readonly evidence: Evidence | null;
  readonly sourceEvidence: Evidence | null;
  readonly protocol: string | null;
  readonly identity: string | null;
  readonly revision: JsonValue;
  readonly pageRoot: string | null;
  readonly contentRoot: string | null;
  readonly tailAt: string | null;
  readonly pageChain: readonly {
    readonly index: number;
    readonly requestCursor: string;
    readonly nextCursor: string;
    readonly nullCursor: boolean;
    readonly result: string;
    readonly raw: string;
    readonly tools: number;
    readonly bytes: number;
    readonly worker: string;
    readonly fetchedAt: string;
    readonly last: boolean;
  }[];
  readonly freshness: {
    readonly schema: string;
    readonly snapshot: string;
    readonly revision: JsonValue;
    readonly verifiedAt: string;
    readonly expires: string;
  } | null;
  /** Lints of the catalog as a whole. */
  readonly catalogFindings: readonly Finding[];
  /** The quarantined tools first. */
  readonly toolFindings: readonly {
    readonly name: string;
    readonly status: string;
    readonly findings: JsonValue;
  }[];
}

/** A tool as a discovery saw it, whatever became of the discovery. */
export interface DiscoveredTool {
  /** Place in the list, from 0. */
  readonly position: number;
  readonly name: string;
  readonly descriptor: string;
  /** null where the discovery did not get as far as judging it. */
  readonly verdict: ToolVerdict['status'] | null;
  /** The codes of what was found in it. */
  readonly codes: readonly string[];
}

/** What an operator accepted of a held discovery. */
export interface Acceptance {
  readonly id: string;
  readonly discovery: string;
  readonly server: string;
  readonly audience: string;
  readonly kind: AcceptableKind;
  readonly identity: string;
  readonly revision: { readonly binding: string; readonly value: JsonValue };
  readonly contentRoot: string;
  readonly reason: string;
  readonly by: string;
  readonly receipt: string;
}

/** A changed text or hint of an effectful tool. */
export interface Review {
  readonly id: string;
  readonly server: string;
  readonly audience: string;
  readonly tool: string;
  readonly name: string;
  readonly effectClass: EffectClass;
  readonly generation: number;
  readonly before: string;
  readonly after: string;
  readonly changed: OpenReview['changed'];
  readonly state: ReviewState;
  /** Whether it keeps the active tool from being called. */
  readonly open: boolean;
  readonly reason: string | null;
  readonly by: string | null;
  readonly decidedAt: string | null;
  readonly receipt: string | null;
}

/** JSON text around what differs, `…` for what is left out of what both have in common; null where there is no value. */
export interface MemberChange {
  readonly pointer: string;
  readonly class: DiffClass;
  readonly before: string | null;
  readonly after: string | null;
  /** UTF-16 code units that both have in common before they differ. */
  readonly offset: number;
}

export interface ReviewDetail extends Review {
  readonly members: readonly MemberChange[];
}

/** Two generations side by side, a slice by tool name. */
export interface GenerationsDiff {
  readonly from: number;
  readonly to: number;
  readonly counts: Readonly<Record<'added' | 'removed' | 'changed', number>>;
  readonly tools: readonly {
    readonly kind: 'added' | 'removed' | 'changed';
    readonly name: string;
    readonly before: { readonly id: string; readonly descriptor: string } | null;
    readonly after: { readonly id: string; readonly descriptor: string } | null;
    readonly classes: readonly DiffClass[];
    readonly members: readonly MemberChange[];
    readonly likelyRenameOf: string | null;
  }[];
  readonly next: string | null;
}

export interface PublishedPolicy {
  readonly epoch: number;
  readonly digest: string;
  readonly receipt: string;
  readonly rebinding: readonly DiscoveryStart[];
}

export interface RevocationRequest {
  readonly kind: 'tool-name' | 'tool-id' | 'server' | 'subject';
  readonly server?: string;
  readonly target?: string;
  readonly reason: string;
}

export interface Revocation {
  readonly id: string;
  readonly kind: RevocationRequest['kind'];
  readonly server: string;
  readonly target: string;
  readonly reason: string;
  readonly by: string;
}
