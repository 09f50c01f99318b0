/** The demo's exit code: 0 only where every part came out as the README promises. */
import { describe, expect, test } from 'vitest';
import { type DemoResult, isAsPromised, resultRows } from '../../../../src/dev/demo/result.js';

const good: DemoResult = {
  versioned: { state: 'ELIGIBLE', generation: 1, tools: 120, pages: 5 },
  unversioned: { state: 'UNVERSIONED_OBSERVATION', tools: 13 },
  admitted: { lease: 'lease-1', receipt: 'receipt-1', verified: true },
  revoked: { code: 'POLICY_REVOKED' },
  stale: { code: 'STALE_CATALOG', activeGeneration: 2 },
  killed: { state: 'ELIGIBLE', pagesByWorker: [2, 3], fetchedTwice: 0 },
  seconds: 20,
};

describe('what the demo promises', () => {
  test('holds for what the README shows, whichever worker fetched how many pages', () => {
    expect(isAsPromised(good)).toBe(true);
    expect(isAsPromised({ ...good, killed: { ...good.killed, pagesByWorker: [4, 1] } })).toBe(true);
  });

  test.each<[string, Partial<DemoResult>]>([
    ['the versioned list was not accepted', { versioned: { ...good.versioned, state: 'INCOMPLETE' } }],
    ['it is another generation', { versioned: { ...good.versioned, generation: 2 } }],
    ['it has no generation', { versioned: { ...good.versioned, generation: null } }],
    ['a tool is missing', { versioned: { ...good.versioned, tools: 119 } }],
    ['a page is missing', { versioned: { ...good.versioned, pages: 4 } }],
    ['the unversioned list was accepted', { unversioned: { ...good.unversioned, state: 'ELIGIBLE' } }],
    ['an unversioned tool is missing', { unversioned: { ...good.unversioned, tools: 12 } }],
    ['the second process verified nothing', { admitted: { ...good.admitted, verified: false } }],
    ['the revocation did not hold', { revoked: { code: 'ALLOWED' } }],
    ['the old plan was not refused', { stale: { ...good.stale, code: 'ALLOWED' } }],
    ['the change was not accepted', { stale: { ...good.stale, activeGeneration: 1 } }],
    ['the interrupted run did not end', { killed: { ...good.killed, state: 'INCOMPLETE' } }],
    ['the killed worker had fetched nothing', { killed: { ...good.killed, pagesByWorker: [0, 5] } }],
    ['the second worker fetched nothing', { killed: { ...good.killed, pagesByWorker: [5, 0] } }],
    ['the pages do not add up', { killed: { ...good.killed, pagesByWorker: [2, 2] } }],
    ['a page was fetched twice', { killed: { ...good.killed, fetchedTwice: 1 } }],
  ])('is broken where %s', (_, change) => {
    expect(isAsPromised({ ...good, ...change })).toBe(false);
  });

  test('the table says so where a lease or a receipt was not verified', () => {
    const shown = (result: DemoResult): string => resultRows(result).flat().join('\n');
    expect(shown(good)).toContain('verified by a second process');
    expect(shown({ ...good, admitted: { ...good.admitted, verified: false } })).toContain('NOT VERIFIED');
  });
});
