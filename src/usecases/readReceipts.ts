/**
 * Receipts: a caller sees those of its own admissions, an operator every one of the tenant (R1). Others do not exist for
 * a caller. Subjects are names that the issuer chooses: one that is also the catalog's or an operator's opens nothing.
 */
import { CatalogError } from '../domain/errors.js';
import type { VerifiedCaller } from '../keys/callerToken.js';
import type { AdmissionStore, ReceiptQuery, StoredReceipt } from '../store/admissionStore.js';

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
  const asked = subject === undefined ? {} : { subject };
  return store.receipts(caller.tenant, {
    ...(isOperator ? asked : ownOf(caller)),
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
  const visible = isOperator ? {} : ownOf(caller);
  const [receipt] = await store.receipts(caller.tenant, { id, ...visible, limit: 1 });
  if (receipt === undefined) throw new CatalogError('NOT_FOUND', 'NO_SUCH_RECEIPT');
  return receipt;
};

const ownOf = ({ subject }: VerifiedCaller): Pick<ReceiptQuery, 'kind' | 'subject'> => ({
  kind: 'admission',
  subject,
});
