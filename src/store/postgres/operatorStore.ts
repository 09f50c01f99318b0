/** Operator acts and views, as the second named role: it may read history, and changes only through functions. */
import type pg from 'pg';
import { CatalogError } from '../../domain/errors.js';
import { nextCursorDigest, requestCursorDigest } from '../../proof/pageChain.js';
import type { DiscoveredTool, DiscoveryDetail, DiscoverySummary, OperatorStore } from '../operatorStore.js';
import { heldPart } from './acceptances.js';
import { readPolicyBundle } from './activePointer.js';
import { readReceipts } from './admissionStore.js';
import { isSqlState, query, type Row, withTenant } from './pool.js';
import { reviewPart } from './reviews.js';
import { freshnessRecord, iso, isoOrNull, registeredServer, SERVER_COLUMNS } from './rows.js';

const SUMMARY = `s.id, s.server, s.audience, s.workflow_id, s.run_id, s.round, s.state, s.reason, g.generation,
  (select count(*)::int from page p where p.tenant = s.tenant and p.scan = s.id) as pages,
  coalesce(s.tools, (select sum(p.tools)::int from page p where p.tenant = s.tenant and p.scan = s.id), 0) as tools,
  s.started_at, s.ended_at`;

const summary = (row: Row): DiscoverySummary =>
  ({
    id: row['id'],
    server: row['server'],
    audience: row['audience'],
    workflowId: row['workflow_id'],
    runId: row['run_id'],
    round: row['round'],
    state: row['state'],
    reason: row['reason'],
    generation: row['generation'],
    pages: row['pages'],
    tools: row['tools'],
    startedAt: iso(row['started_at']),
    endedAt: isoOrNull(row['ended_at']),
  }) as DiscoverySummary;

const FROM = 'from scan s left join generation g on g.tenant = s.tenant and g.scan = s.id';

