/** A receipt as the store keeps it: the signed text, and the columns that operators search by. */
import type { ReceiptBody } from './receipt.js';

export interface ReceiptRow {
  readonly id: string;
  readonly kind: 'catalog' | 'admission' | 'operator';
  readonly subject: string;
  readonly server: string | null;
  readonly identity: string | null;
  readonly audience: string | null;
  readonly generation: number | null;
  readonly page_root: string | null;
  readonly tool_id: string | null;
  readonly descriptor: string | null;
  readonly policy_epoch: number | null;
  readonly fence: string | null;
  readonly decision: string;
  readonly code: string | null;
  readonly reason: string | null;
  readonly lease: string | null;
  readonly args_digest: string | null;
  readonly resource: string | null;
  readonly credential: string | null;
  readonly jws: string;
}

/** The columns of a signed receipt. `server` of the body is `name@digest`; the name alone where none is known. */
export const receiptRow = (body: ReceiptBody, jws: string): ReceiptRow => {
  const at = body.server?.indexOf('@') ?? -1;
  const binding = body.kind === 'operator' ? null : body;
  const call = body.kind === 'admission' ? body : null;
  return {
    id: body.id,
    kind: body.kind,
    subject: body.subject,
    server: at >= 0 ? (body.server?.slice(0, at) ?? null) : body.server,
    identity: at >= 0 ? (body.server?.slice(at + 1) ?? null) : null,
    audience: body.audienceClass,
    generation: binding?.catalogGeneration ?? null,
    page_root: binding?.pageRoot ?? null,
    tool_id: call?.tool ?? null,
    descriptor: call?.descriptor ?? null,
    policy_epoch: body.policyEpoch,
    fence: body.fence,
    decision: body.decision,
    code: body.code,
    reason: body.reason,
    lease: call?.lease ?? null,
    args_digest: call?.args ?? null,
    resource: call?.resource ?? null,
    credential: binding?.credential == null ? null : JSON.stringify(binding.credential),
    jws,
  };
};
