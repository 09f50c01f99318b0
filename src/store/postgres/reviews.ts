/** Reviews of changed texts and hints, as the operator's role: read from the active generation, decided by one function (V6). */
import type pg from 'pg';
import type { Digest } from '../../domain/ids.js';
import type { GenerationTool, Review, ReviewStore } from '../reviewStore.js';
import { query, type Row, withTenant } from './pool.js';
import { isoOrNull } from './rows.js';

const COLUMNS = `id, server, audience, generation, tool_id, name, effect_class, before, before_raw, after, after_raw, changed,
  state, reason, decided_by, decided_at, receipt`;

/** What is open now, and what was decided and is not; $1 is the tenant, $2 a server or null. */
const REVIEWS = `with open_now as materialized (
    select ${COLUMNS} from open_review
      where tenant = $1 and ($2::text is null or server = $2) and effect_class is distinct from 'READ'),
  every as (
    select *, true as open from open_now
    union all select ${COLUMNS}, false from review
      where tenant = $1 and ($2::text is null or server = $2) and id not in (select id from open_now))`;

const review = (row: Row): Review =>
  ({
    id: row['id'],
    server: row['server'],
    audience: row['audience'],
    tool: row['tool_id'],
    name: row['name'],
    effectClass: row['effect_class'],
    generation: row['generation'],
    before: row['before'],
    after: row['after'],
    changed: row['changed'],
    state: row['state'],
    open: row['open'],
    reason: row['reason'],
    by: row['decided_by'],
    decidedAt: isoOrNull(row['decided_at']),
    receipt: row['receipt'],
  }) as Review;

export const reviewPart = (pool: pg.Pool): ReviewStore => ({
  listReviews: (tenant, { server, state, after, limit }) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `${REVIEWS} select * from every
           where ($3::text is null or state = $3) and ($4::text is null
             or (server collate "C", audience collate "C", tool_id collate "C", id collate "C") > ($4, $5, $6, $7))
           order by server collate "C", audience collate "C", tool_id collate "C", id collate "C" limit $8`,
        [
          tenant,
          server ?? null,
          state ?? null,
          after?.server ?? null,
          after?.audience ?? null,
          after?.tool ?? null,
          after?.id ?? null,
          limit,
        ],
      );
      return rows.map(review);
    }),

  readReview: (tenant, id) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `${REVIEWS} select e.*, b.source as before_source, a.source as after_source from every e
           join descriptor b on b.tenant = $1 and b.raw_digest = e.before_raw
           join descriptor a on a.tenant = $1 and a.raw_digest = e.after_raw
           where e.id = $3`,
        [tenant, null, id],
      );
      const row = rows[0];
      if (row === undefined) return null;
      return {
        review: review(row),
        before: row['before_source'] as string,
        after: row['after_source'] as string,
      };
    }),

  openReviewOf: (tenant, { server, audience, tool }) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ id: string }>(
        client,
        `select id from open_review where tenant = $1 and server = $2 and audience = $3 and tool_id = $4
           and effect_class is distinct from 'READ'`,
        [tenant, server, audience, tool],
      );
      return rows[0]?.id ?? null;
    }),

  decideReview: async (tenant, { id, server, audience, tool, before, after }, decision, receipt) => {
    const rows = await query<{ answer: Awaited<ReturnType<ReviewStore['decideReview']>> }>(
      pool,
      'select decide_review($1, $2, $3) as answer',
      [tenant, { id, server, audience, tool, before, after, ...decision }, receipt],
    );
    return rows[0]?.answer ?? 'superseded';
  },

  generationTools: (tenant, server, audience, generation) =>
    withTenant(pool, tenant, async (client) => {
      const found = await query<{ scan: string }>(
        client,
        `select scan from generation
           where tenant = $1 and server = $2 and audience = $3 and generation = $4 and promoted_at is not null`,
        [tenant, server, audience, generation],
      );
      if (found[0] === undefined) return null;
      const rows = await query(
        client,
        `select t.name, t.tool_id as id, t.descriptor, t.raw_digest as raw, t.contract_digest as contract,
             t.hints_digest as hints, t.text_digest as text, octet_length(d.source) as bytes
           from candidate_tool t join descriptor d on d.tenant = t.tenant and d.raw_digest = t.raw_digest
           where t.tenant = $1 and t.scan = $2`,
        [tenant, found[0].scan],
      );
      return rows as unknown as readonly GenerationTool[];
    }),

  sources: (tenant, raws) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ raw: Digest; source: string }>(
        client,
        'select raw_digest as raw, source from descriptor where tenant = $1 and raw_digest = any($2::text[])',
        [tenant, raws],
      );
      return new Map(rows.map(({ raw, source }) => [raw, source]));
    }),
});
