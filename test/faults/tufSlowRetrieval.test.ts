/** Slow retrieval: a source that sends just enough to look alive. Its time is bounded, and the worker's life does not show by it. */
import { describe, expect, test } from 'vitest';
import { durationMs } from '../../src/domain/ids.js';
import { discoveryWorkflowId } from '../../src/workflows/contract.js';
import type { Bend } from '../fixtures/bendableMcp.js';
import { at, tool } from '../integration/discovery/bentLists.js';
import { beginByteBent } from './byteBends.js';
import { type Fault, useFaults } from './expectations.js';

const stack = useFaults();

/** A piece every 100 milliseconds, without an end. */
const drip =
  (contentType: string, piece: string): Bend =>
  ({ response }) => {
    response.writeHead(200, { 'content-type': contentType });
    const timer = setInterval(() => response.write(piece), 100);
    response.on('close', () => clearInterval(timer));
  };
/** Whole pages, each within its time, and never the last. */
const slowPages: Bend = async (b) => {
  await new Promise((resolve) => setTimeout(resolve, 300));
  b.result({
    tools: [tool(`t${b.before}`)],
    nextCursor: `after-${b.before}`,
    _meta: { 'dev.genlock/catalogRevision': at(8) },
  });
};
/** Longer than a heartbeat may be missing (3 s): a worker that stopped to beat meanwhile would be given up. */
const TIMES = { pageTime: durationMs(60_000), scanTime: durationMs(5_000) };
const OVERDUE: Fault = { reason: 'DEADLINE_EXCEEDED', evidence: { limitMs: 5_000 } };

describe('D1 slow retrieval', () => {
  test.each<[string, Bend]>([
    ['a page of blanks, byte by byte', drip('application/json', ' ')],
    ['an event stream of comments', drip('text/event-stream', ':\n')],
    ['page after page in good time', slowPages],
  ])('D1 %s: the time of the scan ends it, in one attempt, and the old generation stays', async (_, list) => {
    const bent = await beginByteBent(stack, { limits: TIMES });
    bent.bend({ list });
    const { key, catalog } = bent.begun;
    const { runId } = await stack.expectFault(bent.begun, OVERDUE);
    const history = await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory();
    const attempts = (history.events ?? []).flatMap(
      ({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? [],
    );
    expect(attempts.length).toBeGreaterThan(0);
    expect(attempts.filter((attempt) => attempt !== 1)).toEqual([]);
    await stack.register(key, catalog.source);
    await stack.expectMended(bent.begun);
  });

  test('D1 a page that drips past its own time is given up, each of the times that it is asked for', async () => {
    const bent = await beginByteBent(stack, { limits: { pageTime: durationMs(1_000) } });
    let asked = 0;
    const slow = drip('application/json', ' ');
    bent.bend({
      list: (b) => {
        asked++;
        return slow(b);
      },
    });
    await stack.expectFault(bent.begun, { reason: 'PAGE_TIMEOUT', evidence: { limitMs: 1_000, page: 0 } });
    expect(asked).toBe(3);
    await stack.register(bent.begun.key, bent.begun.catalog.source);
    await stack.expectMended(bent.begun);
  });

  test('D3 a tail that drips leaves the pages bound to nothing', async () => {
    const bent = await beginByteBent(stack, { limits: { pageTime: durationMs(1_000) } });
    const slow = drip('application/json', ' ');
    const whole = { tools: [tool('one')], _meta: { 'dev.genlock/catalogRevision': at(8) } };
    let asked = 0;
    bent.bend({ list: (b) => (asked++ === 0 ? b.result(whole) : slow(b)) });
    await stack.expectFault(bent.begun, {
      reason: 'TAIL_UNVERIFIED',
      evidence: { fault: 'PAGE_TIMEOUT', limitMs: 1_000 },
    });
    await stack.register(bent.begun.key, bent.begun.catalog.source);
    await stack.expectMended(bent.begun);
  });
});
