/** What another attempt makes of the pages that are stored (D6). */
import { expect, test } from 'vitest';
import { parseDigest } from '../../../src/domain/ids.js';
import { type PageFacts, resumeScan } from '../../../src/domain/pagination.js';
import { DEFAULT_SCAN_LIMITS } from '../../../src/domain/scanLimits.js';

const A = parseDigest(`sha256:${'a'.repeat(64)}`);
const page = (name: string, cursors: Pick<PageFacts, 'requestCursor' | 'nextCursor'>): PageFacts => ({
  ...cursors,
  tools: [{ name, descriptor: A }],
  bytes: 100,
  revision: { binding: 'SERVER_REVISION', value: { incarnation: 'i', counter: 1 } },
  identity: A,
});
const first = page('a', { requestCursor: undefined, nextCursor: 'x' });
const last = page('b', { requestCursor: 'x', nextCursor: undefined });

test('D6 nothing stored begins with the first page', () => {
  const resumed = resumeScan([], DEFAULT_SCAN_LIMITS);
  expect(resumed).toMatchObject({ kind: 'ready', cursor: undefined, complete: false, scan: { pages: 0 } });
});

test('D6 the cursor of the last stored page is the next one asked for', () => {
  const resumed = resumeScan([first], DEFAULT_SCAN_LIMITS);
  expect(resumed).toMatchObject({ kind: 'ready', cursor: 'x', complete: false, scan: { pages: 1 } });
});

test('D6 a list whose last page is stored is asked for nothing more', () => {
  const resumed = resumeScan([first, last], DEFAULT_SCAN_LIMITS);
  expect(resumed).toMatchObject({ kind: 'ready', complete: true, scan: { pages: 2, bytes: 200 } });
});

test('D6 limits that were lowered meanwhile hold for the stored pages too', () => {
  const resumed = resumeScan([first, last], { ...DEFAULT_SCAN_LIMITS, tools: 1 });
  expect(resumed).toMatchObject({ kind: 'stop', reason: 'TOOL_BUDGET_EXCEEDED', scan: { pages: 1 } });
});
