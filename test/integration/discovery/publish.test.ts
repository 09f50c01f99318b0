/** P1: what an operator changes in the middle of a scan is what the content is bound to in the end. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { epochMs } from '../../../src/domain/ids.js';
import { packageRoot } from '../../../src/packageRoot.js';
import { bundleDigest, parseBundle } from '../../../src/policy/bundle.js';
import { readBundle } from '../../../src/policy/readBundle.js';
import { createTemporalControl } from '../../../src/temporal/control.js';
import { startDiscovery } from '../../../src/temporal/discoveryControl.js';
import { publishPolicy } from '../../../src/usecases/publishPolicy.js';
import { registerServer } from '../../../src/usecases/registerServer.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { ownKey, until, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

/** The use cases as the API calls them, over this file's store and Temporal. */
const operatorDeps = () => ({
  store: stack.operator,
  control: createTemporalControl(stack.client, {
    taskQueue: stack.taskQueue,
    namespace: 'unused: no link is asked for',
    uiUrl: null,
  }),
  keys: stack.keys,
  now: () => epochMs(Date.now()),
  newId: randomUUID,
  language: {
    parse: (value: unknown) => {
      const bundle = parseBundle(value);
      return { text: JSON.stringify(bundle), digest: bundleDigest(bundle) };
    },
  },
});
const operatorOf = ({ tenant }: DiscoveryKey) => ({ tenant, subject: 'olga', requestId: 'q' });

/** Signals that a run heard: one that is only found by its id would end on what it saw before. */
const hintsTo = async (key: DiscoveryKey, runId: string): Promise<number> => {
  const { events } = await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
};

const heldInMidScan = async (key: DiscoveryKey) => {
  const inventory = await stack.inventory();
  await stack.register(key, inventory.url);
  const { pace } = inventory.inventory;
  pace.hold(2);
  const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
  await until(() => pace.waiting > 0);
  return { inventory, pace, runId };
};

describe('P1 in the middle of a scan', () => {
  test('a policy that is published is the one that the active content is bound to', async () => {
    const key = ownKey();
    expect(await stack.publishPolicy()).toBe(1);
    const { pace, runId } = await heldInMidScan(key);

    const bundle = await readBundle(join(packageRoot(), 'examples', 'policy'));
    const published = await publishPolicy(operatorDeps(), operatorOf(key), bundle, 1);
    expect(published).toMatchObject({ epoch: 2, rebinding: [{ server: key.server, failed: null }] });
    pace.release();

    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', failed: false });
    expect(await hintsTo(key, runId)).toBe(1);
    expect(await stack.store.active(key)).toMatchObject({ policyEpoch: 2 });
  });

  test('a change of trust that is registered is the one that the content was scanned under', async () => {
    const key = ownKey();
    const { inventory, pace, runId } = await heldInMidScan(key);
    const changed = await registerServer(operatorDeps(), operatorOf(key), {
      name: key.server,
      namespace: key.server,
      source: { kind: 'mcp-http', url: inventory.url },
      audiences: { [key.audience]: 'none' },
      trust: { allowPrivateAddresses: true },
      contract: { shrinkShare: 0.9 },
      refreshSeconds: 0,
    });
    expect(changed).toMatchObject({ outcome: 'changed', server: { trustVersion: 2 } });
    pace.release();

    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', failed: false });
    expect(await hintsTo(key, runId)).toBe(1);
    expect(await stack.store.active(key)).toMatchObject({ trustVersion: 2 });
  });
});
