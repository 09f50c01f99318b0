/** What a test file needs of the shared Temporal: a task queue that no other file polls. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import './services.js';

export interface TestTemporalQueue {
  /** host:port */
  readonly address: string;
  readonly namespace: string;
  /** For `workflowBundle: { codePath }`. */
  readonly bundle: string;
  readonly taskQueue: string;
}

export const ownTaskQueue = (): TestTemporalQueue => ({
  ...inject('temporal'),
  taskQueue: `test-${randomBytes(6).toString('hex')}`,
});
