/** A generation with given tools, by the steps that the activities take: claim, judge, seal, compare-and-set. */
import { randomUUID } from 'node:crypto';
import type { EffectClass } from '../../../src/domain/descriptor.js';
import type { EndReason, EndState } from '../../../src/domain/endReasons.js';
import {
  epochMs,
  parseAudienceClass,
  parseNamespace,
  parseServerName,
  type TenantId,
  toolId,
} from '../../../src/domain/ids.js';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import { contractDigest, hintsDigest, textDigest } from '../../../src/proof/contract.js';
import { digestJson, sha256Bytes } from '../../../src/proof/digest.js';
import type { ScanStore } from '../../../src/store/scanStore.js';
import { checkDescriptor, DEFAULT_CONTRACT_POLICY } from '../../../src/validation/checkDescriptor.js';
import { unsignedReceipt } from '../../support/receiptRows.js';
import { AUDIENCE } from './apiFixture.js';

export const IDENTITY = sha256Bytes('identity');

export const tool = (name: string, more: Record<string, JsonValue> = {}): JsonObject => ({
  name,
  description: `Does ${name}`,
  inputSchema: {
    type: 'object',
    properties: { warehouse: { type: 'string' }, sku: { type: 'string' }, quantity: { type: 'integer' } },
    required: ['warehouse', 'sku'],
    additionalProperties: false,
  },
  ...more,
});

export interface GenerationWishes {
  readonly server?: string;
  readonly tenant: TenantId;
  readonly audience?: string;
  readonly tools: readonly JsonObject[];
  readonly classes?: Readonly<Record<string, EffectClass>>;
  readonly counter?: number;
  /** Milliseconds from now. Default an hour. */
  readonly freshFor?: number;
}

/** @returns the number of the generation, and each tool's id and descriptor by its name */
export const promoteTools = async (store: ScanStore, wishes: GenerationWishes) => {
  const { server = 'inventory', tenant, tools, classes = {}, counter = 1 } = wishes;
  const key = {
    tenant,
    server: parseServerName(server),
    audience: parseAudienceClass(wishes.audience ?? AUDIENCE),
  };
  const id = `${randomUUID()}/0`;
  const scan = await store.claimScan({
    key,
    id,
    workflowId: 'discovery:test',
    runId: 'run',
    round: 0,
    segment: 0,
    attempt: 1,
    worker: 'w1',
  });
  if (scan === null) throw new Error('not claimed');
  const claim = { scan: id, segment: 0, attempt: 1 };
  await store.noteSource(tenant, claim, {
    protocol: 'mcp-2025-11-25',
    identity: IDENTITY,
    evidence: { endpoint: sha256Bytes('endpoint') },
    revision: { binding: 'SERVER_REVISION', value: { incarnation: '', counter } },
    credentialFingerprint: null,
    credentialExpires: null,
  });
  await storePages(store, tenant, id, [tools]);
  const rows = tools.map((one, position) => {
    const source = JSON.stringify(one);
    const check = checkDescriptor(one, DEFAULT_CONTRACT_POLICY);
    return {
      source,
      row: {
        name: String(one['name']),
        position,
        descriptor: digestJson(one),
        raw: sha256Bytes(source),
        contract: contractDigest(one, { input: check.input, output: check.output }),
        hints: hintsDigest(one),
        text: textDigest(one),
        input:
          check.input === null ? null : { digest: digestJson(one['inputSchema'] ?? null), ...check.input },
        output: null,
        verdict: { status: check.status, findings: check.findings },
      },
    };
  });
  await store.saveDescriptors(
    tenant,
    rows.map(({ row, source }) => ({ raw: row.raw, source })),
  );
  await store.saveCandidateTools(
    tenant,
    id,
    rows.map(({ row }) => row),
  );
  await store.completeScan(tenant, claim, {
    contentRoot: sha256Bytes(JSON.stringify(tools)),
    tools: tools.length,
  });
  await store.proveScan(tenant, id, {
    pageRoot: sha256Bytes(`pages ${id}`),
    tailAt: epochMs(Date.now()),
  });
  await store.issueContractVersions(tenant, id);
  const sealed = await store.sealedTools(tenant, id);
  const named = sealed.map(({ name, contractVersion, descriptor, verdict }) => ({
    name,
    verdict,
    toolId: toolId(parseNamespace(server), name, contractVersion),
    effectClass: classes[name] ?? ('UNKNOWN' as const),
    descriptor,
  }));
  await store.saveClassification(tenant, id, named);
  const generation = await store.reserveGeneration(tenant, id);
  const bytes = new TextEncoder().encode(
    JSON.stringify({ schema: 'toolCatalogSnapshot.v1', generation, id }),
  );
  await store.saveArtifact(tenant, id, {
    digest: sha256Bytes(bytes),
    bytes,
    expires: epochMs(Date.now() + 24 * 3_600_000),
  });
  const outcome = await store.promote(
    tenant,
    id,
    epochMs(Date.now() + (wishes.freshFor ?? 3_600_000)),
    unsignedReceipt({ kind: 'catalog', decision: 'PROMOTED' }),
  );
  if (outcome.outcome !== 'promoted') throw new Error(`not promoted: ${JSON.stringify(outcome)}`);
  return {
    scan: id,
    generation,
    artifact: bytes,
    tools: Object.fromEntries(named.map((one) => [one.name, { id: one.toolId, descriptor: one.descriptor }])),
  };
};

/** Pages as a scan stores them, with bytes that nobody reads again. */
const storePages = async (
  store: ScanStore,
  tenant: TenantId,
  scan: string,
  pages: readonly (readonly JsonObject[])[],
): Promise<void> => {
  for (const [n, tools] of pages.entries()) {
    const raw = new TextEncoder().encode(JSON.stringify({ tools }));
    const page = {
      n,
      requestCursor: n === 0 ? undefined : `c${n}`,
      nextCursor: n + 1 < pages.length ? `c${n + 1}` : undefined,
      nullCursor: false,
      resultDigest: digestJson({ tools: [...tools] }),
      rawDigest: sha256Bytes(raw),
      reading: sha256Bytes('as JSON'),
      bytes: raw.byteLength,
      tools: tools.map(
        (one) => [String(one['name']), digestJson(one), sha256Bytes(JSON.stringify(one))] as const,
      ),
      revision: null,
      identity: IDENTITY,
      worker: 'w1',
    };
    if (!(await store.storePage(tenant, { scan, segment: 0, attempt: 1 }, page, raw)))
      throw new Error('not stored');
  }
};

/** A scan that ended without a generation. */
export const endScan = async (
  store: ScanStore,
  end: {
    readonly state: EndState;
    readonly reason: EndReason;
    readonly tenant: TenantId;
    readonly server: string;
    readonly evidence?: object;
    readonly pages?: readonly (readonly JsonObject[])[];
  },
): Promise<string> => {
  const key = {
    tenant: end.tenant,
    server: parseServerName(end.server),
    audience: parseAudienceClass(AUDIENCE),
  };
  const id = `${randomUUID()}/0`;
  const place = {
    workflowId: 'discovery:test',
    runId: 'run',
    round: 0,
    segment: 0,
    attempt: 1,
    worker: 'w1',
  };
  await store.claimScan({ key, id, ...place });
  await storePages(store, end.tenant, id, end.pages ?? []);
  await store.endScan(end.tenant, id, {
    state: end.state,
    reason: end.reason,
    evidence: { ...end.evidence },
  });
  return id;
};
