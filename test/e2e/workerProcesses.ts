/** Workers as they are shipped: processes of their own, from dist, on the services of the test run. */
import { join } from 'node:path';
import { inject } from 'vitest';
import '../support/services.js';
import { type ReadyProcess, startReadyProcess } from '../../src/dev/readyProcess.js';
import { packageRoot } from '../../src/packageRoot.js';
import type { DiscoveryStack } from '../integration/discovery/discoveryStack.js';

/** Starts `genlock worker` under a name that pages will show. */
export const startWorker = (stack: DiscoveryStack, name: string): Promise<ReadyProcess> => {
  const { address, namespace } = inject('temporal');
  return startReadyProcess({
    name,
    command: process.execPath,
    args: [join(packageRoot(), 'dist', 'src', 'bin', 'genlock.js'), 'worker'],
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      GENLOCK_TASK_QUEUE: stack.taskQueue,
      GENLOCK_KEYS_FILE: join(stack.folder, 'signing-keys.json'),
      GENLOCK_PUBLIC_URL: 'http://127.0.0.1:1',
      GENLOCK_WORKER_DATABASE_URL: stack.database.workerUrl,
      GENLOCK_WORKER_NAME: name,
      GENLOCK_LOG_LEVEL: 'error',
    },
  });
};
