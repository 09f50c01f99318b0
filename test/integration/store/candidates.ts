/** Candidates driven over the real store to the point that a test, or a process of a test, is about. */
import { randomUUID } from 'node:crypto';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import {
  type Digest,
  epochMs,
  parseAudienceClass,
  parseNamespace,
  parseServerName,
  parseTenantId,
  type TenantId,
} from '../../../src/domain/ids.js';
import type { ReceiptRow } from '../../../src/domain/receiptRow.js';
import { DEFAULT_SCAN_LIMITS } from '../../../src/domain/scanLimits.js';
import {
  DEFAULT_CONTRACT,
  DEFAULT_FRESHNESS,
  DEFAULT_TRUST,
  type ServerRegistration,
} from '../../../src/domain/server.js';
import type { SourceRevision } from '../../../src/domain/snapshot.js';
import { sha256Bytes } from '../../../src/proof/digest.js';
import type { PageRecord, ScanClaim, ScanRecord, ScanStore } from '../../../src/store/scanStore.js';
import { unsignedReceipt } from '../../support/receiptRows.js';

export const ACME = parseTenantId('acme');
export const GLOBEX = parseTenantId('globex');
const SERVER = parseServerName('inventory');
export const MANAGERS = parseAudienceClass('managers');
export const VIEWERS = parseAudienceClass('viewers');

export const keyOf = (tenant: TenantId = ACME, audience = MANAGERS, server = SERVER): DiscoveryKey => ({
  tenant,
  server,
  audience,
});
export const digest = (text: string): Digest => sha256Bytes(text);
export const IDENTITY = digest('identity');
export const revision = (counter: number): SourceRevision => ({
  binding: 'SERVER_REVISION',
  value: { incarnation: 'i', counter },
});

export const registration = (more: Partial<ServerRegistration> = {}): ServerRegistration => ({
  name: SERVER,
  namespace: parseNamespace('inventory'),
  source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
  trust: DEFAULT_TRUST,
  limits: DEFAULT_SCAN_LIMITS,
  contract: DEFAULT_CONTRACT,
  freshness: DEFAULT_FRESHNESS,
  refreshSeconds: 0,
  audiences: { [MANAGERS]: { kind: 'none' }, [VIEWERS]: { kind: 'none' } },
  ...more,
});

export const receipt = (kind: ReceiptRow['kind'] = 'operator', id: string = randomUUID()): ReceiptRow =>
  unsignedReceipt({ kind, id });

interface WithStore {
  readonly store: ScanStore;
}

export const claimOf = (key: DiscoveryKey, more: Partial<ScanClaim> = {}): ScanClaim => ({
  key,
  id: `${randomUUID()}/0`,
  workflowId: 'discovery:test',
  runId: 'run',
  round: 0,
  segment: 0,
  attempt: 1,
  worker: 'w1',
  ...more,
});

export const pageOf = (n: number, tools: readonly string[], more: Partial<PageRecord> = {}): PageRecord => ({
  n,
  requestCursor: n === 0 ? undefined : `c${n}`,
  nextCursor: undefined,
  nullCursor: false,
  resultDigest: digest(`result ${n}`),
  rawDigest: digest(`raw ${n} ${tools}`),
  reading: digest('reading'),
  bytes: 4,
  tools: tools.map((name) => [name, digest(`descriptor ${name}`), digest(`raw ${name}`)]),
  revision: revision(1),
  identity: IDENTITY,
  worker: 'w1',
  ...more,
});
export const RAW = new TextEncoder().encode('page');

export const claimed = async ({ store }: WithStore, claim: ScanClaim): Promise<ScanRecord> => {
  const record = await store.claimScan(claim);
  if (record === null) throw new Error('the scan was not claimed');
  return record;
};

export interface CandidateWishes {
  readonly counter?: number;
  /** Tool name → text whose digest is its contract. */
  readonly tools?: Readonly<Record<string, string>>;
  readonly content?: string;
  /** Default true; else the tail was never asked. */
  readonly proven?: boolean;
  readonly identity?: Digest;
}

/** A scan whose pages and tail are bound: SNAPSHOT_PROVEN, with its tools judged. */
export const provenScan = async (
  fixture: WithStore,
  key: DiscoveryKey,
  {
    counter = 1,
    tools = { reserve: 'reserve v1' },
    content,
    proven = true,
    identity = IDENTITY,
  }: CandidateWishes = {},
): Promise<ScanRecord> => {
  const { store } = fixture;
  const claim = claimOf(key);
  const record = await claimed(fixture, claim);
  const at = { scan: record.id, segment: claim.segment, attempt: claim.attempt };
  await store.noteSource(key.tenant, at, {
    protocol: 'mcp-2025-11-25',
    identity,
    evidence: { endpoint: digest('endpoint') },
    revision: revision(counter),
    credentialFingerprint: null,
    credentialExpires: null,
  });
  const page = pageOf(0, Object.keys(tools), { revision: revision(counter), identity });
  await store.storePage(key.tenant, at, page, RAW);
  await store.saveDescriptors(
    key.tenant,
    Object.keys(tools).map((name) => ({ raw: digest(`raw ${name}`), source: `{"name":"${name}"}` })),
  );
  await store.saveCandidateTools(
    key.tenant,
    record.id,
    Object.entries(tools).map(([name, contract], position) => ({
      name,
      position,
      descriptor: digest(`descriptor ${name}`),
      raw: digest(`raw ${name}`),
      contract: digest(contract),
      hints: digest('hints'),
      text: digest('text'),
      input: null,
      output: null,
      verdict: { status: 'USABLE', findings: [] } as never,
    })),
  );
  await store.completeScan(key.tenant, at, {
    contentRoot: digest(content ?? JSON.stringify(tools)),
    tools: Object.keys(tools).length,
  });
  if (proven) {
    const tailAt = epochMs(Date.now());
    await store.proveScan(key.tenant, record.id, { pageRoot: digest('page root'), tailAt });
  }
  return record;
};

/** A proven scan with contract versions, generation number and artifact: what is left is the compare-and-set. */
export const sealedScan = async (
  fixture: WithStore,
  key: DiscoveryKey,
  wishes: CandidateWishes = {},
): Promise<ScanRecord & { readonly generation: number }> => {
  const { store } = fixture;
  const record = await provenScan(fixture, key, wishes);
  await store.issueContractVersions(key.tenant, record.id);
  const tools = await store.sealedTools(key.tenant, record.id);
  await store.saveClassification(
    key.tenant,
    record.id,
    tools.map(({ name, contractVersion, verdict }) => ({
      name,
      verdict,
      toolId: `inventory.${name}@${contractVersion}` as never,
      effectClass: 'UNKNOWN',
    })),
  );
  const generation = await store.reserveGeneration(key.tenant, record.id);
  const bytes = new TextEncoder().encode(`artifact of ${record.id}`);
  await store.saveArtifact(key.tenant, record.id, {
    digest: digest(`artifact of ${record.id}`),
    bytes,
    expires: inHours(24),
  });
  return { ...record, generation };
};

export const inHours = (hours: number) => epochMs(Date.now() + hours * 3_600_000);

export const promoted = async (fixture: WithStore, key: DiscoveryKey, wishes: CandidateWishes = {}) => {
  const scan = await sealedScan(fixture, key, wishes);
  const outcome = await fixture.store.promote(key.tenant, scan.id, inHours(1), receipt('catalog'));
  if (outcome.outcome !== 'promoted') throw new Error(`not promoted: ${JSON.stringify(outcome)}`);
  return { ...outcome, scan };
};
