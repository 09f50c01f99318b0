/**
 * Records the histories that test/replay holds workflow code to: real runs on a stack of its own, one for each way that
 * a discovery ends. Run it after `npm run build`, and only when a change of the workflow is meant to break old runs.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { startDiscoveryStack } from '../bench/discoveryStack.js';
import { startInventoryServer } from '../examples/inventory-mcp/server.js';
import type { DiscoveryKey } from '../src/domain/generation.js';
import {
  cancelDiscovery,
  ensureRefreshSchedule,
  hintDiscovery,
  startDiscovery,
} from '../src/temporal/discoveryControl.js';
import { type Bend, startBendableMcp } from '../test/fixtures/bendableMcp.js';

const TARGET = fileURLToPath(new URL('../test/replay/histories', import.meta.url));

const page = (counter: number | undefined, more: object = {}): object => ({
  tools: [{ name: 'alpha', inputSchema: { type: 'object' } }],
  ...(counter === undefined ? {} : { _meta: { 'dev.genlock/catalogRevision': counter } }),
  ...more,
});

const stack = await startDiscoveryStack((line) => console.log(line));
const closers: (() => Promise<void>)[] = [];
try {
  await stack.stack.startWorker('recorder');
  await mkdir(TARGET, { recursive: true });

  /** Which machine and process took part is nothing that a history is held to. */
  const record = async (name: string, workflowId: string, runId: string): Promise<void> => {
    const handle = stack.client.workflow.getHandle(workflowId, runId);
    await handle.result().catch(() => undefined);
    const history = historyToJSON(await handle.fetchHistory());
    const anonymous = history.replaceAll(/"identity": "[^"]*"/g, '"identity": "recorder"');
    await writeFile(join(TARGET, `${name}.json`), `${anonymous}\n`);
    console.log(`${name}: ${(JSON.parse(history) as { events: unknown[] }).events.length} events`);
  };
  const discover = async (name: string, key: DiscoveryKey): Promise<void> => {
    const { workflowId, runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await record(name, workflowId, runId);
  };
  const bent = async (server: string, list: Bend): Promise<DiscoveryKey> => {
    const running = await startBendableMcp({ list });
    closers.push(() => running.close());
    return await stack.register(server, running.url);
  };
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  const inventory = await startInventoryServer({ state: join(stack.scratch, 'inventory') });
  closers.push(() => inventory.close());
  const key = await stack.register('inventory', inventory.url);
  await discover('eligible', key);
  await discover('unchanged', key);
  inventory.change({ op: 'change-reserve-schema' });
  await discover('changed', key);

  await discover('unversioned', await bent('unversioned', (b) => b.result(page(undefined))));
  await discover('incomplete', await bent('incomplete', (b) => b.bytes('not JSON')));
  const twice = {
    tools: [1, 2].map((n) => ({ name: 'alpha', title: `${n}`, inputSchema: { type: 'object' } })),
  };
  await discover('quarantined', await bent('quarantined', (b) => b.result(page(1, twice))));
  let asked = 0;
  await discover('moved', await bent('moved', (b) => b.result(page(++asked < 3 ? asked : 3))));

  // A hint during the tail asks for another one, one during the scan of a closed list for another scan.
  inventory.change({ op: 'change-reserve-schema' });
  inventory.change({ op: 'hold', page: 4 });
  const hinted = await startDiscovery(stack.client, stack.taskQueue, key);
  await until(() => inventory.inventory.pace.waiting === 1);
  inventory.change({ op: 'release' });
  inventory.change({ op: 'hold', page: 0 });
  await until(() => inventory.inventory.pace.waiting === 1);
  await hintDiscovery(stack.client, stack.taskQueue, key);
  inventory.change({ op: 'release' });
  await record('hinted', hinted.workflowId, hinted.runId);

  inventory.change({ op: 'hold', page: 1 });
  const cancelled = await startDiscovery(stack.client, stack.taskQueue, key);
  await until(() => inventory.inventory.pace.waiting === 1);
  await cancelDiscovery(stack.client, key);
  await record('cancelled', cancelled.workflowId, cancelled.runId);
  inventory.change({ op: 'release' });

  await ensureRefreshSchedule(stack.client, stack.taskQueue, key, 1);
  const query = "WorkflowType = 'refresh' AND ExecutionStatus = 'Completed'";
  for (let found = false; !found; ) {
    for await (const { workflowId, runId } of stack.client.workflow.list({ query })) {
      await record('refresh', workflowId, runId);
      found = true;
      break;
    }
  }
  await ensureRefreshSchedule(stack.client, stack.taskQueue, key, 0);
} finally {
  for (const close of closers.reverse()) await close();
  await stack.stop();
}
