/** F: notifications without end. They cost a handful of scans, whoever sends them, and lose no change. */
import { describe, expect, test } from 'vitest';
import { createTemporalControl } from '../../src/temporal/control.js';
import { startDiscovery } from '../../src/temporal/discoveryControl.js';
import { discoveryWorkflowId } from '../../src/workflows/contract.js';
import type { CatalogBend } from '../fixtures/catalogScript.js';
import { until } from '../integration/discovery/discoveryStack.js';
import { rounds } from '../support/testForm.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();
const onEachPage = (hints: number): CatalogBend[] =>
  NEXT.pages.map((_, page) => ({ page, hints, visit: 'each' as const }));

describe.each(['http', 'stdio'] as const)('D2 a server that notifies over %s', (transport) => {
  const start = () => (transport === 'http' ? stack.scripted(FIRST, { stream: true }) : stack.stdio());

  test('D2 at each list, 500 times: one scan, since its own notifications move no revision', async () => {
    const begun = await stack.begin(await start());
    const asked = (await begun.catalog.served()).length;
    await begun.catalog.order({ list: NEXT, bends: onEachPage(500) });
    expect(await stack.discover(begun.key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect(await stack.roundsOf(begun.key)).toHaveLength(1);
    expect((await begun.catalog.served()).slice(asked).map(({ page }) => page)).toEqual([0, 1, 2, 3, 0]);
    await stack.expectActive(begun.key, NEXT);
  });

  test('D2 10,000 times before one answer: the scan ends, and nothing else of the service does', async () => {
    const begun = await stack.begin(await start());
    await begun.catalog.order({ list: NEXT });
    const evidence = { page: 1, rule: 'more than 1000 messages in answer to one request' };
    await stack.expectFault(
      begun,
      { reason: 'NOT_MCP', evidence },
      { page: 1, hints: 10_000, visit: 'each' },
    );
    await stack.expectMended(begun);
  });
});

test('D2 hints by the thousand during one scan: few signals, a handful of scans, and the last change is not lost', async () => {
  const begun = await stack.begin(await stack.scripted());
  const { key, catalog } = begun;
  const hints = rounds(1_000, 10_000);
  const { hint } = createTemporalControl(stack.client, {
    taskQueue: stack.taskQueue,
    namespace: 'unused: no link is asked for',
    uiUrl: null,
  });
  await catalog.order({ list: NEXT, bends: [{ page: 2, stall: true }] });
  const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
  await until(async () => (await catalog.served()).at(-1)?.answered === 'stalled');
  const storm = () => Promise.all(Array.from({ length: hints / 10 }, () => hint(key)));
  for (let burst = 0; burst < 5; burst++) await storm();
  // The list moves half-way, and the stalled page goes on.
  const moved = listAt(9, 'a', 'b', 'c', 'd', 'e');
  await catalog.mend(moved);
  for (let burst = 0; burst < 5; burst++) await storm();
  const handle = stack.client.workflow.getHandle(discoveryWorkflowId(key));
  await until(async () => (await handle.describe()).status.name !== 'RUNNING');
  await stack.expectActive(key, moved);
  const { events } = await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory();
  const signals = events?.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal != null);
  // The first burst sends one at once and shares another; each later one shares one.
  expect(signals?.length).toBeGreaterThanOrEqual(5);
  expect(signals?.length).toBeLessThanOrEqual(11);
  const scans = await stack.operator.listDiscoveries(key.tenant, { server: key.server, limit: 100 });
  expect(scans.length).toBeLessThanOrEqual(15);
  expect(scans.filter(({ reason }) => reason === 'PROMOTED')).toHaveLength(2);
});
