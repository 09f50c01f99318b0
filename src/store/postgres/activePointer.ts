/** The pointer of (tenant, server identity, audience class): the single compare-and-set, and what leads up to it (P1). */
import type pg from 'pg';
import type { DiscoveryKey, Evidence } from '../../domain/generation.js';
import type { EpochMs } from '../../domain/ids.js';
import { epochMs } from '../../domain/ids.js';
import type {
  AcceptedRevision,
  ActiveGeneration,
  PromoteOutcome,
  RenewOutcome,
  ScanStore,
} from '../scanStore.js';
import { query, withTenant } from './pool.js';
import { time, timeOrNull } from './rows.js';

type GenerationPart = Pick<
  ScanStore,
  | 'active'
  | 'lastServed'
  | 'acceptedSource'
  | 'acceptedOf'
  | 'issueContractVersions'
  | 'reserveGeneration'
  | 'saveArtifact'
  | 'generationOf'
  | 'promote'
  | 'renewFreshness'
  | 'readPolicyBundle'
>;

const toDate = (ms: EpochMs): Date => new Date(ms);

const newestPointer = (
  pool: pg.Pool,
  { tenant, server, audience }: DiscoveryKey,
  which: 'a.closed_at is null' | 'true',
): Promise<ActiveGeneration | null> =>
  withTenant(pool, tenant, async (client) => {
    const rows = await query(
      client,
      `select a.generation, a.identity, a.scan, a.version::float8 as version, a.policy_epoch, a.trust_version, a.revision,
         a.content_root, g.expires, s.source_evidence
         from active_pointer a
         join generation g on g.tenant = a.tenant and g.scan = a.scan
         join scan s on s.tenant = a.tenant and s.id = a.scan
         where a.tenant = $1 and a.server = $2 and a.audience = $3 and ${which} order by a.version desc limit 1`,
      [tenant, server, audience],
    );
    const row = rows[0];
    if (row === undefined) return null;
    return {
      generation: row['generation'],
      identity: row['identity'],
      scan: row['scan'],
      version: row['version'],
      policyEpoch: row['policy_epoch'],
      trustVersion: row['trust_version'],
      revision: row['revision'],
      contentRoot: row['content_root'],
      expires: time(row['expires']),
      sourceEvidence: row['source_evidence'],
    } as ActiveGeneration;
  });

export const generationPart = (pool: pg.Pool): GenerationPart => ({
  active: (key) => newestPointer(pool, key, 'a.closed_at is null'),
  lastServed: (key) => newestPointer(pool, key, 'true'),

  acceptedSource: (tenant, server, identity) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select s.source_evidence from active_pointer a join scan s on s.tenant = a.tenant and s.id = a.scan
           where a.tenant = $1 and a.server = $2 and a.identity = $3 order by s.started_at desc limit 1`,
        [tenant, server, identity],
      );
      return (rows[0]?.['source_evidence'] ?? null) as Evidence | null;
    }),

  acceptedOf: ({ tenant, server, audience }, identity) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select a.identity, a.revision, a.content_root, s.credential, s.credential_fingerprint
           from active_pointer a join scan s on s.tenant = a.tenant and s.id = a.scan
           where a.tenant = $1 and a.server = $2 and a.audience = $3 and a.identity = $4`,
        [tenant, server, audience, identity],
      );
      const row = rows[0];
      if (row === undefined) return null;
      return {
        identity: row['identity'],
        revision: row['revision'],
        contentRoot: row['content_root'],
        credential: row['credential'],
        credentialFingerprint: row['credential_fingerprint'],
      } as AcceptedRevision;
    }),

  issueContractVersions: async (tenant, scan) => {
    await query(pool, 'select issue_contract_versions($1, $2)', [tenant, scan]);
  },

  reserveGeneration: async (tenant, scan) => {
    const rows = await query<{ n: number }>(pool, 'select reserve_generation($1, $2) as n', [tenant, scan]);
    return rows[0]?.n ?? 0;
  },

  saveArtifact: (tenant, scan, artifact) =>
    withTenant(pool, tenant, async (client) => {
      // A sealed generation is immutable: a retry of the same content changes nothing, other content is a fault.
      await query(
        client,
        `update generation set snapshot = $3, artifact = $4, expires = $5
           where tenant = $1 and scan = $2 and snapshot is null`,
        [tenant, scan, artifact.digest, artifact.bytes, toDate(artifact.expires)],
      );
    }),

  generationOf: (tenant, scan) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        'select generation, snapshot, expires from generation where tenant = $1 and scan = $2',
        [tenant, scan],
      );
      const row = rows[0];
      if (row === undefined) return null;
      return {
        generation: row['generation'] as number,
        snapshot: row['snapshot'] as ActiveGeneration['identity'] | null,
        expires: timeOrNull(row['expires']),
      };
    }),

  promote: async (tenant, scan, freshUntil, receipt) => {
    const rows = await query<{ answer: PromoteOutcome }>(pool, 'select promote($1, $2, $3, $4) as answer', [
      tenant,
      scan,
      toDate(freshUntil),
      receipt,
    ]);
    const answer = rows[0]?.answer;
    if (answer === undefined) throw new Error('promote answered nothing');
    return answer;
  },

  renewFreshness: async (tenant, scan, freshUntil) => {
    const rows = await query<{ answer: RenewOutcome & { freshUntil?: string } }>(
      pool,
      'select renew_freshness($1, $2, $3) as answer',
      [tenant, scan, toDate(freshUntil)],
    );
    const answer = rows[0]?.answer;
    if (answer === undefined) throw new Error('renew_freshness answered nothing');
    if (answer.outcome !== 'renewed') return answer;
    return { ...answer, freshUntil: epochMs(Date.parse(String(answer.freshUntil))) };
  },

  readPolicyBundle: (tenant, epoch) => readPolicyBundle(pool, tenant, epoch),
});

export const readPolicyBundle: (
  pool: pg.Pool,
  ...args: Parameters<ScanStore['readPolicyBundle']>
) => ReturnType<ScanStore['readPolicyBundle']> = async (pool, tenant, epoch) => {
  const rows = await query<{ answer: Awaited<ReturnType<ScanStore['readPolicyBundle']>> }>(
    pool,
    'select policy_bundle($1, $2) as answer',
    [tenant, epoch],
  );
  return rows[0]?.answer ?? null;
};
