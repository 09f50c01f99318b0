/** Receipt rows for changes that a test or a measurement makes at the store itself. Nobody reads them again: not signed. */
import { randomUUID } from 'node:crypto';
import type { ReceiptRow } from '../../src/domain/receiptRow.js';

export const unsignedReceipt = (more: Partial<ReceiptRow> = {}): ReceiptRow => ({
  id: randomUUID(),
  kind: 'operator',
  subject: 'tester',
  server: null,
  identity: null,
  audience: null,
  generation: null,
  page_root: null,
  tool_id: null,
  descriptor: null,
  policy_epoch: null,
  fence: null,
  decision: 'APPLIED',
  code: null,
  reason: null,
  lease: null,
  args_digest: null,
  resource: null,
  credential: null,
  jws: 'e30.e30.e30',
  ...more,
});
