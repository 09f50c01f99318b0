/** Starts the services once for all suites that need them, and stops them when the last such suite has ended. */
import type { TestProject } from 'vitest/node';
import './services.js';
import { startTestStack, type TestStack } from './testStack.js';

interface Shared {
  users: number;
  stack: Promise<TestStack>;
}

// Each suite loads this file anew, in one process; only the global object is common to them.
const KEY = Symbol.for('genlock.tests.stack');
const common = globalThis as { [KEY]?: Shared | undefined };

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const shared: Shared = common[KEY] ?? { users: 0, stack: startTestStack() };
  common[KEY] = shared;
  shared.users++;
  const stack = await shared.stack;
  project.provide('postgres', stack.postgres);
  project.provide('temporal', stack.temporal);
  return async () => {
    shared.users--;
    if (shared.users > 0) return;
    common[KEY] = undefined;
    await stack.stop();
  };
};
