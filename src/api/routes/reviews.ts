/** Reviews of changed texts and hints (V6), and two generations side by side; for operators. */
import { DIFF_CLASSES } from '../../domain/diff.js';
import { REVIEW_STATES } from '../../domain/review.js';
import { diffGenerations } from '../../usecases/diffGenerations.js';
import { decideReview, listReviews, readReview } from '../../usecases/reviews.js';
import { json, type Route, route } from '../route.js';
import {
  audienceClass,
  effectClass,
  generationNumber,
  isoTime,
  limit,
  plainText,
  serverName,
  serverParams,
  text,
  z,
} from '../schemas.js';

const state = z.enum(REVIEW_STATES);
const reviewParams = z.object({ id: plainText(64) });

const review = z
  .object({
    id: text,
    server: text,
    audience: text,
    tool: text,
    name: text,
    effectClass,
    generation: z.int(),
    before: text.openapi({
      description:
        'Digest of the descriptor as it was last approved, or as it last was otherwise where none was approved.',
    }),
    after: text,
    changed: z.array(z.enum(['text', 'hints'])),
    state,
    open: z.boolean().openapi({ description: 'Whether it keeps the active tool from being called.' }),
    reason: text.nullable(),
    by: text.nullable(),
    decidedAt: isoTime.nullable(),
    receipt: text.nullable(),
  })
  .openapi('Review');

const shown = text.nullable().openapi({
  description:
    'JSON text around what differs, with … where more of what both have in common is left out. Characters that nobody would see, and where the two differ all that are not ASCII, stand as \\u{…}. null where there is no value.',
});
const memberChange = z
  .object({
    pointer: text,
    class: z.enum(DIFF_CLASSES),
    before: shown,
    after: shown,
    offset: z
      .int()
      .openapi({ description: 'How many UTF-16 code units both have in common before they differ.' }),
  })
  .openapi('MemberChange');

const list = route({
  method: 'get',
  path: '/v1/reviews',
  id: 'listReviews',
  tag: 'Reviews',
  summary: 'Changed texts and hints of effectful tools: waiting, refused and accepted',
  description:
    'A tool that may have effects and whose text or hints are not as they were last approved is not admitted until its change is accepted. READ tools need no review. By server, audience and tool.',
  access: 'operator',
  query: z.strictObject({
    server: serverName.optional(),
    state: state.optional(),
    after: plainText(2_000).optional(),
    limit: limit(500, 100),
  }),
  responses: {
    200: {
      description: 'The slice after `after`, the `next` of the slice before',
      schema: z.object({ reviews: z.array(review), next: text.nullable() }),
    },
  },
  handle: async ({ caller: { tenant }, query }, { operatorStore, reviewReads }) =>
    json(200, await reviewReads.run(tenant, () => listReviews(operatorStore, tenant, query))),
});

const show = route({
  method: 'get',
  path: '/v1/reviews/{id}',
  id: 'readReview',
  tag: 'Reviews',
  summary: 'One change, member by member',
  access: 'operator',
  params: reviewParams,
  responses: {
    200: { description: 'The change', schema: review.extend({ members: z.array(memberChange) }) },
  },
  handle: async ({ caller: { tenant }, params }, { operatorStore, reviewReads }) =>
    json(200, await reviewReads.run(tenant, () => readReview(operatorStore, tenant, params.id))),
});

const DECIDED = { accept: 'accepted', refuse: 'refused' } as const;

const decide = route({
  method: 'post',
  path: '/v1/reviews/{id}',
  id: 'decideReview',
  tag: 'Reviews',
  summary: 'Accept or refuse a change',
  description:
    'Holds from the answer on, for the very descriptors that the review shows. A refused change can be accepted later; an accepted tool is withdrawn by a revocation.',
  access: 'operator',
  params: reviewParams,
  body: z
    .strictObject({ decision: z.enum(['accept', 'refuse']), reason: plainText(500) })
    .openapi('ReviewDecision'),
  responses: {
    200: { description: 'Decided', schema: z.object({ id: text, state, receipt: text }) },
  },
  handle: async ({ caller, params, body, requestId }, services) => {
    const operator = { tenant: caller.tenant, subject: caller.subject, requestId };
    const deps = { ...services, store: services.operatorStore };
    const decision = { state: DECIDED[body.decision], reason: body.reason };
    return json(200, await decideReview(deps, operator, params.id, decision));
  },
});

const side = z.object({ id: text, descriptor: text }).nullable();

const diff = route({
  method: 'get',
  path: '/v1/catalogs/{server}/diff',
  id: 'diffGenerations',
  tag: 'Catalogs',
  summary: 'What changed between two generations, by class and member',
  description:
    '`likelyRenameOf` names the removed tool whose contract an added one has under another name. It is a hint: a new name is a new tool id, and nothing of the old one is permitted or approved under it. It is told where the added and removed tools are few and small. A slice ends before `limit` where the tools are large; `next` says where to go on.',
  access: 'operator',
  params: serverParams,
  query: z.strictObject({
    audience: audienceClass,
    from: generationNumber,
    to: generationNumber,
    after: plainText(256).or(z.literal('')).default(''),
    limit: limit(500, 100),
  }),
  responses: {
    200: {
      description: 'The slice after the tool name `after`',
      schema: z
        .object({
          from: z.int(),
          to: z.int(),
          counts: z.object({ added: z.int(), removed: z.int(), changed: z.int() }),
          tools: z.array(
            z.object({
              kind: z.enum(['added', 'removed', 'changed']),
              name: text,
              before: side,
              after: side,
              classes: z.array(z.enum(DIFF_CLASSES)),
              members: z.array(memberChange),
              likelyRenameOf: text.nullable(),
            }),
          ),
          next: text.nullable(),
        })
        .openapi('GenerationsDiff'),
    },
  },
  handle: async ({ caller: { tenant }, params, query }, { operatorStore, reviewReads }) => {
    const request = { ...params, ...query };
    return json(200, await reviewReads.run(tenant, () => diffGenerations(operatorStore, tenant, request)));
  },
});

export const reviewRoutes: readonly Route[] = [list, show, decide, diff];
