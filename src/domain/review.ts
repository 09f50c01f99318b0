/**
 * The review of a tool whose text or hints changed under an unchanged contract (V6). Whether the change stops the tool is
 * a question of its effect class alone.
 */
import { type EffectClass, mayHaveSideEffects } from './descriptor.js';
import type { DiffClass } from './diff.js';

export const REVIEW_STATES = ['pending', 'refused', 'accepted'] as const;
export type ReviewState = (typeof REVIEW_STATES)[number];

/** A change that nobody has accepted. */
export interface OpenReview {
  readonly id: string;
  readonly state: Exclude<ReviewState, 'accepted'>;
  readonly changed: readonly Exclude<DiffClass, 'contract'>[];
}

/** V6: the review that keeps a tool from being called; null where there is none, or the tool is READ. */
export const heldBy = (tool: {
  readonly effectClass: EffectClass;
  readonly review: OpenReview | null;
}): OpenReview | null => (mayHaveSideEffects(tool.effectClass) ? tool.review : null);
