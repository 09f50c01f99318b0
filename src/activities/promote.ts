/**
 * The promotion: one compare-and-set with its receipt, in one transaction (P1, P2). A retry after a commit that was
 * not heard of finds its own candidate and answers `promoted` again.
 */
import type { Digest } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import { type CatalogReceipt, RECEIPT_SCHEMA } from '../domain/receipt.js';
import { receiptRow } from '../domain/receiptRow.js';
import { signReceipt } from '../keys/receipt.js';
import { canonicalJson } from '../proof/canonical.js';
import { credentialEvidence } from '../proof/credential.js';
import { serverIdentity } from '../proof/identity.js';
import type { ActiveGeneration, ScanRecord } from '../store/scanStore.js';
import type { PromoteResult, ScanStep } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './failures.js';
import { freshUntil } from './freshUntil.js';

export const promote =
  (deps: ActivityDeps) =>
  (input: ScanStep): Promise<PromoteResult> =>
    withHeartbeat(
      () => input.scan,
      async () => {
        const { tenant } = input.key;
        const [record, server, generation, active] = await Promise.all([
          deps.store.readScan(tenant, input.scan),
          deps.store.readServer(tenant, input.key.server),
          deps.store.generationOf(tenant, input.scan),
          deps.store.active(input.key),
        ]);
        if (record === null || server === null || generation === null)
          return { kind: 'retired', reason: 'FENCED', successor: null, evidence: { moved: 'candidate' } };
        const body = receiptBody(deps, record, generation, active);
        const jws = signReceipt(deps.keys, canonicalJson(body as unknown as JsonValue));
        const until = freshUntil(record, server, generation.expires);
        const outcome = await deps.store.promote(tenant, input.scan, until, receiptRow(body, jws));
        switch (outcome.outcome) {
          case 'promoted':
            // D8: each of them needs a catalog of the identity that answers now. A start that fails is started again by the retry.
            for (const audience of outcome.closedAudiences)
              await deps.startDiscovery({ ...input.key, audience });
            return {
              kind: 'promoted',
              generation: outcome.generation,
              policyEpoch: outcome.policyEpoch,
              receipt: outcome.receipt,
            };
          case 'lost':
            return { kind: 'retired', reason: 'LOST', successor: outcome.activeGeneration, evidence: {} };
          case 'fenced':
            return {
              kind: 'retired',
              reason: 'FENCED',
              successor: active?.generation ?? null,
              evidence: { moved: outcome.what },
            };
        }
      },
    );

const receiptBody = (
  deps: ActivityDeps,
  record: ScanRecord,
  { generation, snapshot }: { readonly generation: number; readonly snapshot: Digest | null },
  active: ActiveGeneration | null,
): CatalogReceipt => {
  const { identity, baseIdentity, pageRoot, contentRoot, revision } = record;
  if (
    identity === null ||
    pageRoot === null ||
    contentRoot === null ||
    revision === null ||
    snapshot === null
  ) {
    throw new Error(`scan ${record.id} lacks what its proof must have left`);
  }
  return {
    schema: RECEIPT_SCHEMA,
    kind: 'catalog',
    id: deps.newId(),
    tenant: record.tenant,
    subject: 'genlock',
    server: serverIdentity(record.server, identity),
    audienceClass: record.audience,
    policyEpoch: record.policyEpoch,
    fence: null,
    code: null,
    reason: null,
    requestId: null,
    at: new Date(deps.now()).toISOString(),
    decision: 'PROMOTED',
    catalogGeneration: generation,
    snapshot,
    revision,
    pageRoot,
    contentRoot,
    previousGeneration: active?.generation ?? null,
    replacedIdentity:
      baseIdentity === null || baseIdentity === identity ? null : serverIdentity(record.server, baseIdentity),
    discovery: record.id,
    acceptances: record.acceptances,
    credential: credentialEvidence(record.credential, record.credentialFingerprint),
    outcome: 'ACTIVE',
  };
};
