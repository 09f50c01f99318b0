/**
 * V4: runs a synchronous function under a deadline that holds even in a loop without end. A watchdog thread of
 * node:vm stops it; starting one is not free, so it is kept for work that could be long.
 */
import vm from 'node:vm';
import type { DurationMs } from '../domain/ids.js';

const box: { task: () => unknown } = { task: () => undefined };
const context = vm.createContext(box);
const script = new vm.Script('task()');

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** @returns the value of the task, or that it took too long; what the task itself throws is passed on */
export const runWithin = <T>(task: () => T, deadline: DurationMs): { value: T } | 'late' => {
  let value: { value: T } | undefined;
  box.task = () => {
    value = { value: task() };
  };
  try {
    script.runInContext(context, { timeout: Math.max(1, Math.ceil(deadline)) });
  } catch (error) {
    if (isTimeout(error)) return 'late';
    throw error;
  } finally {
    box.task = () => undefined;
  }
  return value ?? 'late';
};
