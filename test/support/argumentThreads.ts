/** Threads that check arguments, for tests, which have no build. */
import { fileURLToPath } from 'node:url';
import { startArgumentThreads, type ThreadOptions } from '../../src/validation/argumentThreads.js';

export const startThreads = (options: Omit<ThreadOptions, 'file'> = {}) =>
  startArgumentThreads({
    ...options,
    file: fileURLToPath(new URL('argumentThread.mjs', import.meta.url)),
  });
