/** What the contract checks found, tool by tool. Everything here travels in arrays: one statement for a page of tools. */
import type pg from 'pg';
import type { Digest } from '../../domain/ids.js';
import type { DescriptorResult, ScanStore, SealedToolRow } from '../scanStore.js';
import { query, withTenant } from './pool.js';
import { storable } from './storable.js';

type CandidatePart = Pick<
  ScanStore,
  | 'saveDescriptors'
  | 'knownSources'
  | 'knownChecks'
  | 'saveChecks'
  | 'saveCandidateTools'
  | 'candidateSummary'
  | 'removedTools'
  | 'sealedTools'
  | 'noteCatalogFindings'
  | 'saveClassification'
>;

export const candidatePart = (pool: pg.Pool): CandidatePart => ({
  saveDescriptors: (tenant, descriptors) =>
    withTenant(pool, tenant, async (client) => {
      await query(
        client,
        `insert into descriptor (tenant, raw_digest, source)
           select $1, r, s from unnest($2::text[], $3::text[]) as d(r, s) on conflict do nothing`,
        [tenant, descriptors.map((d) => d.raw), descriptors.map((d) => d.source)],
      );
    }),

  knownSources: (tenant, raws) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ raw_digest: Digest }>(
        client,
        'select raw_digest from descriptor where tenant = $1 and raw_digest = any($2::text[])',
        [tenant, raws],
      );
      return new Set(rows.map((row) => row.raw_digest));
    }),

  knownChecks: (tenant, ruleset, raws) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ raw_digest: Digest; result: DescriptorResult }>(
        client,
        'select raw_digest, result from descriptor_check where tenant = $1 and ruleset = $2 and raw_digest = any($3::text[])',
        [tenant, ruleset, raws],
      );
      return new Map(rows.map((row) => [row.raw_digest, row.result]));
    }),

  saveChecks: (tenant, ruleset, results) =>
    withTenant(pool, tenant, async (client) => {
      const entries = [...results];
      await query(
        client,
        `insert into descriptor_check (tenant, ruleset, raw_digest, result)
           select $1, $2, d, r from unnest($3::text[], $4::jsonb[]) as c(d, r) on conflict do nothing`,
        [tenant, ruleset, entries.map(([digest]) => digest), entries.map(([, result]) => storable(result))],
      );
    }),

  saveCandidateTools: (tenant, scan, rows) =>
    withTenant(pool, tenant, async (client) => {
      await query(
        client,
        `insert into candidate_tool (tenant, scan, name, position, descriptor, raw_digest, contract_digest, hints_digest,
             text_digest, input, output, verdict)
           select $1, $2, t.* from unnest($3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
             $10::jsonb[], $11::jsonb[], $12::jsonb[]) as t
           on conflict do nothing`,
        [
          tenant,
          scan,
          rows.map((row) => row.name),
          rows.map((row) => row.position),
          rows.map((row) => row.descriptor),
          rows.map((row) => row.raw),
          rows.map((row) => row.contract),
          rows.map((row) => row.hints),
          rows.map((row) => row.text),
          rows.map((row) => (row.input === null ? null : JSON.stringify(row.input))),
          rows.map((row) => (row.output === null ? null : JSON.stringify(row.output))),
          rows.map((row) => storable(row.verdict)),
        ],
      );
    }),

  candidateSummary: (tenant, scan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ tools: number; quarantined: number; first: string | null }>(
        client,
        `select count(*)::int as tools, (count(*) filter (where verdict->>'status' = 'QUARANTINED'))::int as quarantined,
           left(min(name) filter (where verdict->>'status' = 'QUARANTINED'), 200) as first
           from candidate_tool where tenant = $1 and scan = $2`,
        [tenant, scan],
      );
      const row = rows[0] ?? { tools: 0, quarantined: 0, first: null };
      return { tools: row.tools, quarantined: row.quarantined, firstQuarantined: row.first };
    }),

  removedTools: (tenant, scan, activeScan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query<{ active: number; removed: number; examples: string[] | null }>(
        client,
        `select count(*)::int as active, (count(*) filter (where c.name is null))::int as removed,
           (array_agg(left(a.name, 200) order by a.name) filter (where c.name is null))[1:10] as examples
           from candidate_tool a left join candidate_tool c on c.tenant = a.tenant and c.scan = $2 and c.name = a.name
           where a.tenant = $1 and a.scan = $3`,
        [tenant, scan, activeScan],
      );
      const row = rows[0] ?? { active: 0, removed: 0, examples: null };
      return { active: row.active, removed: row.removed, examples: row.examples ?? [] };
    }),

  sealedTools: (tenant, scan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select t.name, t.position, t.descriptor, t.raw_digest, t.contract_digest, t.hints_digest, t.text_digest, t.input,
           t.output, t.verdict, t.contract_version, d.source
           from candidate_tool t join descriptor d on d.tenant = t.tenant and d.raw_digest = t.raw_digest
           where t.tenant = $1 and t.scan = $2 order by t.position`,
        [tenant, scan],
      );
      return rows.map(
        (row) =>
          ({
            name: row['name'],
            position: row['position'],
            descriptor: row['descriptor'],
            raw: row['raw_digest'],
            contract: row['contract_digest'],
            hints: row['hints_digest'],
            text: row['text_digest'],
            input: row['input'],
            output: row['output'],
            verdict: row['verdict'],
            contractVersion: row['contract_version'],
            source: row['source'],
          }) as SealedToolRow,
      );
    }),

  noteCatalogFindings: async (tenant, scan, findings) => {
    const rows = await query<{ done: boolean }>(pool, 'select note_catalog_findings($1, $2, $3) as done', [
      tenant,
      scan,
      storable(findings),
    ]);
    return rows[0]?.done === true;
  },

  saveClassification: (tenant, scan, rows) =>
    withTenant(pool, tenant, async (client) => {
      await query(
        client,
        `update candidate_tool t set tool_id = c.id, effect_class = c.effect, verdict = c.verdict
           from unnest($3::text[], $4::text[], $5::text[], $6::jsonb[]) as c(name, id, effect, verdict)
           where t.tenant = $1 and t.scan = $2 and t.name = c.name`,
        [
          tenant,
          scan,
          rows.map((row) => row.name),
          rows.map((row) => row.toolId),
          rows.map((row) => row.effectClass),
          rows.map((row) => storable(row.verdict)),
        ],
      );
    }),
});
