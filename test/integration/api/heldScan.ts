/** A scan that is held for an operator, by the steps that the activities take. */
import { randomUUID } from 'node:crypto';
import type { EndReason } from '../../../src/domain/endReasons.js';
import { parseAudienceClass, parseServerName, type TenantId } from '../../../src/domain/ids.js';
import { sha256Bytes } from '../../../src/proof/digest.js';
import type { ScanStore } from '../../../src/store/scanStore.js';
import { AUDIENCE } from './apiFixture.js';
import { IDENTITY } from './promoteTools.js';

export const REVISION = { binding: 'SERVER_REVISION', value: { incarnation: 'i', counter: 8 } } as const;

export const heldScan = async (
  store: ScanStore,
  wishes: {
    readonly tenant: TenantId;
    readonly server: string;
    readonly reason: EndReason;
    /** Default true; else it was held before its list was whole. */
    readonly whole?: boolean | undefined;
  },
): Promise<string> => {
  const { tenant, reason, whole = true } = wishes;
  const id = `${randomUUID()}/0`;
  const claim = { scan: id, segment: 0, attempt: 1 };
  const key = { tenant, server: parseServerName(wishes.server), audience: parseAudienceClass(AUDIENCE) };
  const run = { workflowId: 'discovery:test', runId: 'run', round: 0, worker: 'w1' };
  await store.claimScan({ key, id, ...run, segment: 0, attempt: 1 });
  if (whole) {
    await store.noteSource(tenant, claim, {
      protocol: 'mcp-2025-11-25',
      identity: IDENTITY,
      evidence: {},
      revision: REVISION,
      credentialFingerprint: null,
      credentialExpires: null,
    });
    await store.completeScan(tenant, claim, { contentRoot: sha256Bytes('list'), tools: 1 });
  }
  await store.endScan(tenant, id, { state: 'QUARANTINED', reason, evidence: {} });
  return id;
};
