/** Reviews as a person reads them on a terminal. */
import type { MemberChange, Review, ReviewDetail } from '../client/types.js';
import { visibleText } from '../domain/visibleText.js';
import { table } from './table.js';

/** One line a review, with the id that the other commands take. */
export const reviewTable = (reviews: readonly Review[]): string =>
  reviews.length === 0
    ? 'No reviews.\n'
    : table(
        ['ID', 'SERVER', 'AUDIENCE', 'TOOL', 'EFFECT', 'CHANGED', 'STATE'],
        reviews.map(({ id, server, audience, tool, effectClass, changed, state }) => [
          id,
          server,
          audience,
          tool,
          effectClass,
          changed.join(', '),
          state,
        ]),
      );

/** The change, member by member: what was approved, or was there before, under `-`, what the server says now under `+`. */
export const reviewText = (review: ReviewDetail): string =>
  [
    `${visibleText(review.tool)} of ${review.server} for ${review.audience}`,
    `${review.effectClass}, generation ${review.generation}, ${review.changed.join(' and ')} changed: ${stateText(review)}`,
    `was ${review.before}`,
    `is  ${review.after}`,
    ...review.members.flatMap(memberLines),
    '',
  ].join('\n');

const stateText = ({ state, by, decidedAt, reason, open }: Review): string => {
  if (state === 'pending') return 'waits for a review, and is not admitted until then';
  const decided = `${state} by ${visibleText(by ?? '')} at ${decidedAt} (${visibleText(reason ?? '')})`;
  return open ? `${decided}, and is not admitted` : decided;
};

/** The API sends values with hidden characters escaped; escaping again changes nothing, unless it did not. */
const memberLines = ({ pointer, class: name, before, after, offset }: MemberChange): readonly string[] => [
  '',
  `${visibleText(pointer)} (${name}${offset > 0 ? `, from character ${offset + 1} on` : ''})`,
  ...(before === null ? [] : [`- ${visibleText(before)}`]),
  ...(after === null ? [] : [`+ ${visibleText(after)}`]),
];
