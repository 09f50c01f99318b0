/**
 * One lease and one receipt with literal values, for tests that sign, verify and tamper.
 */
import { parseAudienceClass, parseDigest, parseTenantId, parseToolId } from '../../src/domain/ids.js';
import type { LeaseGrant } from '../../src/domain/lease.js';
import type { AdmissionReceipt } from '../../src/domain/receipt.js';
import type { ServerIdentity } from '../../src/domain/snapshot.js';

export const exampleGrant: LeaseGrant = {
  issuer: 'http://127.0.0.1:7000',
  audience: 'genlock-gateway',
  subject: 'alice',
  tenant: parseTenantId('acme'),
  server: `inventory@sha256:${'a'.repeat(64)}` as ServerIdentity,
  tool: parseToolId('inventory.reserve@1'),
  descriptor: parseDigest(`sha256:${'b'.repeat(64)}`),
  generation: 1,
  policyEpoch: 1,
  fence: 'f:1/g:2',
  resource: 'inventory/north/A1',
  args: parseDigest(`sha256:${'c'.repeat(64)}`),
  effectClass: 'RESERVATION',
  jkt: 'x'.repeat(43),
};

export const exampleReceipt: AdmissionReceipt = {
  schema: 'genlockReceipt.v1',
  kind: 'admission',
  id: 'r-1',
  tenant: exampleGrant.tenant,
  subject: exampleGrant.subject,
  server: exampleGrant.server,
  audienceClass: parseAudienceClass('warehouse.policy-1'),
  policyEpoch: 1,
  fence: exampleGrant.fence,
  code: null,
  reason: null,
  requestId: 'q-1',
  at: '2025-11-30T17:16:40.500Z',
  catalogGeneration: 1,
  pageRoot: parseDigest(`sha256:${'d'.repeat(64)}`),
  credential: 'none',
  decision: 'ALLOWED',
  tool: exampleGrant.tool,
  planGeneration: 1,
  descriptor: exampleGrant.descriptor,
  effectClass: 'RESERVATION',
  args: exampleGrant.args,
  resource: exampleGrant.resource,
  lease: 'j-1',
  policies: ['stock-managers-reserve'],
  outcome: 'NOT_EXECUTED',
};
