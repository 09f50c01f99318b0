/**
 * The steps of a discovery in their order, by the names of their activities: the same words where a run starts, and
 * where it tells how far it is.
 */
export const DISCOVERY_STEPS = {
  scanPages: 'reads the list page by page and stores every page',
  verifyTail: 'asks again after the last page whether the list is still of that revision',
  checkContract: 'checks every tool, and compares with what is active',
  seal: 'seals the snapshot',
  promote: 'makes the new generation the active one, in one transaction',
} as const satisfies Record<string, string>;

export type StepName = keyof typeof DISCOVERY_STEPS;

export const STEP_NAMES = Object.keys(DISCOVERY_STEPS) as readonly StepName[];
