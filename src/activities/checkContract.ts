/**
 * The checks of a proven snapshot: may it follow what was accepted (D8, D9), is it that very content (S7), and what
 * is each tool worth (V1–V7). Verdicts are kept by descriptor and rules, so that an unchanged descriptor is judged once.
 */
import { isUnchanged, judgeContinuity } from '../domain/continuity.js';
import type { Digest } from '../domain/ids.js';
import { durationMs, epochMs } from '../domain/ids.js';
import type { CredentialRef, RegisteredServer } from '../domain/server.js';
import type { SourceRevision } from '../domain/snapshot.js';
import { contentRoot } from '../proof/contentRoot.js';
import type { ActiveGeneration, ScanRecord } from '../store/scanStore.js';
import type { CheckContractResult, ScanStep, Stop } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './failures.js';
import { freshUntil } from './freshUntil.js';
import { judgeTools } from './judgeTools.js';
import { distinctTools, stopOf } from './pageFacts.js';
import { readScanOf } from './readScan.js';

export const checkContract =
  (deps: ActivityDeps) =>
  (input: ScanStep): Promise<CheckContractResult> => {
    const progress = { judged: 0 };
    return withHeartbeat(
      () => progress,
      async () => {
        const found = await readScanOf(deps, input);
        if (found.kind === 'stop') return found;
        const { record, server } = found;
        const { identity, revision } = record;
        if (identity === null || revision === null) {
          return { kind: 'stop', state: 'INCOMPLETE', reason: 'TAIL_UNVERIFIED', evidence: {} };
        }
        const pages = await deps.store.pages(record.tenant, record.id);
        const root = contentRoot(distinctTools(pages).map(([name, descriptor]) => ({ name, descriptor })));
        const active = await deps.store.active(input.key);
        const earlier = await deps.store.acceptedOf(input.key, identity);
        const candidate = {
          identity,
          revision,
          contentRoot: root,
          policyEpoch: record.policyEpoch,
          trustVersion: record.trustVersion,
        };

        const continuity = judgeContinuity(active, earlier, {
          ...candidate,
          sameCredential: earlier === null || isSameCredential(earlier, record),
          identityAnnounced: isAnnounced(server, record, active),
        });
        if (continuity.kind === 'held') return stopOf(continuity.reason, continuity.evidence);

        const renewBefore = durationMs(server.freshness.snapshotMaxAge / 4);
        if (isUnchanged(active, candidate, { now: deps.now(), renewBefore }))
          return renew(deps, record, server);

        await judgeTools(deps, { record, server, pages, progress });
        return setVerdict(deps, record, server, active, revision);
      },
    );
  };

/** D8: the trust configuration lists the new identity, or pins the very TLS key at the same endpoint. */
const isAnnounced = (
  { trust }: RegisteredServer,
  { identity, sourceEvidence }: ScanRecord,
  active: ActiveGeneration | null,
): boolean => {
  if (identity !== null && trust.acceptedIdentities.includes(identity)) return true;
  const spki = sourceEvidence?.['spki'] as Digest | null | undefined;
  const sameEndpoint = sourceEvidence?.['endpoint'] === active?.sourceEvidence?.['endpoint'];
  return spki != null && sameEndpoint && trust.spkiPins.includes(spki);
};

const isSameCredential = (
  a: Pick<ScanRecord, 'credential' | 'credentialFingerprint'>,
  b: Pick<ScanRecord, 'credential' | 'credentialFingerprint'>,
): boolean => {
  if (a.credential.kind !== 'reference' || b.credential.kind !== 'reference')
    return a.credential.kind === b.credential.kind;
  return (
    a.credential.reference === b.credential.reference && a.credentialFingerprint === b.credentialFingerprint
  );
};

const renew = async (
  deps: ActivityDeps,
  record: ScanRecord,
  server: RegisteredServer,
): Promise<CheckContractResult> => {
  const outcome = await deps.store.renewFreshness(record.tenant, record.id, freshUntil(record, server, null));
  switch (outcome.outcome) {
    case 'renewed':
      return { kind: 'unchanged', generation: outcome.generation, freshUntil: outcome.freshUntil };
    case 'lost':
      return { kind: 'retired', reason: 'LOST', successor: outcome.activeGeneration, evidence: {} };
    case 'fenced':
      return { kind: 'retired', reason: 'FENCED', successor: null, evidence: { moved: outcome.what } };
  }
};

const setVerdict = async (
  deps: ActivityDeps,
  record: ScanRecord,
  server: RegisteredServer,
  active: ActiveGeneration | null,
  revision: SourceRevision,
): Promise<CheckContractResult> => {
  const { tools, quarantined, firstQuarantined } = await deps.store.candidateSummary(
    record.tenant,
    record.id,
  );
  const held = (
    reason: 'ALL_TOOLS_QUARANTINED' | 'TOOL_FAULT' | 'SHRUNK',
    evidence: Readonly<Record<string, unknown>>,
  ): Stop => ({
    kind: 'stop',
    state: 'QUARANTINED',
    reason,
    evidence: { revision, ...evidence },
  });
  if (tools > 0 && quarantined === tools)
    return held('ALL_TOOLS_QUARANTINED', { tools, first: firstQuarantined });
  if (quarantined > 0 && server.contract.onToolFault === 'quarantine-catalog') {
    return held('TOOL_FAULT', { tools, quarantined, first: firstQuarantined });
  }
  if (active !== null) {
    const lost = await deps.store.removedTools(record.tenant, record.id, active.scan);
    if (lost.active > 0 && lost.removed / lost.active > server.contract.shrinkShare) {
      return held('SHRUNK', {
        active: lost.active,
        removed: lost.removed,
        examples: lost.examples,
        allowedShare: server.contract.shrinkShare,
      });
    }
  }
  return { kind: 'checked', tools, quarantined };
};
