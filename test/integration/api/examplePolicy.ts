/** A bundle as a request body: a class for managers, one for viewers, and permits that leave some tools without one. */
import type { AUDIENCE } from './apiFixture.js';

const audience: typeof AUDIENCE = 'warehouse.policy-1';

export const bundle = (permitted: readonly string[] = ['inventory.reserve@1', 'inventory.count@1']) => ({
  audiences: [
    { audienceClass: audience, when: { anyRole: ['stock-manager'] } },
    { audienceClass: 'viewer.policy-1', when: { anyRole: ['stock-viewer'] } },
  ],
  tools: {
    'inventory.reserve@1': { effectClass: 'RESERVATION', resource: 'inventory/{/warehouse}/{/sku}' },
    'inventory.reserve@2': { effectClass: 'RESERVATION', resource: 'inventory/{/warehouse}/{/sku}' },
    'inventory.count@1': { effectClass: 'READ', resource: '*', shortDescription: 'Counts stock.' },
    'inventory.dispose@1': { effectClass: 'DESTRUCTIVE', resource: 'inventory/{/warehouse}/{/sku}' },
  },
  permits: [
    ...(permitted.length > 0
      ? [{ id: 'managers', roles: ['stock-manager'], tools: permitted, modes: ['autonomous'] }]
      : []),
    { id: 'asked', roles: ['stock-manager'], tools: ['inventory.dispose@1'], modes: ['confirmed'] },
  ],
});

export const CLASSES = { reserve: 'RESERVATION', count: 'READ', dispose: 'DESTRUCTIVE' } as const;
