/**
 * The promotion: one compare-and-set with its receipt, in one transaction (P1, P2). A retry after a commit that was
 * not heard of finds its own candidate and answers `promoted` again.
 */
import { epochMs } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import { type CatalogReceipt, RECEIPT_SCHEMA } from '../domain/receipt.js';
import { receiptRow } from '../domain/receiptRow.js';
import { signReceipt } from '../keys/receipt.js';
import { canonicalJson } from '../proof/canonical.js';
import { serverIdentity } from '../proof/identity.js';
import type { ActiveGeneration, ScanRecord } from '../store/scanStore.js';
import type { PromoteResult, ScanStep } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './failures.js';
import { credentialEvidence } from './seal.js';

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
          return { kind: 'retired', reason: 'FENCED', successor: null };
        const now = deps.now();
        // S7: freshness ends at the configured age, and never after the snapshot's own hard limit.
        const freshUntil = epochMs(Math.min(now + server.freshness.maxAge, generation.expires ?? now));
        const body = receiptBody(deps, record, generation.generation, active);
        const jws = signReceipt(deps.keys, canonicalJson(body as unknown as JsonValue));
        const outcome = await deps.store.promote(tenant, input.scan, freshUntil, receiptRow(body, jws));
        switch (outcome.outcome) {
          case 'promoted':
            return {
              kind: 'promoted',
              generation: outcome.generation,
              policyEpoch: outcome.policyEpoch,
              receipt: outcome.receipt,
            };
          case 'lost':
            return { kind: 'retired', reason: 'LOST', successor: outcome.activeGeneration };
          case 'fenced':
            return { kind: 'retired', reason: 'FENCED', successor: active?.generation ?? null };
        }
      },
    );

const receiptBody = (
  deps: ActivityDeps,
  record: ScanRecord,
  generation: number,
  active: ActiveGeneration | null,
): CatalogReceipt => {
  const { identity, pageRoot, contentRoot } = record;
  if (identity === null || pageRoot === null || contentRoot === null) {
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
    pageRoot,
    contentRoot,
    previousGeneration: active?.generation ?? null,
    discovery: record.id,
    credential: credentialEvidence(record.credential),
    outcome: 'ACTIVE',
  };
};
