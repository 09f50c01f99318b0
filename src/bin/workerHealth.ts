#!/usr/bin/env node
/**
 * Health of the worker beside which it runs: exits 0 if Temporal says that this worker polls its queue. A process that
 * lives but no longer polls is not healthy.
 */
import { hostname } from 'node:os';
import { explain } from '../cli/explain.js';
import { environment, workerConfig } from '../config.js';
import { connectTemporal } from '../temporal/connect.js';

const DEADLINE_MS = 10_000;
/** A poll lasts a minute; Temporal goes on naming a poller for five minutes after its last one. */
const FRESH_MS = 120_000;
/** temporal.api.enums.v1.TaskQueueType. */
const ACTIVITY = 2;

const isPolling = async (): Promise<boolean> => {
  const { temporal, workerName } = workerConfig(environment());
  const client = await connectTemporal(temporal);
  try {
    const { pollers } = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflowService.describeTaskQueue({
        namespace: temporal.namespace,
        taskQueue: { name: temporal.taskQueue },
        taskQueueType: ACTIVITY,
      }),
    );
    return (pollers ?? []).some(({ identity, lastAccessTime }) => {
      const ours =
        workerName === undefined ? identity?.startsWith(`${hostname()}/`) : identity === workerName;
      return ours === true && Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < FRESH_MS;
    });
  } finally {
    await client.connection.close();
  }
};

try {
  if (!(await isPolling())) {
    process.stderr.write('genlock: this worker does not poll its queue.\n');
    process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
