/** Starting, hinting, watching and cancelling discoveries, with everything that makes a run readable in Temporal's UI. */
import {
  type Client,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { DiscoveryKey } from '../domain/generation.js';
import {
  type DiscoveryInput,
  discoveryWorkflowId,
  HINT_SIGNAL,
  refreshScheduleId,
  refreshWorkflowId,
  SEARCH_ATTRIBUTES,
  WORKFLOW_TYPES,
} from '../workflows/contract.js';
import { runDetails, runSummary } from './runText.js';

export interface StartedDiscovery {
  readonly workflowId: string;
  readonly runId: string;
}

const attributesOf = ({ tenant, server, audience }: DiscoveryKey): TypedSearchAttributes =>
  new TypedSearchAttributes([
    { key: SEARCH_ATTRIBUTES.tenant, value: tenant },
    { key: SEARCH_ATTRIBUTES.server, value: server },
    { key: SEARCH_ATTRIBUTES.audience, value: audience },
    { key: SEARCH_ATTRIBUTES.state, value: 'DISCOVERING' },
  ]);

const startOptions = (key: DiscoveryKey, taskQueue: string) =>
  ({
    workflowId: discoveryWorkflowId(key),
    taskQueue,
    args: [{ key }] as [DiscoveryInput],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    // A worker that dies while it holds a workflow task is noticed within this.
    workflowTaskTimeout: '5s',
    typedSearchAttributes: attributesOf(key),
    memo: { tenant: key.tenant, server: key.server, audience: key.audience },
    staticSummary: runSummary(key),
    staticDetails: runDetails(key),
  }) as const;

/** Starts the discovery of a key, or answers with the run that is under way. */
export const startDiscovery = async (
  client: Client,
  taskQueue: string,
  key: DiscoveryKey,
): Promise<StartedDiscovery> => {
  const handle = await client.workflow.start(WORKFLOW_TYPES.discovery, startOptions(key, taskQueue));
  return { workflowId: handle.workflowId, runId: handle.firstExecutionRunId };
};

/** Tells that the list may have changed (D2): a running discovery looks once more, else one is started. */
export const hintDiscovery = async (
  client: Client,
  taskQueue: string,
  key: DiscoveryKey,
): Promise<StartedDiscovery> => {
  const handle = await client.workflow.signalWithStart(WORKFLOW_TYPES.discovery, {
    ...startOptions(key, taskQueue),
    signal: HINT_SIGNAL,
    signalArgs: [],
  });
  return { workflowId: handle.workflowId, runId: handle.signaledRunId };
};

/** @returns false where no discovery of that key runs */
export const cancelDiscovery = async (client: Client, key: DiscoveryKey): Promise<boolean> => {
  try {
    const handle = client.workflow.getHandle(discoveryWorkflowId(key));
    // Temporal takes the cancellation of a run that has ended for a success.
    if ((await handle.describe()).status.name !== 'RUNNING') return false;
    await handle.cancel();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
};

/**
 * Makes the refresh Schedule of a key what the registration says. A tick that was missed for more than a minute is
 * not made up for: the next one does as well.
 * @param seconds between ticks; 0 removes the Schedule
 */
export const ensureRefreshSchedule = async (
  client: Client,
  taskQueue: string,
  key: DiscoveryKey,
  seconds: number,
): Promise<void> => {
  const scheduleId = refreshScheduleId(key);
  const handle = client.schedule.getHandle(scheduleId);
  if (seconds === 0) {
    await handle.delete().catch((error: unknown) => {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    });
    return;
  }
  const spec = { intervals: [{ every: seconds * 1_000 }] };
  const action = {
    type: 'startWorkflow' as const,
    workflowType: WORKFLOW_TYPES.refresh,
    workflowId: refreshWorkflowId(key),
    taskQueue,
    args: [{ key }] as [DiscoveryInput],
    workflowTaskTimeout: '5s',
    typedSearchAttributes: new TypedSearchAttributes(
      [...attributesOf(key).getAll()].filter(({ key: { name } }) => name !== SEARCH_ATTRIBUTES.state.name),
    ),
    memo: { tenant: key.tenant, server: key.server, audience: key.audience },
  } as const;
  const policies = { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' } as const;
  try {
    await client.schedule.create({ scheduleId, spec, action, policies });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await handle.update((previous) => ({ ...previous, spec, action, policies }));
  }
};

/** Where an operator finds a workflow in Temporal's own UI. */
export const uiLink = (
  uiUrl: string | null,
  namespace: string,
  workflowId: string,
  runId?: string,
): string | null =>
  uiUrl === null
    ? null
    : `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}${
        runId === undefined ? '' : `/${encodeURIComponent(runId)}/history`
      }`;

/** Whether Temporal answers; for /readyz. */
export const isTemporalReady = async (client: Client): Promise<boolean> => {
  try {
    await client.withDeadline(Date.now() + 2_000, () => client.connection.workflowService.getSystemInfo({}));
    return true;
  } catch (error) {
    if (isGrpcServiceError(error)) return false;
    throw error;
  }
};
