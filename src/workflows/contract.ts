/**
 * Every id, message and search attribute that workflows and their callers share. Workflow code, the worker and
 * the typed client read names from here and nowhere else.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import type { DiscoveryKey } from '../domain/generation.js';

export const WORKFLOW_TYPES = { discovery: 'discovery', refresh: 'refresh' } as const;

/** Parts are percent-encoded, so that no name can pass for a separator. */
const idOf = (prefix: string, { tenant, server, audience }: DiscoveryKey): string =>
  [prefix, tenant, server, audience]
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join(':');

/** One discovery of a (tenant, server, audience) runs at a time: the id is the lock. */
export const discoveryWorkflowId = (key: DiscoveryKey): string => idOf('discovery', key);
/** A Schedule appends a time to the ids it starts, so it starts `refresh`, which starts the fixed discovery id. */
export const refreshWorkflowId = (key: DiscoveryKey): string => idOf('refresh', key);
export const refreshScheduleId = (key: DiscoveryKey): string => idOf('schedule:refresh', key);

/** A hint that the list may have changed (D2): asks for one more look, proves nothing. */
export const HINT_SIGNAL = 'hint';

export interface DiscoveryInput {
  readonly key: DiscoveryKey;
  /** Carried over a continue-as-new: hints that arrived and were not yet answered. */
  readonly pendingHint?: boolean;
}

export const SEARCH_ATTRIBUTES = {
  tenant: defineSearchAttributeKey('GenlockTenant', 'KEYWORD'),
  server: defineSearchAttributeKey('GenlockServer', 'KEYWORD'),
  audience: defineSearchAttributeKey('GenlockAudience', 'KEYWORD'),
  state: defineSearchAttributeKey('GenlockState', 'KEYWORD'),
  reason: defineSearchAttributeKey('GenlockReason', 'KEYWORD'),
  generation: defineSearchAttributeKey('GenlockGeneration', 'INT'),
} as const;
