/** Ids, signal and search attributes of the workflows, pinned: schedules and running workflows hold them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import {
  discoveryWorkflowId,
  HINT_SIGNAL,
  refreshScheduleId,
  refreshWorkflowId,
  SEARCH_ATTRIBUTES,
  WORKFLOW_TYPES,
} from '../../../src/workflows/contract.js';

const key = (tenant: string, server: string, audience: string) =>
  ({ tenant, server, audience }) as unknown as DiscoveryKey;

describe('workflow ids', () => {
  test('one id for each (tenant, server, audience)', () => {
    const it = key('acme', 'inventory', 'warehouse.policy-1');
    expect(discoveryWorkflowId(it)).toBe('discovery:acme:inventory:warehouse.policy-1');
    expect(refreshWorkflowId(it)).toBe('refresh:acme:inventory:warehouse.policy-1');
    expect(refreshScheduleId(it)).toBe('schedule:refresh:acme:inventory:warehouse.policy-1');
  });

  test('S4 two keys never share an id, whatever stands in their parts', () => {
    const part = fc.stringMatching(/^[a:%/ -]{1,4}$/);
    const parts = fc.tuple(part, part, part);
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(discoveryWorkflowId(key(...a)) === discoveryWorkflowId(key(...b))).toBe(same);
      }),
    );
  });

  test('names that callers and running workflows rely on', () => {
    expect([HINT_SIGNAL, WORKFLOW_TYPES]).toEqual(['hint', { discovery: 'discovery', refresh: 'refresh' }]);
    expect(Object.values(SEARCH_ATTRIBUTES).map(({ name, type }) => `${name}=${type}`)).toEqual([
      'GenlockTenant=KEYWORD',
      'GenlockServer=KEYWORD',
      'GenlockAudience=KEYWORD',
      'GenlockState=KEYWORD',
      'GenlockReason=KEYWORD',
      'GenlockGeneration=INT',
    ]);
  });
});
