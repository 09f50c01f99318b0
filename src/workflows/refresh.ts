/**
 * What a Schedule starts. Its own id carries the time of the tick, so it only starts the discovery under its fixed id:
 * a discovery that runs already serves the tick as well. A tick is not a hint.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { DiscoveryActivities } from '../activities/activityTypes.js';
import type { DiscoveryInput } from './contract.js';

const { startDiscovery } = proxyActivities<DiscoveryActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 5 },
});

export async function refresh({ key }: DiscoveryInput): Promise<void> {
  await startDiscovery.executeWithOptions({ summary: `scheduled refresh of ${key.server}` }, [key]);
}
