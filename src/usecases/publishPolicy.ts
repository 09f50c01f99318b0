/**
 * Puts a reviewed bundle in force as the next epoch (P1). From the answer on every admission is judged by it; the
 * active content of every server is bound to it again by a discovery.
 */
import { CatalogError } from '../domain/errors.js';
import type { DiscoveryKey } from '../domain/generation.js';
import type { AudienceClass, Digest, TenantId } from '../domain/ids.js';
import type { RegisteredServer } from '../domain/server.js';
import type { OperatorStore } from '../store/operatorStore.js';
import type { DiscoveryControl } from './discoveryControl.js';
import { type Operator, type OperatorReceiptDeps, operatorReceipt } from './operatorReceipt.js';
import type { PolicyLanguage } from './policies.js';
import { type DiscoveryStart, startDiscoveries } from './startDiscoveries.js';

export interface PublishPolicyDeps extends OperatorReceiptDeps {
  readonly store: Pick<OperatorStore, 'publishPolicy' | 'listServers' | 'readPolicyBundle'>;
  readonly language: Pick<PolicyLanguage, 'parse'>;
  readonly control: DiscoveryControl;
}

export interface PublishedPolicy {
  readonly epoch: number;
  readonly digest: Digest;
  readonly receipt: string;
  /** The discoveries that bind the active content to it again. */
  readonly rebinding: readonly DiscoveryStart[];
}

/**
 * @param expectedEpoch the epoch that the reviewer saw in force, 0 for none; left out takes the current one
 * @throws CatalogError BAD_REQUEST/INVALID_BUNDLE with every error, CONFLICT/EPOCH_EXISTS
 */
export const publishPolicy = async (
  deps: PublishPolicyDeps,
  operator: Operator,
  bundle: unknown,
  expectedEpoch?: number,
): Promise<PublishedPolicy> => {
  const { tenant } = operator;
  const { text, digest } = deps.language.parse(bundle);
  const expected = expectedEpoch ?? (await deps.store.readPolicyBundle(tenant, null))?.epoch ?? 0;
  const receipt = operatorReceipt(deps, operator, {
    act: 'PUBLISH_POLICY',
    target: digest,
    policyEpoch: expected + 1,
    record: { digest, epoch: expected + 1 },
  });
  const epoch = await deps.store.publishPolicy(tenant, expected, { text, digest }, operator.subject, receipt);
  if (epoch === null) {
    const current = (await deps.store.readPolicyBundle(tenant, null))?.epoch ?? 0;
    throw new CatalogError('CONFLICT', 'EPOCH_EXISTS', { expectedEpoch: expected, currentEpoch: current });
  }
  const servers = await deps.store.listServers(tenant);
  const keys = servers.flatMap((server) => audienceKeys(tenant, server));
  // A run that is under way was claimed under the old epoch: it has to hear of the new one.
  const rebinding = await startDiscoveries(deps.control, keys, (key) => deps.control.hint(key));
  return { epoch, digest, receipt: receipt.id, rebinding };
};

/** One discovery for each audience of a server. */
export const audienceKeys = (
  tenant: TenantId,
  { name, audiences }: Pick<RegisteredServer, 'name' | 'audiences'>,
): readonly DiscoveryKey[] =>
  Object.keys(audiences).map((audience) => ({ tenant, server: name, audience: audience as AudienceClass }));
