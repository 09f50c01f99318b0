/**
 * The review of V6: what changed in a tool since it was last approved, and a reviewer's word on it. The answer to a
 * decision comes after the fence moved, so that admission goes by it from then on.
 */
import type { DiffClass } from '../domain/diff.js';
import { CatalogError } from '../domain/errors.js';
import type { ServerName, TenantId } from '../domain/ids.js';
import type { JsonObject } from '../domain/json.js';
import { diffMembers } from '../domain/memberDiff.js';
import type { ReviewState } from '../domain/review.js';
import { type VisibleDifference, visibleDifference, visibleText } from '../domain/visibleText.js';
import type { Review, ReviewDecision, ReviewPlace, ReviewStore } from '../store/reviewStore.js';
import { type Operator, type OperatorReceiptDeps, operatorReceipt } from './operatorReceipt.js';

/** A member that changed, as a person sees it (V7). */
export interface VisibleChange extends VisibleDifference {
  readonly pointer: string;
  readonly class: DiffClass;
}

export interface ReviewDetail extends Review {
  readonly members: readonly VisibleChange[];
}

/** @param sources the tools' own texts, which the strict reader read before they were stored */
export const visibleChanges = (before: string, after: string): readonly VisibleChange[] =>
  diffMembers(JSON.parse(before) as JsonObject, JSON.parse(after) as JsonObject).map((change) => {
    const shown = visibleDifference(change.before, change.after);
    return { pointer: visibleText(change.pointer), class: change.class, ...shown };
  });

export interface ReviewsPage {
  readonly reviews: readonly Review[];
  /** The `after` of the next slice; null at the end. */
  readonly next: string | null;
}

/**
 * By server, audience and tool.
 * @throws CatalogError BAD_REQUEST/INVALID_QUERY where `after` is no `next` of an earlier slice
 */
export const listReviews = async (
  store: Pick<ReviewStore, 'listReviews'>,
  tenant: TenantId,
  filter: {
    readonly server?: ServerName | undefined;
    readonly state?: ReviewState | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<ReviewsPage> => {
  const { after, limit, ...rest } = filter;
  const found = await store.listReviews(tenant, {
    ...rest,
    after: after === undefined ? undefined : parsePlace(after),
    limit: limit + 1,
  });
  const reviews = found.slice(0, limit);
  const last = reviews.at(-1);
  return { reviews, next: found.length > limit && last !== undefined ? placeText(last) : null };
};

const placeText = ({ server, audience, tool, id }: ReviewPlace): string =>
  Buffer.from(JSON.stringify([server, audience, tool, id])).toString('base64url');

/** Whether Postgres can compare with it. */
const isStorable = (part: unknown): boolean => typeof part === 'string' && /^[^\0\p{Cs}]*$/u.test(part);

const parsePlace = (text: string): ReviewPlace => {
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(place) && place.length === 4 && place.every(isStorable)) {
      const [server, audience, tool, id] = place as [string, string, string, string];
      return { server, audience, tool, id } as ReviewPlace;
    }
  } catch {
    // Told below, like any other text that is no place.
  }
  throw new CatalogError('BAD_REQUEST', 'INVALID_QUERY', {
    errors: [{ member: 'after', rule: '`next` of an earlier slice' }],
  });
};

/** @throws CatalogError NOT_FOUND/NO_SUCH_REVIEW */
export const readReview = async (
  store: Pick<ReviewStore, 'readReview'>,
  tenant: TenantId,
  id: string,
): Promise<ReviewDetail> => {
  const found = await store.readReview(tenant, id);
  if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_REVIEW');
  return { ...found.review, members: visibleChanges(found.before, found.after) };
};

export interface DecideReviewDeps extends OperatorReceiptDeps {
  readonly store: Pick<ReviewStore, 'readReview' | 'decideReview' | 'openReviewOf'>;
}

/**
 * V6: accepts or refuses a change. A refused one can be accepted later; an accepted tool is withdrawn by a revocation.
 * @param decision.reason why, in the reviewer's own words
 * @throws CatalogError NOT_FOUND/NO_SUCH_REVIEW
 * @throws CatalogError CONFLICT/ALREADY_REVIEWED, CONFLICT/REVIEW_ACCEPTED with what to revoke, CONFLICT/REVIEW_SUPERSEDED
 * with the newest review of the tool, or null
 */
export const decideReview = async (
  deps: DecideReviewDeps,
  operator: Operator,
  id: string,
  decision: Pick<ReviewDecision, 'state' | 'reason'>,
): Promise<{ readonly id: string; readonly state: ReviewState; readonly receipt: string }> => {
  const { tenant, subject } = operator;
  const found = await deps.store.readReview(tenant, id);
  if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_REVIEW');
  const { server, audience, tool, before, after } = found.review;
  const made: ReviewDecision = { ...decision, by: subject };
  const receipt = operatorReceipt(deps, operator, {
    act: decision.state === 'accepted' ? 'ACCEPT_REVIEW' : 'REFUSE_REVIEW',
    target: id,
    server,
    audience,
    record: { id, server, audience, tool, before, after, ...made },
  });
  const outcome = await deps.store.decideReview(tenant, found.review, made, receipt);
  switch (outcome) {
    case 'superseded': {
      const newest = await deps.store.openReviewOf(tenant, { server, audience, tool });
      throw new CatalogError('CONFLICT', 'REVIEW_SUPERSEDED', { review: id, newest });
    }
    case 'alreadyDecided':
      throw new CatalogError('CONFLICT', 'ALREADY_REVIEWED', { review: id });
    case 'alreadyAccepted':
      throw new CatalogError('CONFLICT', 'REVIEW_ACCEPTED', {
        review: id,
        kind: 'tool-id',
        server,
        target: tool,
      });
    default:
      return { id, state: outcome, receipt: receipt.id };
  }
};
