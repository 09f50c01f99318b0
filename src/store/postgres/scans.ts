/** Scans and pages in Postgres. The fenced statements live in migrations/0002_functions.sql. */
import type pg from 'pg';
import type { PageRecord, ScanStore } from '../scanStore.js';
import { query, withTenant } from './pool.js';
import { pageFrame, registeredServer, SCAN_COLUMNS, SERVER_COLUMNS, scanRecord } from './rows.js';
import { storable } from './storable.js';

const PAGE_COLUMNS = `p.n, p.request_cursor, p.next_cursor, p.null_cursor, p.result_digest, p.raw_digest, p.reading,
  p.bytes, p.tools as tool_count, p.revision, p.identity, p.worker`;

type ScanPart = Pick<
  ScanStore,
  | 'readServer'
  | 'claimScan'
  | 'readScan'
  | 'pages'
  | 'pageChain'
  | 'pageBytes'
  | 'storePage'
  | 'noteSource'
  | 'keepSession'
  | 'readSession'
  | 'completeScan'
  | 'proveScan'
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
        `select ${PAGE_COLUMNS}, t.tools from page p
           join page_text t on t.tenant = p.tenant and t.raw_digest = p.raw_digest and t.reading = p.reading
           where p.tenant = $1 and p.scan = $2 order by p.n`,
        [tenant, scan],
      );
      return rows.map((row) => {
        const { toolCount: _, ...frame } = pageFrame(row);
        return { ...frame, tools: row['tools'] as PageRecord['tools'] };
      });
    }),

  pageChain: (tenant, scan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select ${PAGE_COLUMNS} from page p where p.tenant = $1 and p.scan = $2 order by p.n`,
        [tenant, scan],
      );
      return rows.map(pageFrame);
    }),

  pageBytes: (tenant, scan, n) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ raw: Uint8Array }>(
        client,
        `select t.raw from page p
           join page_text t on t.tenant = p.tenant and t.raw_digest = p.raw_digest and t.reading = p.reading
           where p.tenant = $1 and p.scan = $2 and p.n = $3`,
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
      reading: page.reading,
      bytes: page.bytes,
      count: page.tools.length,
      tools: raw === null ? null : page.tools,
      revision: page.revision,
      identity: page.identity,
      worker: page.worker,
    };
    return done(pool, 'store_page($1, $2, $3, $4, $5, $6)', [tenant, scan, segment, attempt, facts, raw]);
  },

  noteSource: (tenant, { scan, segment, attempt }, source) =>
    done(pool, 'note_source($1, $2, $3, $4, $5)', [
      tenant,
      scan,
      segment,
      attempt,
      storable({
        protocol: source.protocol,
        identity: source.identity,
        evidence: source.evidence,
        revision: source.revision,
        credential_fingerprint: source.credentialFingerprint,
        credential_expires_ms: source.credentialExpires,
      }),
    ]),

  keepSession: (tenant, { scan, segment, attempt }, sealed) =>
    done(pool, 'keep_session($1, $2, $3, $4, $5)', [tenant, scan, segment, attempt, sealed]),

  readSession: (tenant, scan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ sealed: string }>(
        client,
        'select sealed from scan_session where tenant = $1 and scan = $2',
        [tenant, scan],
      );
      return rows[0]?.sealed ?? null;
    }),

  completeScan: (tenant, { scan, segment, attempt }, { contentRoot, tools }) =>
    done(pool, 'complete_scan($1, $2, $3, $4, $5, $6)', [tenant, scan, segment, attempt, contentRoot, tools]),

  proveScan: (tenant, scan, { pageRoot, tailAt }) =>
    done(pool, 'prove_scan($1, $2, $3, $4)', [tenant, scan, pageRoot, new Date(tailAt)]),

  endScan: async (tenant, scan, { state, reason, evidence }) => {
    await done(pool, 'end_scan($1, $2, $3, $4, $5)', [tenant, scan, state, reason, storable(evidence)]);
  },
});

/** One call of a function that answers whether it did what it was asked. */
const done = async (pool: pg.Pool, call: string, values: readonly unknown[]): Promise<boolean> => {
  const rows = await query<{ done: boolean }>(pool, `select ${call} as done`, values);
  return rows[0]?.done === true;
};
