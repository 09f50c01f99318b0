/**
 * What a hostile source can do to the run itself: the tail keeps to the rules of the pages, and steps that work on a
 * source's bytes are tried a bounded number of times.
 */
import { describe, expect, test } from 'vitest';
import { durationMs } from '../../../src/domain/ids.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import type { Bend } from '../../fixtures/bendableMcp.js';
import { at, serveList, tools } from '../discovery/bentLists.js';
import { ownKey, useDiscovery } from '../discovery/discoveryStack.js';

const stack = useDiscovery();
const good = serveList(() => ({ pages: [tools(2)], revision: at(1) }));
const speaking =
  (version: (before: number) => string): Bend =>
  (bent) =>
    bent.result({
      protocolVersion: version(bent.before),
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '0' },
    });

describe('the tail of a hostile source', () => {
  test('S1 D3 a tail in another protocol than the pages is PROTOCOL_UNSUPPORTED', async () => {
    const server = await stack.bent({
      list: good,
      initialize: speaking((before) => (before === 0 ? '2025-11-25' : '2025-06-18')),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({
      reason: 'PROTOCOL_UNSUPPORTED',
      evidence: { negotiated: '2025-06-18', supported: ['2025-11-25'] },
    });
  });

  test('D3 a tail that does not come keeps to the deadline of the scan', async () => {
    const server = await stack.bent({
      list: (bent) => (bent.before === 0 ? good(bent) : undefined),
    });
    const key = ownKey();
    await stack.register(key, server.url, {
      limits: { pageTime: durationMs(60_000), scanTime: durationMs(3_000) },
    });
    expect(await stack.discover(key)).toMatchObject({
      reason: 'DEADLINE_EXCEEDED',
      evidence: { at: 'tail', limitMs: 3_000 },
    });
  });

  test('a page alone that holds more tools than the list may is TOOL_BUDGET_EXCEEDED', async () => {
    const server = await stack.bent({ list: serveList(() => ({ pages: [tools(50)], revision: at(1) })) });
    const key = ownKey();
    await stack.register(key, server.url, { limits: { tools: 49 } });
    expect(await stack.discover(key)).toMatchObject({
      reason: 'TOOL_BUDGET_EXCEEDED',
      evidence: { page: 0, tools: 50, limit: 49, pages: 0 },
    });
  });
});

describe('D6 how often a step is tried', () => {
  test('steps on the bytes of a source end after 20 attempts, the others wait for the store', async () => {
    const server = await stack.bent({ list: good });
    const key = ownKey();
    await stack.register(key, server.url);
    const { runId, state } = await stack.discover(key);
    expect(state).toBe('ELIGIBLE');
    const { events } = await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory();
    const attempts = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: step }) =>
      step == null ? [] : [[step.activityType?.name, step.retryPolicy?.maximumAttempts]],
    );
    expect(attempts).toEqual([
      ['scanPages', 20],
      ['verifyTail', 20],
      ['checkContract', 20],
      ['seal', 20],
      ['promote', 0],
    ]);
  });
});
