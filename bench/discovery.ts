/**
 * discovery: what it costs to prove a list, beside only reading it. For each size a stack on fresh state, so that no
 * verdict is known; then on the same list in turns: discoveries by a worker process, and the baselines by another.
 */
import { join } from 'node:path';
import type { ReadyProcess } from '../src/dev/readyProcess.js';
import type { DiscoveryResult } from '../src/domain/discoveryResult.js';
import type { DiscoveryKey } from '../src/domain/generation.js';
import { startDiscovery } from '../src/temporal/discoveryControl.js';
import { type BareLists, startBareLists } from './bareList.js';
import { type DiscoveryStack, startDiscoveryStack } from './discoveryStack.js';
import { startInventory } from './inventoryProcess.js';
import { idleMb, watchMemory } from './memoryWatch.js';
import type { BenchRow } from './rows.js';

const SMALL = 1_000;
const LARGE = 10_000;
/** An odd number: the median is one of them. */
const REFRESHES = 5;
const LIMITS = { first: 1.3, refresh: 1.5, memoryMB: 250 } as const;

const medianOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Seconds from the start of the workflow to its end. */
const discover = async (
  bench: DiscoveryStack,
  key: DiscoveryKey,
  wanted: { readonly state: string; readonly tools: number },
): Promise<number> => {
  const begun = performance.now();
  const run = await startDiscovery(bench.client, bench.taskQueue, key);
  const handle = bench.client.workflow.getHandle(run.workflowId, run.runId);
  const result = (await handle.result()) as DiscoveryResult;
  const seconds = (performance.now() - begun) / 1_000;
  if (result.state !== wanted.state || result.tools !== wanted.tools)
    throw new Error(`the discovery ended as ${JSON.stringify(result)}`);
  return seconds;
};

interface Sizes {
  readonly first: number;
  readonly refresh: number;
  readonly list: number;
  readonly compile: number;
  readonly memoryMB: number;
}

const measure = async (lists: BareLists, tools: number, log: (line: string) => void): Promise<Sizes> => {
  const bench = await startDiscoveryStack(log);
  let inventory: ReadyProcess | undefined;
  try {
    inventory = await startInventory(join(bench.scratch, 'inventory'), tools);
    const url = String(inventory.ready['url']);
    const key = await bench.register('inventory', url);
    const worker = await bench.stack.startWorker('bench');
    // The source's own code is warm for all alike.
    await lists.run('list', url, tools);
    const idle = await idleMb(worker.pid);
    const memory = await watchMemory(worker.pid);
    const first = await discover(bench, key, { state: 'ELIGIBLE', tools });
    const compile = await lists.run('compile', url, tools);
    const refreshes: number[] = [];
    const bare: number[] = [];
    for (let n = 0; n < REFRESHES; n++) {
      refreshes.push(await discover(bench, key, { state: 'RETIRED', tools }));
      bare.push(await lists.run('list', url, tools));
    }
    const memoryMB = (await memory.stop()) - idle;
    const sizes = { first, compile, refresh: medianOf(refreshes), list: medianOf(bare), memoryMB };
    log(`${tools} tools: ${JSON.stringify(sizes)}`);
    return sizes;
  } finally {
    await inventory?.stop();
    await bench.stop();
  }
};

export const discovery = async (log: (line: string) => void): Promise<readonly BenchRow[]> => {
  const lists = startBareLists();
  try {
    const small = await measure(lists, SMALL, log);
    const large = await measure(lists, LARGE, log);
    const seconds = { measure: 'seconds', unit: 's' } as const;
    return [
      { bench: `discovery.first.${SMALL}`, ...seconds, value: small.first, baseline: small.compile },
      {
        bench: `discovery.first.${LARGE}`,
        ...seconds,
        value: large.first,
        baseline: large.compile,
        limit: LIMITS.first,
      },
      { bench: `discovery.refresh.${SMALL}`, ...seconds, value: small.refresh, baseline: small.list },
      {
        bench: `discovery.refresh.${LARGE}`,
        ...seconds,
        value: large.refresh,
        baseline: large.list,
        limit: LIMITS.refresh,
      },
      {
        bench: `discovery.growth.${LARGE}`,
        measure: 'seconds',
        unit: `s, against ${LARGE / SMALL} times ${SMALL} tools`,
        value: large.first,
        baseline: small.first * (LARGE / SMALL),
        limit: 1,
      },
      {
        bench: `discovery.first.${LARGE}`,
        measure: 'memoryMB',
        unit: 'MB over idle',
        value: large.memoryMB,
        baseline: LIMITS.memoryMB,
        limit: 1,
      },
    ];
  } finally {
    lists.stop();
  }
};
