/**
 * discovery.scale: what a snapshot of 10,000 tools in 100 pages costs in history and in worker memory. Every part is
 * the real one, and source and worker are processes of their own, so that only the worker's memory is counted.
 */
import { join } from 'node:path';
import type { ReadyProcess } from '../src/dev/readyProcess.js';
import type { DiscoveryResult } from '../src/domain/discoveryResult.js';
import { startDiscovery } from '../src/temporal/discoveryControl.js';
import { startDiscoveryStack } from './discoveryStack.js';
import { readHistorySize } from './historySize.js';
import { PAGE_SIZE, startInventory } from './inventoryProcess.js';
import { idleMb, watchMemory } from './memoryWatch.js';
import type { BenchRow } from './rows.js';

const TOOLS = 10_000;

const LIMITS = { events: 80, maxPayload: 100_000, memoryMB: 250 } as const;

/** @throws Error where the discovery does not end ELIGIBLE with every tool: there is nothing to measure then */
export const discoveryScale = async (log: (line: string) => void): Promise<readonly BenchRow[]> => {
  const bench = await startDiscoveryStack(log);
  let inventory: ReadyProcess | undefined;
  try {
    inventory = await startInventory(join(bench.scratch, 'inventory'), TOOLS);
    const key = await bench.register('inventory', String(inventory.ready['url']));
    const worker = await bench.stack.startWorker('bench');
    const idle = await idleMb(worker.pid);
    log(`Worker ${worker.pid} idles at ${Math.round(idle)} MB. Discovering ${TOOLS} tools.`);

    const memory = await watchMemory(worker.pid);
    const begun = performance.now();
    const run = await startDiscovery(bench.client, bench.taskQueue, key);
    const handle = bench.client.workflow.getHandle(run.workflowId, run.runId);
    const result = (await handle.result()) as DiscoveryResult;
    const seconds = (performance.now() - begun) / 1_000;
    const highest = await memory.stop();
    if (result.state !== 'ELIGIBLE' || result.tools !== TOOLS || result.pages !== TOOLS / PAGE_SIZE) {
      throw new Error(`the discovery ended as ${JSON.stringify(result)}`);
    }
    const { events, maxPayload } = await readHistorySize(bench.client, run);

    const row = (measure: string, unit: string, value: number, baseline: number | null): BenchRow => ({
      bench: `discovery.scale.${TOOLS}`,
      measure,
      unit,
      value,
      baseline,
      ...(baseline === null ? {} : { limit: 1 }),
    });
    return [
      row('events', 'events', events, LIMITS.events),
      row('maxPayload', 'bytes', maxPayload, LIMITS.maxPayload),
      row('memoryMB', 'MB over idle', highest - idle, LIMITS.memoryMB),
      row('seconds', 's', seconds, null),
    ];
  } finally {
    await inventory?.stop();
    await bench.stop();
  }
};
