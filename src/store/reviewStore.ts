/** What reviewers look at and decide (V6): changes of active tools, and two generations side by side. */
import type { EffectClass } from '../domain/descriptor.js';
import type { ToolDigests } from '../domain/diff.js';
import type { AudienceClass, Digest, ServerName, TenantId, ToolId } from '../domain/ids.js';
import type { ReceiptRow } from '../domain/receiptRow.js';
import type { OpenReview, ReviewState } from '../domain/review.js';

/** One change of text or hints of one effectful tool. */
export interface Review {
  readonly id: string;
  readonly server: ServerName;
  readonly audience: AudienceClass;
  readonly tool: ToolId;
  readonly name: string;
  readonly effectClass: EffectClass;
  /** The active one; of what is no longer open, the one that was decided upon. */
  readonly generation: number;
  /** Descriptor as it was last approved, or as it last was otherwise where none was, and as it is now. */
  readonly before: Digest;
  readonly after: Digest;
  readonly changed: OpenReview['changed'];
  readonly state: ReviewState;
  /** Whether it keeps the active tool from being called. */
  readonly open: boolean;
  /** Of the decision; all null while it is pending. */
  readonly reason: string | null;
  readonly by: string | null;
  readonly decidedAt: string | null;
  readonly receipt: string | null;
}

/** Where a slice of reviews goes on: all lists of them have this order. */
export type ReviewPlace = Pick<Review, 'server' | 'audience' | 'tool' | 'id'>;

export interface ReviewDecision {
  readonly state: Exclude<ReviewState, 'pending'>;
  readonly reason: string;
  readonly by: string;
}

/** A tool of a generation, with the digest of its source text. */
export interface GenerationTool extends ToolDigests {
  readonly raw: Digest;
  /** Of the source text. */
  readonly bytes: number;
}

export interface ReviewStore {
  listReviews(
    tenant: TenantId,
    filter: {
      readonly server?: ServerName | undefined;
      readonly state?: ReviewState | undefined;
      readonly after?: ReviewPlace | undefined;
      readonly limit: number;
    },
  ): Promise<readonly Review[]>;
  /** With both source texts. null where nothing of that id is open or was decided. */
  readReview(
    tenant: TenantId,
    id: string,
  ): Promise<{ readonly review: Review; readonly before: string; readonly after: string } | null>;
  /** The id of the open review of a tool; null where there is none. */
  openReviewOf(tenant: TenantId, place: Pick<Review, 'server' | 'audience' | 'tool'>): Promise<string | null>;
  /**
   * Binds the very change that the review shows. `superseded`: the tool has another descriptor or approval by now, or
   * needs no review any more. `alreadyAccepted`: it was, which no refusal takes back.
   */
  decideReview(
    tenant: TenantId,
    review: Review,
    decision: ReviewDecision,
    receipt: ReceiptRow,
  ): Promise<'accepted' | 'refused' | 'alreadyDecided' | 'alreadyAccepted' | 'superseded'>;
  /** null where no generation of that number was ever promoted. */
  generationTools(
    tenant: TenantId,
    server: ServerName,
    audience: AudienceClass,
    generation: number,
  ): Promise<readonly GenerationTool[] | null>;
  /** Source texts by the digest of each. */
  sources(tenant: TenantId, raws: readonly Digest[]): Promise<ReadonlyMap<Digest, string>>;
}
