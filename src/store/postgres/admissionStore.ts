/** Admission and catalog reads, as the role that owns nothing: functions only, each one round trip (P3). */
import type pg from 'pg';
import type { ToolId } from '../../domain/ids.js';
import type {
  ActiveServer,
  AdmissionStore,
  AdmissionView,
  BoundTool,
  CatalogSlice,
  CommitOutcome,
  StoredReceipt,
} from '../admissionStore.js';
import { readPolicyBundle } from './activePointer.js';
import { query } from './pool.js';

const one = async <T>(pool: pg.Pool, call: string, values: readonly unknown[]): Promise<T | null> => {
  const rows = await query<{ answer: T | null }>(pool, `select ${call} as answer`, values);
  return rows[0]?.answer ?? null;
};

export const readReceipts: (
  pool: pg.Pool,
  ...args: Parameters<AdmissionStore['receipts']>
) => Promise<readonly StoredReceipt[]> = async (pool, tenant, { id, kind, subject, before, limit }) =>
  (await one<StoredReceipt[]>(pool, 'read_receipts($1, $2, $3, $4, $5, $6)', [
    tenant,
    id ?? null,
    kind ?? null,
    subject ?? null,
    before ?? null,
    limit,
  ])) ?? [];

export const createAdmissionStore = (pool: pg.Pool): AdmissionStore => ({
  view: async (tenant, server, audience) => {
    const view = await one<AdmissionView>(pool, 'admission_view($1, $2, $3)', [tenant, server, audience]);
    if (view === null) throw new Error('admission_view answered nothing');
    return view;
  },
  tool: (tenant, server, audience, tool) =>
    one<BoundTool>(pool, 'active_tool($1, $2, $3, $4)', [tenant, server, audience, tool]),
  toolId: (tenant, server, audience, name) =>
    one<ToolId>(pool, 'active_tool_id($1, $2, $3, $4)', [tenant, server, audience, name]),
  catalog: (tenant, server, audience, { after, limit }) =>
    one<CatalogSlice>(pool, 'active_catalog($1, $2, $3, $4, $5)', [tenant, server, audience, after, limit]),
  servers: async (tenant, audience) =>
    (await one<ActiveServer[]>(pool, 'active_servers($1, $2)', [tenant, audience])) ?? [],
  policyBundle: (tenant, epoch) => readPolicyBundle(pool, tenant, epoch),
  commitDecisions: async (tenant, server, rows) => {
    const answers = await query<{ ord: number; outcome: CommitOutcome }>(
      pool,
      'select ord, outcome from admit_batch($1, $2, $3)',
      [tenant, server, JSON.stringify(rows)],
    );
    return answers.map((answer) => answer.outcome);
  },
  forgetProofs: async (tenant) => Number((await one<string>(pool, 'forget_proofs($1)', [tenant])) ?? 0),
  receipts: (tenant, filter) => readReceipts(pool, tenant, filter),
});
