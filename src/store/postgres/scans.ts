/** Scans and pages in Postgres. The fenced statements live in migrations/0002_functions.sql. */
import type pg from 'pg';
import type { ScanStore } from '../scanStore.js';
import { query, withTenant } from './pool.js';
import { pageRecord, registeredServer, SCAN_COLUMNS, SERVER_COLUMNS, scanRecord } from './rows.js';
import { storable } from './storable.js';

type ScanPart = Pick<
  ScanStore,
  | 'readServer'
  | 'claimScan'
  | 'readScan'
  | 'pages'
  | 'pageBytes'
  | 'storePage'
  | 'noteSource'
  | 'noteProgress'
  | 'endScan'
>;

export const scanPart = (pool: pg.Pool): ScanPart => ({
  readServer: (tenant, server) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select ${SERVER_COLUMNS} from server s where s.tenant = $1 and s.name = $2`,
        [tenant, server],
      );
      return rows[0] === undefined ? null : registeredServer(rows[0]);
    }),

  claimScan: async ({ key, ...claim }) => {
    const rows = await query(pool, `select ${SCAN_COLUMNS} from claim_scan($1, $2)`, [
      key.tenant,
      {
        id: claim.id,
        server: key.server,
        audience: key.audience,
        workflow_id: claim.workflowId,
        run_id: claim.runId,
        round: claim.round,
        segment: claim.segment,
        attempt: claim.attempt,
        worker: claim.worker,
      },
    ]);
    return rows[0] === undefined ? null : scanRecord(rows[0]);
  },

  readScan: (tenant, scan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(client, `select ${SCAN_COLUMNS} from scan where tenant = $1 and id = $2`, [
        tenant,
        scan,
      ]);
      return rows[0] === undefined ? null : scanRecord(rows[0]);
    }),

  pages: (tenant, scan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select n, request_cursor, next_cursor, null_cursor, result_digest, raw_digest, bytes, tools, revision, identity,
           worker from page where tenant = $1 and scan = $2 order by n`,
        [tenant, scan],
      );
      return rows.map(pageRecord);
    }),

  pageBytes: (tenant, scan, n) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ raw: Uint8Array }>(
        client,
        'select raw from page where tenant = $1 and scan = $2 and n = $3',
        [tenant, scan, n],
      );
      const raw = rows[0]?.raw;
      if (raw === undefined) throw new Error(`page ${n} of scan ${scan} is not stored`);
      return raw;
    }),

  storePage: async (tenant, { scan, segment, attempt }, page, raw) => {
    const facts = {
      n: page.n,
      request_cursor: page.requestCursor ?? null,
      next_cursor: page.nextCursor ?? null,
      null_cursor: page.nullCursor,
      result_digest: page.resultDigest,
      raw_digest: page.rawDigest,
      tools: page.tools,
      revision: page.revision,
      identity: page.identity,
      worker: page.worker,
    };
    const rows = await query<{ stored: boolean }>(
      pool,
      'select store_page($1, $2, $3, $4, $5, $6) as stored',
      [tenant, scan, segment, attempt, facts, raw],
    );
    return rows[0]?.stored === true;
  },

  noteSource: (tenant, scan, source) =>
    withTenant(pool, tenant, async (client) => {
      await query(
        client,
        `update scan set protocol = $3, identity = $4, source_evidence = $5, revision = $6
           where tenant = $1 and id = $2 and ended_at is null`,
        [
          tenant,
          scan,
          source.protocol,
          source.identity,
          storable(source.evidence),
          storable(source.revision),
        ],
      );
    }),

  noteProgress: (tenant, scan, progress) =>
    withTenant(pool, tenant, async (client) => {
      await query(
        client,
        `update scan set state = $3, page_root = coalesce($4, page_root), content_root = coalesce($5, content_root),
           tools = coalesce($6, tools) where tenant = $1 and id = $2 and ended_at is null`,
        [
          tenant,
          scan,
          progress.state,
          progress.pageRoot ?? null,
          progress.contentRoot ?? null,
          progress.tools ?? null,
        ],
      );
    }),

  endScan: (tenant, scan, end) =>
    withTenant(pool, tenant, async (client) => {
      await query(
        client,
        `update scan set state = $3, reason = $4, evidence = $5, ended_at = clock_timestamp()
           where tenant = $1 and id = $2 and ended_at is null`,
        [tenant, scan, end.state, end.reason, storable(end.evidence)],
      );
    }),
});
