/**
 * What the pictures show: discoveries of four servers on a real stack, one held in mid-page, one accepted and then
 * found unchanged, one that broke on a malformed page, and one whose server is not there.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type DiscoveryStack, startDiscoveryStack } from '../../bench/discoveryStack.js';
import { startInventoryServer } from '../../examples/inventory-mcp/server.js';
import { freePort } from '../../src/dev/freePort.js';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { type StartedDiscovery, startDiscovery } from '../../src/temporal/discoveryControl.js';
import { startBendableMcp } from '../../test/fixtures/bendableMcp.js';

export interface Scenes {
  readonly uiUrl: string;
  readonly namespace: string;
  readonly running: StartedDiscovery;
  readonly finished: StartedDiscovery;
  readonly failed: StartedDiscovery;
  stop(): Promise<void>;
}

/** The page, from 0, at which the running discovery is held. */
const HELD_PAGE = 3;
const HELD_LIMIT_MS = 30_000;

/** @throws Error or CatalogError where a scene does not come about; nothing is left running then */
export const setScenes = async (log: (line: string) => void): Promise<Scenes> => {
  const closing: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close();
  };
  try {
    const discoveries = await startDiscoveryStack(log);
    closing.push(() => discoveries.stop());
    const { stack, scratch } = discoveries;
    if (stack.temporal.uiUrl === null)
      throw new Error('The pictures need the Temporal server of the stack itself.');
    await stack.startWorker('worker-1');

    const finished = await finish(discoveries, closing, join(scratch, 'inventory'));
    await discover(discoveries, await discoveries.register('returns', await nobody()));
    const failed = await fail(discoveries, closing);
    const running = await hold(discoveries, closing, join(scratch, 'warehouse'));
    return {
      uiUrl: stack.temporal.uiUrl,
      namespace: stack.temporal.namespace,
      running,
      finished,
      failed,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Starts a discovery and waits for its end, good or bad. */
const discover = async (
  { client, taskQueue }: DiscoveryStack,
  key: DiscoveryKey,
): Promise<StartedDiscovery> => {
  const run = await startDiscovery(client, taskQueue, key);
  const handle = client.workflow.getHandle(run.workflowId, run.runId);
  // A discovery that ends INCOMPLETE is a failed workflow, which is what some scenes are about.
  await handle.result().catch(() => {});
  return run;
};

/** @returns an address at which nothing listens */
const nobody = async (): Promise<string> => `http://127.0.0.1:${await freePort()}/mcp`;

const finish = async (
  discoveries: DiscoveryStack,
  closing: (() => Promise<void>)[],
  state: string,
): Promise<StartedDiscovery> => {
  const server = await startInventoryServer({ state });
  closing.push(() => server.close());
  const key = await discoveries.register('inventory', server.url);
  const accepted = await discover(discoveries, key);
  await discover(discoveries, key);
  return accepted;
};

/** The second page has an object with one key twice. */
const fail = async (
  discoveries: DiscoveryStack,
  closing: (() => Promise<void>)[],
): Promise<StartedDiscovery> => {
  const server = await startBendableMcp({
    list: ({ cursor, id, result, bytes }) =>
      cursor === undefined
        ? result({
            tools: [{ name: 'parcel.track', inputSchema: { type: 'object' } }],
            nextCursor: 'page-2',
            _meta: { 'dev.genlock/catalogRevision': { incarnation: 'shipping-a', counter: 4 } },
          })
        : bytes(
            `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":[{"name":"parcel.send","name":"parcel.void","inputSchema":{"type":"object"}}]}}`,
          ),
  });
  closing.push(() => server.close());
  return discover(discoveries, await discoveries.register('shipping', server.url));
};

const hold = async (
  discoveries: DiscoveryStack,
  closing: (() => Promise<void>)[],
  state: string,
): Promise<StartedDiscovery> => {
  const server = await startInventoryServer({ state });
  closing.push(() => server.close());
  server.change({ op: 'hold', page: HELD_PAGE });
  const key = await discoveries.register('warehouse', server.url);
  const run = await startDiscovery(discoveries.client, discoveries.taskQueue, key);
  for (const end = Date.now() + HELD_LIMIT_MS; server.inventory.pace.waiting === 0; ) {
    if (Date.now() > end) throw new Error('The discovery that is to be held never asked for its page.');
    await pause(50);
  }
  return run;
};
