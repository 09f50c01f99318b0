/** What operators ask of discoveries: start one, watch it, read why it ended, stop it. */
import { END_REASONS, type EndReason, endRow } from '../domain/endReasons.js';
import { CatalogError } from '../domain/errors.js';
import type { AudienceClass, ServerName, TenantId } from '../domain/ids.js';
import type {
  DiscoveredTool,
  DiscoveryDetail,
  DiscoverySummary,
  OperatorStore,
} from '../store/operatorStore.js';
import type { DiscoveryControl } from './discoveryControl.js';
import { audienceKeys } from './publishPolicy.js';
import { type DiscoveryStart, startDiscoveries } from './startDiscoveries.js';

export interface DiscoveriesDeps {
  readonly store: Pick<OperatorStore, 'readServer' | 'listDiscoveries' | 'readDiscovery' | 'discoveredTools'>;
  readonly control: DiscoveryControl;
}

/** Where to watch it, and once it has ended what the reason means and what to do next. */
interface Explained {
  readonly ui: string | null;
  readonly meaning: string | null;
  readonly next: string | null;
}

/**
 * @param audience left out starts one for each audience of the server
 * @throws CatalogError NOT_FOUND/NO_SUCH_SERVER, BAD_REQUEST/INVALID_NAME, UNAVAILABLE/TEMPORAL
 */
export const triggerDiscoveries = async (
  { store, control }: DiscoveriesDeps,
  tenant: TenantId,
  server: ServerName,
  audience: AudienceClass | undefined,
): Promise<readonly DiscoveryStart[]> => {
  const registered = await store.readServer(tenant, server);
  if (registered === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_SERVER');
  const keys = audienceKeys(tenant, registered).filter(
    (key) => audience === undefined || key.audience === audience,
  );
  if (keys.length === 0)
    throw new CatalogError('BAD_REQUEST', 'INVALID_NAME', {
      field: 'audience',
      rule: 'an audience of this server',
      audiences: Object.keys(registered.audiences),
    });
  const started = await startDiscoveries(control, keys, (key) => control.start(key));
  // Here starting is all that was asked for.
  if (started.every(({ failed }) => failed !== null)) throw new CatalogError('UNAVAILABLE', 'TEMPORAL');
  return started;
};

export const listDiscoveries = async (
  { store, control }: DiscoveriesDeps,
  tenant: TenantId,
  filter: { readonly server?: ServerName; readonly limit: number },
): Promise<readonly (DiscoverySummary & Explained)[]> =>
  (await store.listDiscoveries(tenant, filter)).map((one) => ({ ...one, ...explain(control, one) }));

/** @throws CatalogError NOT_FOUND/NO_SUCH_DISCOVERY */
export const readDiscovery = async (
  { store, control }: DiscoveriesDeps,
  tenant: TenantId,
  id: string,
): Promise<DiscoveryDetail & Explained> => {
  const found = await store.readDiscovery(tenant, id);
  if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_DISCOVERY');
  return { ...found, ...explain(control, found) };
};

/**
 * What a scan saw, also one that will never be accepted (D4). None of it is callable for that.
 * @param slice.after position of the last tool seen, -1 for none
 * @throws CatalogError NOT_FOUND/NO_SUCH_DISCOVERY
 */
export const readDiscoveredTools = async (
  store: Pick<OperatorStore, 'discoveredTools'>,
  tenant: TenantId,
  id: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ readonly tools: readonly DiscoveredTool[]; readonly next: number | null }> => {
  // One more than asked for tells whether there is more.
  const found = await store.discoveredTools(tenant, id, { after, limit: limit + 1 });
  if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_DISCOVERY');
  const tools = found.slice(0, limit);
  return { tools, next: found.length > limit ? (tools.at(-1)?.position ?? null) : null };
};

/** Asks it to stop; its end, CANCELLED, is then read like any other. @throws CatalogError NOT_FOUND/NO_SUCH_DISCOVERY */
export const cancelDiscovery = async (
  { store, control }: DiscoveriesDeps,
  tenant: TenantId,
  id: string,
): Promise<DiscoverySummary> => {
  const found = await store.readDiscovery(tenant, id);
  if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_DISCOVERY');
  if (found.endedAt === null)
    await control.cancel({ tenant, server: found.server, audience: found.audience });
  return found;
};

const isEndReason = (reason: string): reason is EndReason => Object.hasOwn(END_REASONS, reason);

const explain = (control: DiscoveryControl, { workflowId, runId, reason }: DiscoverySummary): Explained => {
  const row = reason !== null && isEndReason(reason) ? endRow(reason) : null;
  return { ui: control.uiLink(workflowId, runId), meaning: row?.meaning ?? null, next: row?.next ?? null };
};
