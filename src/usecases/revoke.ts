/**
 * Withdraws a tool, a server or a subject (L3). The answer comes after the fence moved: from then on nothing
 * is issued under what was revoked.
 */
import { CatalogError } from '../domain/errors.js';
import { parseServerName, parseToolId, type ServerName } from '../domain/ids.js';
import type { RevocationKind } from '../store/admissionStore.js';
import type { OperatorStore, RevocationRecord } from '../store/operatorStore.js';
import { type Operator, type OperatorReceiptDeps, operatorReceipt } from './operatorReceipt.js';

export interface RevocationRequest {
  readonly kind: RevocationKind;
  /** Of a tool name, a tool id or a server; a subject is revoked tenant-wide. */
  readonly server?: string | undefined;
  /** Left out for a server, which is its own target. */
  readonly target?: string | undefined;
  readonly reason: string;
}

export interface RevokeDeps extends OperatorReceiptDeps {
  readonly store: Pick<OperatorStore, 'revoke' | 'liftRevocation'>;
}

/**
 * @throws CatalogError NOT_FOUND/NO_SUCH_SERVER
 * @throws CatalogError BAD_REQUEST/INVALID_BODY or INVALID_NAME where server and target do not fit the kind
 */
export const revoke = async (
  deps: RevokeDeps,
  operator: Operator,
  request: RevocationRequest,
): Promise<RevocationRecord & { readonly receipt: string }> => {
  const { server, target } = scopeOf(request);
  const record: RevocationRecord = {
    id: deps.newId(),
    kind: request.kind,
    server: server ?? '',
    target,
    reason: request.reason,
    by: operator.subject,
  };
  const receipt = operatorReceipt(deps, operator, { act: 'REVOKE', target: record.id, server, record });
  const outcome = await deps.store.revoke(operator.tenant, record, receipt);
  if (outcome === 'noSuchServer') throw new CatalogError('NOT_FOUND', 'NO_SUCH_SERVER', { server });
  return { ...record, receipt: receipt.id };
};

/**
 * An operator's act with a receipt of its own; what was revoked is allowed again only as far as policy allows it.
 * @throws CatalogError NOT_FOUND/NO_SUCH_REVOCATION, CONFLICT/ALREADY_LIFTED
 */
export const liftRevocation = async (
  deps: RevokeDeps,
  operator: Operator,
  id: string,
): Promise<{ readonly id: string; readonly receipt: string }> => {
  const receipt = operatorReceipt(deps, operator, {
    act: 'LIFT_REVOCATION',
    target: id,
    record: { lifted: id },
  });
  const outcome = await deps.store.liftRevocation(operator.tenant, id, operator.subject, receipt);
  if (outcome === 'noSuchRevocation') throw new CatalogError('NOT_FOUND', 'NO_SUCH_REVOCATION');
  if (outcome === 'alreadyLifted') throw new CatalogError('CONFLICT', 'ALREADY_LIFTED');
  return { id, receipt: receipt.id };
};

const scopeOf = (
  request: RevocationRequest,
): { readonly server: ServerName | null; readonly target: string } => {
  const { kind, server, target } = request;
  switch (kind) {
    case 'subject':
      if (server !== undefined) throw misfit('server', 'a subject is revoked in the whole tenant');
      return { server: null, target: required(target, 'target') };
    case 'server': {
      const name = parseServerName(required(server ?? target, 'server'));
      if (target !== undefined && target !== name) throw misfit('target', 'a server is its own target');
      return { server: name, target: name };
    }
    case 'tool-id':
      return {
        server: parseServerName(required(server, 'server')),
        target: parseToolId(required(target, 'target')),
      };
    case 'tool-name':
      return { server: parseServerName(required(server, 'server')), target: required(target, 'target') };
  }
};

const required = (value: string | undefined, member: string): string => {
  if (value === undefined || value === '') throw misfit(member, 'required for this kind');
  return value;
};

const misfit = (member: string, rule: string): CatalogError =>
  new CatalogError('BAD_REQUEST', 'INVALID_BODY', { errors: [{ member, rule }] });
