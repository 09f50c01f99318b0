/** S1: what a discovery leaves in Temporal. Pages stay in Postgres, and one step is scheduled at a time, by ids. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { at, serveList, tool } from './bentLists.js';
import { ownKey, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

const MEGABYTE = 1024 * 1024;

test('S1 pages of 3 MB, beyond what Temporal takes as a payload, leave ids, counts and digests in its history', async () => {
  // Distinct tools, each far below the limit of one descriptor.
  const page = (n: number) =>
    Array.from({ length: 32 }, (_, k) =>
      tool(`t${n}_${k}`, { description: 'x'.repeat((3 * MEGABYTE) / 32) }),
    );
  const server = await stack.bent({
    list: serveList(() => ({ pages: [page(0), page(1)], revision: at(1) })),
  });
  const key = ownKey();
  await stack.register(key, server.url);
  const { runId, state, tools, scan } = await stack.discover(key);
  expect({ state, tools }).toEqual({ state: 'ELIGIBLE', tools: 64 });
  const shown = await stack.operator.readDiscovery(key.tenant, scan);
  for (const { bytes } of shown?.pageChain ?? []) expect(bytes).toBeGreaterThan(3 * MEGABYTE);

  const history = await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory();
  expect(historyToJSON(history).length).toBeLessThan(60_000);
  const scheduled = (history.events ?? []).flatMap(
    (event) => event.activityTaskScheduledEventAttributes ?? [],
  );
  expect(scheduled.length).toBeGreaterThanOrEqual(5);
  const tasks = scheduled.map(({ workflowTaskCompletedEventId }) => String(workflowTaskCompletedEventId));
  expect(new Set(tasks).size).toBe(tasks.length);
  for (const { input } of scheduled)
    for (const { data } of input?.payloads ?? []) expect(data?.length ?? 0).toBeLessThan(1_000);
});
