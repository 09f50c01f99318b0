/**
 * discovery: what it costs to prove a list, beside only reading it. For each size a stack on fresh state, and on the same
 * list in turns: discoveries by a worker process, and the baselines by another.
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
/** Odd numbers: a median is one of them. Each first discovery is of a tenant of its own, of which no verdict is known. */
const FIRSTS = 3;
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
  /** Over idle: of one first discovery with its refreshes, and after as many such catalogs as are measured. */
  readonly memoryMB: number;
  readonly memoryOfAllMB: number;
}

const measure = async (lists: BareLists, tools: number, log: (line: string) => void): Promise<Sizes> => {
  const bench = await startDiscoveryStack(log);
  let inventory: ReadyProcess | undefined;
  try {
    inventory = await startInventory(join(bench.scratch, 'inventory'), tools);
    const url = String(inventory.ready['url']);
    const worker = await bench.stack.startWorker('bench');
    // The source's own code is warm for all alike.
    await lists.run('list', url, tools);
    const idle = await idleMb(worker.pid);
    const memory = await watchMemory(worker.pid);
    let ofOne = Number.NaN;
    const took = {
      first: [] as number[],
      compile: [] as number[],
      refresh: [] as number[],
      list: [] as number[],
    };
    for (let n = 0; n < FIRSTS; n++) {
      const key = await bench.register('inventory', url, `tenant-${n}`);
      took.first.push(await discover(bench, key, { state: 'ELIGIBLE', tools }));
      took.compile.push(await lists.run('compile', url, tools));
      for (let m = 0; m < REFRESHES; m++) {
        took.refresh.push(await discover(bench, key, { state: 'RETIRED', tools }));
        took.list.push(await lists.run('list', url, tools));
      }
      if (n === 0) ofOne = await memory.highest();
    }
    const memoryMB = ofOne - idle;
    const memoryOfAllMB = (await memory.stop()) - idle;
    const sizes = {
      first: medianOf(took.first),
      compile: medianOf(took.compile),
      refresh: medianOf(took.refresh),
      list: medianOf(took.list),
      memoryMB,
      memoryOfAllMB,
    };
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
      memoryRow(SMALL, small),
      memoryRow(LARGE, large),
      {
        bench: `discovery.first.${LARGE}`,
        measure: 'memoryOfAllMB',
        unit: `MB over idle, after ${FIRSTS} catalogs in a row`,
        value: large.memoryOfAllMB,
        baseline: null,
      },
    ];
  } finally {
    lists.stop();
  }
};

const memoryRow = (tools: number, { memoryMB }: Sizes): BenchRow => ({
  bench: `discovery.first.${tools}`,
  measure: 'memoryMB',
  unit: 'MB over idle',
  value: memoryMB,
  baseline: LIMITS.memoryMB,
  limit: 1,
});
