/**
 * Turns the checked candidate into the immutable artifact: contract versions and the generation number are issued
 * from storage, once per scan, and everything else is a function of what is stored, so that a retry seals the same bytes.
 */
import { type EffectClass, mayHaveSideEffects, type ToolVerdict, verdictOf } from '../domain/descriptor.js';
import { epochMs, parseDigest, type ToolId, toolId } from '../domain/ids.js';
import { isJsonObject, type JsonObject, member } from '../domain/json.js';
import type { RegisteredServer } from '../domain/server.js';
import type { SnapshotPage, SnapshotTool } from '../domain/snapshot.js';
import type { CompiledPolicy } from '../policy/port.js';
import { credentialEvidence } from '../proof/credential.js';
import { serverIdentity } from '../proof/identity.js';
import { type SnapshotParts, sealSnapshot } from '../proof/seal.js';
import type { PageRecord, ScanRecord, SealedToolRow } from '../store/scanStore.js';
import { annotationFindings } from '../validation/annotations.js';
import { lintCatalog } from '../validation/catalogLints.js';
import type { ScanStep, SealResult } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './failures.js';
import { repeatedNames } from './pageFacts.js';
import { readScanOf } from './readScan.js';
import { inTurns, turnsUntil } from './turns.js';
import { pageLink } from './verifyTail.js';

export const seal =
  (deps: ActivityDeps) =>
  (input: ScanStep): Promise<SealResult> =>
    withHeartbeat(
      () => input.scan,
      async (signal) => {
        const turns = turnsUntil(signal);
        const found = await readScanOf(deps, input);
        if (found.kind === 'stop') return found;
        const { record, server } = found;
        const { store } = deps;
        const sealedBefore = await store.generationOf(record.tenant, record.id);
        if (sealedBefore?.snapshot != null) {
          return { kind: 'sealed', generation: sealedBefore.generation, snapshot: sealedBefore.snapshot };
        }
        await store.issueContractVersions(record.tenant, record.id);
        const policy = await deps.policy(record.tenant, record.policyEpoch);
        const rows = await store.sealedTools(record.tenant, record.id);
        const tools = await inTurns(snapshotTools(rows, server, policy), turns);
        await store.saveClassification(
          record.tenant,
          record.id,
          tools.map(({ name, id, effectClass, verdict }) => ({ name, toolId: id, effectClass, verdict })),
        );
        const pages = await store.pages(record.tenant, record.id);
        const findings = await inTurns(lintCatalog(rows, repeatedNames(pages)), turns);
        await store.noteCatalogFindings(record.tenant, record.id, findings);
        const generation = await store.reserveGeneration(record.tenant, record.id);
        const sealing = sealSnapshot(parts(record, server, generation, pages, tools));
        const sealed = await inTurns(sealing, turns);
        const expires = epochMs(Date.parse(sealed.snapshot.expires));
        await store.saveArtifact(record.tenant, record.id, {
          digest: sealed.digest,
          bytes: sealed.bytes,
          expires,
        });
        return { kind: 'sealed', generation, snapshot: sealed.digest };
      },
    );

function* snapshotTools(
  rows: readonly SealedToolRow[],
  server: RegisteredServer,
  policy: CompiledPolicy | null,
): Generator<number, readonly SnapshotTool[], void> {
  const tools: SnapshotTool[] = [];
  for (const row of rows) {
    tools.push(snapshotTool(row, server, policy));
    yield row.source.length;
  }
  return tools;
}

const snapshotTool = (
  row: SealedToolRow,
  server: RegisteredServer,
  policy: CompiledPolicy | null,
): SnapshotTool => {
  const id: ToolId = toolId(server.namespace, row.name, row.contractVersion);
  // V5: the class comes from the operator's reviewed classification, and is UNKNOWN without one.
  const effectClass = policy?.classify(id)?.effectClass ?? 'UNKNOWN';
  return {
    id,
    namespace: server.namespace,
    name: row.name,
    contractVersion: row.contractVersion,
    descriptor: row.descriptor,
    raw: row.raw,
    inputSchema: row.input,
    outputSchema: row.output,
    effectClass,
    mayHaveSideEffects: mayHaveSideEffects(effectClass),
    verdict: withHints(row, effectClass),
    source: row.source,
  };
};

/** V5: where the source's hints disagree with the reviewed class, which is known only here. A retry adds nothing twice. */
const withHints = ({ verdict, source }: SealedToolRow, effectClass: EffectClass): ToolVerdict => {
  const tool = JSON.parse(source) as JsonObject;
  const hints = annotationFindings(member(tool, 'annotations'), effectClass);
  const codes = new Set(hints.map(({ code }) => code));
  return verdictOf([...verdict.findings.filter(({ code }) => !codes.has(code)), ...hints]);
};

const snapshotPage = (page: PageRecord): SnapshotPage => ({
  ...pageLink(page),
  raw: page.rawDigest,
  tools: page.tools.length,
  bytes: page.bytes,
});

const parts = (
  record: ScanRecord,
  server: RegisteredServer,
  generation: number,
  pages: readonly PageRecord[],
  tools: readonly SnapshotTool[],
): SnapshotParts => {
  const { identity, revision, protocol, sourceEvidence } = record;
  const endpoint = isJsonObject(sourceEvidence as never) ? sourceEvidence?.['endpoint'] : undefined;
  if (identity === null || revision === null || protocol === null || typeof endpoint !== 'string') {
    throw new Error(`scan ${record.id} lacks what its pages must have left`);
  }
  return {
    server: serverIdentity(server.name, identity),
    endpoint: parseDigest(endpoint),
    protocol,
    tenant: record.tenant,
    audienceClass: record.audience,
    policyEpoch: record.policyEpoch,
    catalogGeneration: generation,
    discoveryStartedAt: new Date(record.startedAt).toISOString(),
    revision,
    pages: pages.map(snapshotPage),
    tools,
    credential: credentialEvidence(record.credential, record.credentialFingerprint),
    // From the start of the scan, so that a retry seals the same expiry.
    expires: new Date(record.startedAt + server.freshness.snapshotMaxAge).toISOString(),
  };
};
