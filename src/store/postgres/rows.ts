/** From rows to values: times as epoch milliseconds, absent cursors as undefined. */
import type { Digest, EpochMs } from '../../domain/ids.js';
import { epochMs } from '../../domain/ids.js';
import type { RegisteredServer } from '../../domain/server.js';
import { type CatalogFreshness, FRESHNESS_SCHEMA } from '../../domain/snapshot.js';
import type { PageFrame, ScanRecord } from '../scanStore.js';
import type { Row } from './pool.js';

export const time = (value: unknown): EpochMs => epochMs((value as Date).getTime());
export const timeOrNull = (value: unknown): EpochMs | null => (value === null ? null : time(value));
export const iso = (value: unknown): string => (value as Date).toISOString();
export const isoOrNull = (value: unknown): string | null => (value === null ? null : iso(value));

export const freshnessRecord = (row: Row): CatalogFreshness => ({
  schema: FRESHNESS_SCHEMA,
  snapshot: row['snapshot'] as Digest,
  revision: row['revision'] as CatalogFreshness['revision'],
  verifiedAt: iso(row['verified_at']),
  expires: iso(row['expires']),
});

export const SCAN_COLUMNS = `tenant, id, server, audience, round, state, policy_epoch, trust_version,
  base_pointer_version::float8 as base_pointer_version, base_identity, protocol, source_evidence, identity, revision, page_root,
  content_root, tools, credential, credential_fingerprint, credential_expires, tail_at, acceptances,
  started_at, deadline, ended_at`;

export const scanRecord = (row: Row): ScanRecord =>
  ({
    tenant: row['tenant'],
    id: row['id'],
    server: row['server'],
    audience: row['audience'],
    round: row['round'],
    state: row['state'],
    policyEpoch: row['policy_epoch'],
    trustVersion: row['trust_version'],
    basePointerVersion: row['base_pointer_version'],
    baseIdentity: row['base_identity'],
    protocol: row['protocol'],
    sourceEvidence: row['source_evidence'],
    identity: row['identity'],
    revision: row['revision'],
    pageRoot: row['page_root'],
    contentRoot: row['content_root'],
    tools: row['tools'],
    credential: row['credential'],
    credentialFingerprint: row['credential_fingerprint'],
    credentialExpires: timeOrNull(row['credential_expires']),
    tailAt: timeOrNull(row['tail_at']),
    acceptances: row['acceptances'],
    startedAt: time(row['started_at']),
    deadline: time(row['deadline']),
    endedAt: timeOrNull(row['ended_at']),
  }) as ScanRecord;

export const pageFrame = (row: Row): PageFrame => ({
  n: row['n'] as number,
  requestCursor: (row['request_cursor'] as string | null) ?? undefined,
  nextCursor: (row['next_cursor'] as string | null) ?? undefined,
  nullCursor: row['null_cursor'] as boolean,
  resultDigest: row['result_digest'] as Digest,
  rawDigest: row['raw_digest'] as Digest,
  reading: row['reading'] as Digest,
  bytes: row['bytes'] as number,
  toolCount: row['tool_count'] as number,
  revision: row['revision'] as PageFrame['revision'],
  identity: row['identity'] as Digest,
  worker: row['worker'] as string,
});

export const SERVER_COLUMNS = `s.name, s.namespace, s.source, s.trust, s.trust_version, s.limits, s.contract, s.freshness,
  s.refresh_seconds, s.closed_reason,
  (select coalesce(jsonb_object_agg(a.audience, a.credential), '{}'::jsonb) from server_audience a
    where a.tenant = s.tenant and a.server = s.name) as audiences`;

export const registeredServer = (row: Row): RegisteredServer =>
  ({
    name: row['name'],
    namespace: row['namespace'],
    source: row['source'],
    trust: row['trust'],
    trustVersion: row['trust_version'],
    limits: row['limits'],
    contract: row['contract'],
    freshness: row['freshness'],
    refreshSeconds: row['refresh_seconds'],
    closedReason: row['closed_reason'],
    audiences: row['audiences'],
  }) as RegisteredServer;
