/**
 * The checks of a proven snapshot: may it follow what was accepted (D8, D9), by itself or by an operator's acceptance,
 * is it that very content (S7), and what is each tool worth (V1–V7). Verdicts are kept by descriptor and rules, so that an unchanged descriptor is judged once.
 */
import { acceptanceOf, type Held, judgeWithAcceptances } from '../domain/acceptance.js';
import { isShrunk, isUnchanged } from '../domain/continuity.js';
import type { Evidence } from '../domain/generation.js';
import type { Digest } from '../domain/ids.js';
import { durationMs } from '../domain/ids.js';
import type { RegisteredServer } from '../domain/server.js';
import type { SourceRevision } from '../domain/snapshot.js';
import type { ActiveGeneration, ScanRecord } from '../store/scanStore.js';
import type { CheckContractResult, ScanStep, Stop } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { fenced, withHeartbeat } from './failures.js';
import { freshUntil } from './freshUntil.js';
import { judgeTools } from './judgeTools.js';
import { stopOf } from './pageFacts.js';
import { readScanOf } from './readScan.js';

export const checkContract =
  (deps: ActivityDeps) =>
  (input: ScanStep): Promise<CheckContractResult> => {
    const progress = { judged: 0 };
    return withHeartbeat(
      () => progress,
      async (signal) => {
        const found = await readScanOf(deps, input);
        if (found.kind === 'stop') return found;
        const { record, server } = found;
        const { identity, revision, contentRoot: root } = record;
        if (identity === null || revision === null || root === null) {
          return { kind: 'stop', state: 'INCOMPLETE', reason: 'TAIL_UNVERIFIED', evidence: {} };
        }
        const [active, earlier, acceptances] = await Promise.all([
          deps.store.active(input.key),
          deps.store.acceptedOf(input.key, identity),
          deps.store.openAcceptances(input.key, record.basePointerVersion),
        ]);
        const candidate = {
          identity,
          revision,
          contentRoot: root,
          policyEpoch: record.policyEpoch,
          trustVersion: record.trustVersion,
        };

        const proposed = {
          ...candidate,
          sameCredential: earlier === null || isSameCredential(earlier, record),
          identityAnnounced: await isAnnounced(deps, server, record),
        };
        // Who answers for the server is no matter of one audience: a first scan for another one is held to it as well (D8).
        const answering = record.baseIdentity === null ? null : { identity: record.baseIdentity };
        const { continuity, restsOn } = judgeWithAcceptances(answering, earlier, proposed, acceptances);
        if (continuity.kind === 'held') return stopOf(continuity.reason, continuity.evidence);

        const renewBefore = durationMs(server.freshness.snapshotMaxAge / 4);
        // What rests on an acceptance is promoted, with its receipt, whatever the content is.
        if (restsOn.length === 0 && isUnchanged(active, candidate, { now: deps.now(), renewBefore }))
          return renew(deps, record, server);

        const pages = await deps.store.pages(record.tenant, record.id);
        await judgeTools(deps, { record, server, pages, progress, signal });
        const verdict = await setVerdict(deps, record, server, revision);
        if (verdict.kind === 'stop') return verdict;
        const shrunk = await shrinkage(
          deps,
          record,
          server,
          active ?? (await deps.store.lastServed(input.key)),
        );
        if (shrunk !== null) {
          const hold: Held = { kind: 'SHRUNK', identity, revision, contentRoot: root };
          const acceptance = acceptanceOf(acceptances, hold);
          if (acceptance === undefined) return stopOf('SHRUNK', { revision, ...shrunk });
          restsOn.push(acceptance);
        }
        const named = restsOn.map(({ id }) => id);
        // A repeat of the activity may rest on less than the attempt before.
        if (named.length + record.acceptances.length > 0) {
          if (!(await deps.store.restOn(record.tenant, record.id, named))) throw fenced(record.id);
        }
        return verdict;
      },
    );
  };

/** D8: the trust configuration lists the new identity, or pins the very TLS key at the same endpoint. */
const isAnnounced = async (
  { store }: ActivityDeps,
  { trust }: RegisteredServer,
  { tenant, server, identity, baseIdentity, sourceEvidence }: ScanRecord,
): Promise<boolean> => {
  if (identity !== null && trust.acceptedIdentities.includes(identity)) return true;
  const spki = sourceEvidence?.['spki'] as Digest | null | undefined;
  if (spki == null || baseIdentity === null || !trust.spkiPins.includes(spki)) return false;
  const before = await store.acceptedSource(tenant, server, baseIdentity);
  return before !== null && before['endpoint'] === sourceEvidence?.['endpoint'];
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
  revision: SourceRevision,
): Promise<Extract<CheckContractResult, { readonly kind: 'checked' }> | Stop> => {
  const { tools, quarantined, firstQuarantined } = await deps.store.candidateSummary(
    record.tenant,
    record.id,
  );
  const held = (reason: 'ALL_TOOLS_QUARANTINED' | 'TOOL_FAULT', evidence: Evidence): Stop =>
    stopOf(reason, { revision, tools, first: firstQuarantined, ...evidence });
  if (tools > 0 && quarantined === tools) return held('ALL_TOOLS_QUARANTINED', {});
  if (quarantined > 0 && server.contract.onToolFault === 'quarantine-catalog')
    return held('TOOL_FAULT', { quarantined });
  return { kind: 'checked', tools, quarantined };
};

/** How much of the active list the candidate lacks, where that is more than the registration allows; else null. */
const shrinkage = async (
  deps: ActivityDeps,
  record: ScanRecord,
  server: RegisteredServer,
  before: ActiveGeneration | null,
): Promise<Evidence | null> => {
  if (before === null) return null;
  const lost = await deps.store.removedTools(record.tenant, record.id, before.scan);
  const allowedShare = server.contract.shrinkShare;
  return isShrunk(lost, allowedShare) ? { ...lost, allowedShare } : null;
};
