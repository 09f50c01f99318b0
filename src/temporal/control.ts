/** Discoveries as the use cases ask for them, over Temporal; its faults become a code. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { CatalogError } from '../domain/errors.js';
import type { DiscoveryKey } from '../domain/generation.js';
import { discoveryWorkflowId } from '../workflows/contract.js';
import {
  cancelDiscovery,
  ensureRefreshSchedule,
  hintDiscovery,
  type StartedDiscovery,
  startDiscovery,
  uiLink,
} from './discoveryControl.js';
import { createHintGate, HINT_INTERVAL_MS } from './hintGate.js';

export interface TemporalControl {
  start(key: DiscoveryKey): Promise<StartedDiscovery>;
  hint(key: DiscoveryKey): Promise<StartedDiscovery>;
  cancel(key: DiscoveryKey): Promise<boolean>;
  ensureSchedule(key: DiscoveryKey, seconds: number): Promise<void>;
  uiLink(workflowId: string, runId?: string): string | null;
}

/** How long one call may take before the caller is told that Temporal does not answer. */
const DEADLINE_MS = 10_000;

export const createTemporalControl = (
  client: Client,
  options: { readonly taskQueue: string; readonly namespace: string; readonly uiUrl: string | null },
): TemporalControl => {
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + DEADLINE_MS, work);
    } catch (cause) {
      throw new CatalogError('UNAVAILABLE', 'TEMPORAL', {}, { cause });
    }
  };
  const hint = createHintGate(
    (key: DiscoveryKey) => ask(() => hintDiscovery(client, options.taskQueue, key)),
    { idOf: discoveryWorkflowId, pause: () => sleep(HINT_INTERVAL_MS, undefined, { ref: false }) },
  );
  return {
    start: (key) => ask(() => startDiscovery(client, options.taskQueue, key)),
    hint,
    cancel: (key) => ask(() => cancelDiscovery(client, key)),
    ensureSchedule: (key, seconds) =>
      ask(() => ensureRefreshSchedule(client, options.taskQueue, key, seconds)),
    uiLink: (workflowId, runId) => uiLink(options.uiUrl, options.namespace, workflowId, runId),
  };
};
