/** Receipts: a caller sees its own, an operator those of the tenant (R1). Another's do not exist for a caller. */
import { CatalogError } from '../domain/errors.js';
import type { VerifiedCaller } from '../keys/callerToken.js';
import type { AdmissionStore, StoredReceipt } from '../store/admissionStore.js';

export interface ReceiptFilter {
  /** An operator's: receipts of this subject only. */
  readonly subject?: string | undefined;
  /** ISO time: older ones only. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export const readReceipts = (
  store: Pick<AdmissionStore, 'receipts'>,
  caller: VerifiedCaller,
  isOperator: boolean,
  { subject, before, limit }: ReceiptFilter,
): Promise<readonly StoredReceipt[]> => {
  const whose = isOperator ? subject : caller.subject;
  return store.receipts(caller.tenant, {
    ...(whose !== undefined && { subject: whose }),
    ...(before !== undefined && { before }),
    limit,
  });
};

/** @throws CatalogError NOT_FOUND/NO_SUCH_RECEIPT */
export const readReceipt = async (
  store: Pick<AdmissionStore, 'receipts'>,
  caller: VerifiedCaller,
  isOperator: boolean,
  id: string,
): Promise<StoredReceipt> => {
  const subject = isOperator ? {} : { subject: caller.subject };
  const [receipt] = await store.receipts(caller.tenant, { id, ...subject, limit: 1 });
  if (receipt === undefined) throw new CatalogError('NOT_FOUND', 'NO_SUCH_RECEIPT');
  return receipt;
};
