/**
 * Accepts what a scan was held for (D5, D8, D9). The held scan stays as it is: the next one reads the acceptance, and a
 * promotion that rests on it uses it up.
 */
import { ACCEPTABLE, isAcceptable } from '../domain/acceptance.js';
import { CatalogError } from '../domain/errors.js';
import type { TenantId } from '../domain/ids.js';
import type { AcceptanceRecord, DiscoveryDetail, OperatorStore } from '../store/operatorStore.js';
import type { DiscoveryControl } from './discoveryControl.js';
import { type Operator, type OperatorReceiptDeps, operatorReceipt } from './operatorReceipt.js';
import { type DiscoveryStart, startDiscoveries } from './startDiscoveries.js';

export interface AcceptHeldDeps extends OperatorReceiptDeps {
  readonly store: Pick<OperatorStore, 'readDiscovery' | 'acceptHeld' | 'listDiscoveries'>;
  readonly control: DiscoveryControl;
}

export interface Accepted extends AcceptanceRecord {
  readonly receipt: string;
  /** The discovery that reads it. */
  readonly discoveries: readonly DiscoveryStart[];
}

/**
 * @param request.reason why, in the operator's own words
 * @throws CatalogError NOT_FOUND/NO_SUCH_DISCOVERY
 * @throws CatalogError CONFLICT/NOT_ACCEPTABLE with state and reason, CONFLICT/ALREADY_ACCEPTED, CONFLICT/HELD_SUPERSEDED
 */
export const acceptHeld = async (
  deps: AcceptHeldDeps,
  operator: Operator,
  request: { readonly discovery: string; readonly reason: string },
): Promise<Accepted> => {
  const { tenant } = operator;
  const found = await deps.store.readDiscovery(tenant, request.discovery);
  if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_DISCOVERY');
  const record: AcceptanceRecord = {
    id: deps.newId(),
    discovery: found.id,
    ...heldBy(found),
    reason: request.reason,
    by: operator.subject,
  };
  const { server, audience } = record;
  const receipt = operatorReceipt(deps, operator, {
    act: 'ACCEPT',
    target: record.id,
    server,
    audience,
    record,
  });
  const outcome = await deps.store.acceptHeld(tenant, record, receipt);
  switch (outcome) {
    case 'accepted':
      break;
    case 'noSuchDiscovery':
      throw new CatalogError('NOT_FOUND', 'NO_SUCH_DISCOVERY');
    case 'notAcceptable':
      throw notAcceptable(found);
    case 'alreadyAccepted':
      throw new CatalogError('CONFLICT', 'ALREADY_ACCEPTED', { discovery: found.id });
    case 'superseded':
      throw new CatalogError('CONFLICT', 'HELD_SUPERSEDED', {
        discovery: found.id,
        server,
        audience,
        newest: await newestOf(deps.store, tenant, record),
      });
  }
  // A run that is under way may have been judged without it: it has to hear of it.
  const discoveries = await startDiscoveries(deps.control, [{ tenant, server, audience }], (key) =>
    deps.control.hint(key),
  );
  return { ...record, receipt: receipt.id, discoveries };
};

const newestOf = async (
  store: Pick<OperatorStore, 'listDiscoveries'>,
  tenant: TenantId,
  { server, audience }: Pick<AcceptanceRecord, 'server' | 'audience'>,
): Promise<string | null> => {
  const latest = await store.listDiscoveries(tenant, { server, limit: 100 });
  return latest.find((one) => one.audience === audience)?.id ?? null;
};

type Bound = Pick<AcceptanceRecord, 'server' | 'audience' | 'kind' | 'identity' | 'revision' | 'contentRoot'>;

/** What the acceptance binds. Only a scan that was whole and proven is held for a person, so all of it is known. */
const heldBy = (found: DiscoveryDetail): Bound => {
  const { server, audience, state, reason, identity, revision, contentRoot } = found;
  if (
    state !== 'QUARANTINED' ||
    !isAcceptable(reason) ||
    identity === null ||
    revision === null ||
    contentRoot === null
  )
    throw notAcceptable(found);
  return { server, audience, kind: reason, identity, revision, contentRoot };
};

const notAcceptable = ({ id, state, reason }: DiscoveryDetail): CatalogError =>
  new CatalogError('CONFLICT', 'NOT_ACCEPTABLE', { discovery: id, state, reason, acceptable: ACCEPTABLE });