export const createOperatorStore = (pool: pg.Pool): OperatorStore => ({
  registerServer: async (tenant, server, receipt, expected) => {
    const { audiences, ...rest } = server;
    try {
      const rows = await query<{ answer: Awaited<ReturnType<OperatorStore['registerServer']>> }>(
        pool,
        'select register_server($1, $2, $3, $4, $5) as answer',
        [tenant, rest, audiences, receipt, expected ?? null],
      );
      return rows[0]?.answer ?? { outcome: 'exists' };
    } catch (error) {
      if (error instanceof CatalogError && isSqlState(error.cause, '23505'))
        return { outcome: 'namespaceTaken' };
      throw error;
    }
  },

  readServer: (tenant, server) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select ${SERVER_COLUMNS} from server s where s.tenant = $1 and s.name = $2`,
        [tenant, server],
      );
      return rows[0] === undefined ? null : registeredServer(rows[0]);
    }),

  listServers: (tenant) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select ${SERVER_COLUMNS} from server s where s.tenant = $1 order by s.name`,
        [tenant],
      );
      return rows.map(registeredServer);
    }),

  setServerClosed: async (tenant, server, reason, receipt) => {
    const rows = await query<{ done: boolean }>(pool, 'select set_server_closed($1, $2, $3, $4) as done', [
      tenant,
      server,
      reason,
      receipt,
    ]);
    return rows[0]?.done === true;
  },

  publishPolicy: async (tenant, expectedEpoch, bundle, by, receipt) => {
    const rows = await query<{ epoch: number | null }>(
      pool,
      'select publish_policy($1, $2, $3, $4, $5, $6) as epoch',
      [tenant, expectedEpoch, bundle.text, bundle.digest, by, receipt],
    );
    return rows[0]?.epoch ?? null;
  },

  readPolicyBundle: (tenant, epoch) => readPolicyBundle(pool, tenant, epoch),

  revoke: async (tenant, revocation, receipt) => {
    const rows = await query<{ answer: 'revoked' | 'noSuchServer' }>(
      pool,
      'select revoke($1, $2, $3) as answer',
      [tenant, revocation, receipt],
    );
    return rows[0]?.answer ?? 'noSuchServer';
  },

  liftRevocation: async (tenant, id, by, receipt) => {
    const rows = await query<{ answer: 'lifted' | 'alreadyLifted' | 'noSuchRevocation' }>(
      pool,
      'select lift_revocation($1, $2, $3, $4) as answer',
      [tenant, id, by, receipt],
    );
    return rows[0]?.answer ?? 'noSuchRevocation';
  },

  listRevocations: (tenant) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select id, kind, server, target, reason, revoked_by, revoked_at, lifted_at from revocation where tenant = $1
           order by revoked_at desc limit 1000`,
        [tenant],
      );
      return rows.map((row) => ({
        id: row['id'] as string,
        kind: row['kind'] as 'server',
        server: row['server'] as string,
        target: row['target'] as string,
        reason: row['reason'] as string,
        by: row['revoked_by'] as string,
        revokedAt: iso(row['revoked_at']),
        liftedAt: isoOrNull(row['lifted_at']),
      }));
    }),

  listDiscoveries: (tenant, { server, limit }) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select ${SUMMARY} ${FROM} where s.tenant = $1 and ($2::text is null or s.server = $2) order by s.started_at desc limit $3`,
        [tenant, server ?? null, limit],
      );
      return rows.map(summary);
    }),

  readDiscovery: (tenant, scan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select ${SUMMARY}, s.evidence, s.source_evidence, s.protocol, s.identity, s.revision, s.page_root, s.content_root, s.tail_at, s.findings
           ${FROM} where s.tenant = $1 and s.id = $2`,
        [tenant, scan],
      );
      const row = rows[0];
      if (row === undefined) return null;
      const pages = await query(
        client,
        `select n, request_cursor, next_cursor, null_cursor, result_digest, raw_digest, tools, bytes, worker, fetched_at
           from page where tenant = $1 and scan = $2 order by n`,
        [tenant, scan],
      );
      const freshness = await query(
        client,
        'select snapshot, revision, verified_at, expires from freshness where tenant = $1 and scan = $2',
        [tenant, scan],
      );
      const findings = await query(
        client,
        `select name, verdict->>'status' as status, verdict->'findings' as findings from candidate_tool
           where tenant = $1 and scan = $2 and jsonb_array_length(verdict->'findings') > 0
           order by verdict->>'status' desc, name limit 500`,
        [tenant, scan],
      );
      return {
        ...summary(row),
        evidence: row['evidence'],
        sourceEvidence: row['source_evidence'],
        protocol: row['protocol'],
        identity: row['identity'],
        revision: row['revision'],
        pageRoot: row['page_root'],
        contentRoot: row['content_root'],
        tailAt: isoOrNull(row['tail_at']),
        pageChain: pages.map((page) => ({
          index: page['n'],
          requestCursor: requestCursorDigest((page['request_cursor'] as string | null) ?? undefined),
          nextCursor: nextCursorDigest((page['next_cursor'] as string | null) ?? undefined),
          nullCursor: page['null_cursor'],
          result: page['result_digest'],
          raw: page['raw_digest'],
          tools: page['tools'],
          bytes: page['bytes'],
          worker: page['worker'],
          fetchedAt: iso(page['fetched_at']),
          last: page['next_cursor'] === null,
        })),
        freshness: freshness.map(freshnessRecord)[0] ?? null,
        catalogFindings: row['findings'],
        toolFindings: findings.map((finding) => ({
          name: finding['name'],
          status: finding['status'],
          findings: finding['findings'],
        })),
      } as DiscoveryDetail;
    }),

  discoveredTools: (tenant, scan, { after, limit }) =>
    withTenant(pool, tenant, async (client) => {
      const found = await query(client, 'select 1 from scan where tenant = $1 and id = $2', [tenant, scan]);
      if (found[0] === undefined) return null;
      const rows = await query(
        client,
        `select t.position, t.name, t.descriptor, c.verdict->>'status' as verdict,
             array(select distinct f->>'code' from jsonb_array_elements(c.verdict->'findings') f order by 1) as codes
           from (select (row_number() over (order by p.n, e.ordinality))::int - 1 as position, e.value->>0 as name,
               e.value->>1 as descriptor
             from page p
             join page_text x on x.tenant = p.tenant and x.raw_digest = p.raw_digest and x.reading = p.reading
             cross join lateral jsonb_array_elements(x.tools) with ordinality e
             where p.tenant = $1 and p.scan = $2) t
           left join candidate_tool c on c.tenant = $1 and c.scan = $2 and c.name = t.name
           where t.position > $3 order by t.position limit $4`,
        [tenant, scan, after, limit],
      );
      return rows as unknown as readonly DiscoveredTool[];
    }),

  readArtifact: (tenant, server, audience, generation) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ artifact: Uint8Array | null; snapshot: string | null }>(
        client,
        `select artifact, snapshot from generation where tenant = $1 and server = $2 and audience = $3 and generation = $4
           and promoted_at is not null`,
        [tenant, server, audience, generation],
      );
      const row = rows[0];
      if (row?.artifact == null || row.snapshot === null) return null;
      return { bytes: row.artifact, digest: row.snapshot as DiscoveryDetail['identity'] & string };
    }),

  receipts: (tenant, filter) => readReceipts(pool, tenant, filter),
  ...heldPart(pool),
  ...reviewPart(pool),
});
