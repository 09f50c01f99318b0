/** Workers as they are shipped: processes of their own, from dist, that tests kill, stop and freeze. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type ReadyProcess, startReadyProcess } from '../../src/dev/readyProcess.js';
import { packageRoot } from '../../src/packageRoot.js';
import type { DiscoveryStack } from '../integration/discovery/discoveryStack.js';

/** A worker, under the name that pages show. */
export interface NamedWorker extends ReadyProcess {
  readonly name: string;
}

export interface Workers {
  start(env?: Readonly<Record<string, string>>): Promise<NamedWorker>;
  /** The one that a test begins with: who finished the test before, else a new one. */
  survivor(): Promise<NamedWorker>;
  /** Tells all to stop that run. */
  endAll(): Promise<void>;
  /** @returns its exit code */
  end(worker: NamedWorker, signal: 'SIGKILL' | 'SIGTERM'): Promise<number>;
}

/** All workers of a file have it: one goes on in the session of another. */
export const SESSION_KEY = randomBytes(32).toString('base64');

/** Those that are left end with the file. */
export const useWorkers = (stack: DiscoveryStack): Workers => {
  const running = new Set<NamedWorker>();
  let count = 0;
  const endAll = async (): Promise<void> => {
    await Promise.all([...running].map((worker) => worker.stop()));
    running.clear();
  };
  afterAll(endAll);
  const start: Workers['start'] = async (env = {}) => {
    const name = `worker-${++count}`;
    const started = await startReadyProcess({
      name,
      command: process.execPath,
      args: [join(packageRoot(), 'dist', 'src', 'bin', 'genlock.js'), 'worker'],
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        TEMPORAL_ADDRESS: stack.temporal.address,
        TEMPORAL_NAMESPACE: stack.temporal.namespace,
        GENLOCK_TASK_QUEUE: stack.taskQueue,
        GENLOCK_KEYS_FILE: join(stack.folder, 'signing-keys.json'),
        GENLOCK_PUBLIC_URL: 'http://127.0.0.1:1',
        GENLOCK_WORKER_DATABASE_URL: stack.database.workerUrl,
        GENLOCK_WORKER_NAME: name,
        GENLOCK_STDIO_TENANTS: 'acme',
        GENLOCK_SESSION_KEYS: SESSION_KEY,
        GENLOCK_LOG_LEVEL: 'error',
        ...env,
      },
    });
    const worker = { ...started, name };
    running.add(worker);
    return worker;
  };
  return {
    start,
    endAll,
    survivor: async () => [...running][0] ?? (await start()),
    end: async (worker, signal) => {
      running.delete(worker);
      process.kill(worker.pid, signal);
      return await worker.exited;
    },
  };
};
