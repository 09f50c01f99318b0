/**
 * Withdraws a tool, a server or a subject (L3). The answer comes after the fence moved: from then on nothing
 * is issued under what was revoked.
 */
import { CatalogError } from '../domain/errors.js';
import {
  type AudienceClass,
  parseServerName,
  parseToolId,
  type ServerName,
  type TenantId,
  type ToolId,
} from '../domain/ids.js';
import type { RegisteredServer } from '../domain/server.js';
import type { AdmissionStore, RevocationKind } from '../store/admissionStore.js';
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
  readonly store: Pick<OperatorStore, 'revoke' | 'liftRevocation' | 'readServer'>;
  readonly active: Pick<AdmissionStore, 'tool' | 'toolId' | 'servers'>;
}

export interface Revoked extends RevocationRecord {
  readonly receipt: string;
  /**
   * How many tools of the server's active catalogs it matches, each audience's catalog counted by itself; what it names
   * may also come later. null for a subject, and where the count could not be read: in force it is all the same.
   */
  readonly matches: number | null;
}

/**
 * @throws CatalogError NOT_FOUND/NO_SUCH_SERVER
 * @throws CatalogError BAD_REQUEST/INVALID_BODY or INVALID_NAME where server and target do not fit the kind
 */
export const revoke = async (
  deps: RevokeDeps,
  operator: Operator,
  request: RevocationRequest,
): Promise<Revoked> => {
  const { tenant } = operator;
  const { server, target } = scopeOf(request);
  const registered = server === null ? null : await deps.store.readServer(tenant, server);
  if (server !== null && registered === null)
    throw new CatalogError('NOT_FOUND', 'NO_SUCH_SERVER', { server });
  if (registered !== null && request.kind === 'tool-id' && !target.startsWith(`${registered.namespace}.`))
    throw misfit('target', `an id of this server's tools begins with ${registered.namespace}.`);
  const record: RevocationRecord = {
    id: deps.newId(),
    kind: request.kind,
    server: server ?? '',
    target,
    reason: request.reason,
    by: operator.subject,
  };
  const receipt = operatorReceipt(deps, operator, { act: 'REVOKE', target: record.id, server, record });
  const outcome = await deps.store.revoke(tenant, record, receipt);
  if (outcome === 'noSuchServer') throw new CatalogError('NOT_FOUND', 'NO_SUCH_SERVER', { server });
  const matches =
    registered === null
      ? null
      : await countMatches(deps.active, tenant, registered, record).catch(() => null);
  return { ...record, receipt: receipt.id, matches };
};

/** Counted after it is in force: what the count takes does not keep a revocation waiting. */
const countMatches = async (
  active: RevokeDeps['active'],
  tenant: TenantId,
  { name, audiences }: RegisteredServer,
  { kind, target }: RevocationRecord,
): Promise<number> => {
  const countIn = async (audience: AudienceClass): Promise<number> => {
    switch (kind) {
      case 'tool-id':
        return (await active.tool(tenant, name, audience, target as ToolId)) === null ? 0 : 1;
      case 'tool-name':
        return (await active.toolId(tenant, name, audience, target)) === null ? 0 : 1;
      default:
        return (await active.servers(tenant, audience)).find(({ server }) => server === name)?.tools ?? 0;
    }
  };
  let matches = 0;
  // One at a time: who asks waits a little, and those who want to be admitted keep their connections.
  for (const audience of Object.keys(audiences)) matches += await countIn(audience as AudienceClass);
  return matches;
};

/**
 * An operator's act with a receipt of its own; what was revoked is allowed again only as far as policy allows it.
 * @throws CatalogError NOT_FOUND/NO_SUCH_REVOCATION, CONFLICT/ALREADY_LIFTED
 */
export const liftRevocation = async (
  deps: Omit<RevokeDeps, 'active'>,
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
    case 'tool-name': {
      const name = required(target, 'target');
      if (isToolId(name))
        throw misfit('target', 'a name as the server lists it; a tool id is revoked by tool-id');
      return { server: parseServerName(required(server, 'server')), target: name };
    }
  }
};

const isToolId = (text: string): boolean => {
  try {
    parseToolId(text);
    return true;
  } catch {
    return false;
  }
};

const required = (value: string | undefined, member: string): string => {
  if (value === undefined || value === '') throw misfit(member, 'required for this kind');
  return value;
};

const misfit = (member: string, rule: string): CatalogError =>
  new CatalogError('BAD_REQUEST', 'INVALID_BODY', { errors: [{ member, rule }] });
