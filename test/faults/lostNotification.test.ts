/** F: a change whose notification is lost, or came too early. The schedule finds it: no freshness rests on a notification. */
import { expect, test } from 'vitest';
import { ensureRefreshSchedule, hintDiscovery } from '../../src/temporal/discoveryControl.js';
import { until } from '../integration/discovery/discoveryStack.js';
import { NEXT, useFaults } from './expectations.js';

const stack = useFaults();

test('D2 S7 a change that nobody tells of is found by the schedule', async () => {
  const begun = await stack.begin(await stack.scripted());
  await begun.catalog.mend(NEXT);
  await ensureRefreshSchedule(stack.client, stack.taskQueue, begun.key, 1);
  await until(async () => (await stack.store.active(begun.key))?.generation === 2);
  await ensureRefreshSchedule(stack.client, stack.taskQueue, begun.key, 0);
  await stack.expectActive(begun.key, NEXT);
});

test('D2 S7 a server that notifies before its own list has moved is found out by the schedule as well', async () => {
  const begun = await stack.begin(await stack.scripted());
  const { runId } = await hintDiscovery(stack.client, stack.taskQueue, begun.key);
  expect(await stack.outcomeOf(begun.key, runId)).toMatchObject({ reason: 'UNCHANGED', generation: 1 });
  await begun.catalog.mend(NEXT);
  await ensureRefreshSchedule(stack.client, stack.taskQueue, begun.key, 1);
  await until(async () => (await stack.store.active(begun.key))?.generation === 2);
  await ensureRefreshSchedule(stack.client, stack.taskQueue, begun.key, 0);
  await stack.expectActive(begun.key, NEXT);
});
