/** The receipt of an operator's act (R1), signed before the act is committed together with it. */
import type { AudienceClass, Digest, EpochMs, ServerName, TenantId } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import { type OperatorAct, type OperatorReceipt, RECEIPT_SCHEMA } from '../domain/receipt.js';
import { type ReceiptRow, receiptRow } from '../domain/receiptRow.js';
import type { KeySet } from '../keys/keySet.js';
import { signReceipt } from '../keys/receipt.js';
import { canonicalJson } from '../proof/canonical.js';
import { digestJson } from '../proof/digest.js';

export interface Operator {
  readonly tenant: TenantId;
  readonly subject: string;
  readonly requestId: string;
}

export interface OperatorReceiptDeps {
  readonly keys: KeySet;
  readonly now: () => EpochMs;
  readonly newId: () => string;
}

export interface OperatorDeed {
  readonly act: OperatorAct;
  /** What was acted on: an id, a name or a digest. */
  readonly target: string;
  readonly server?: ServerName | null;
  readonly audience?: AudienceClass | null;
  readonly policyEpoch?: number;
  /** The full record of the act; its digest stands in the receipt. */
  readonly record: unknown;
}

export const operatorReceipt = (
  deps: OperatorReceiptDeps,
  operator: Operator,
  deed: OperatorDeed,
): ReceiptRow => {
  const body: OperatorReceipt = {
    schema: RECEIPT_SCHEMA,
    kind: 'operator',
    id: deps.newId(),
    tenant: operator.tenant,
    subject: operator.subject,
    server: deed.server ?? null,
    audienceClass: deed.audience ?? null,
    policyEpoch: deed.policyEpoch ?? null,
    fence: null,
    code: null,
    reason: null,
    requestId: operator.requestId,
    at: new Date(deps.now()).toISOString(),
    decision: 'APPLIED',
    act: deed.act,
    target: deed.target,
    record: recordDigest(deed.record),
    outcome: 'IN_FORCE',
  };
  return receiptRow(body, signReceipt(deps.keys, canonicalJson(body as unknown as JsonValue)));
};

/** The JSON value that a record is: optional members that are undefined are left out. */
const recordDigest = (record: unknown): Digest => digestJson(JSON.parse(JSON.stringify(record)) as JsonValue);
