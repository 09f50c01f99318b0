/** The health check of a worker tells one that polls from one that does not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { ownTaskQueue, type TestTemporalQueue } from '../support/temporal.js';

const PROGRAM = fileURLToPath(new URL('../../src/bin/workerHealth.ts', import.meta.url));
const TSX = createRequire(import.meta.url).resolve('tsx');

const health = async (queue: TestTemporalQueue, name: string): Promise<number | null> => {
  const child = spawn(process.execPath, ['--import', TSX, PROGRAM], {
    stdio: 'ignore',
    env: {
      TEMPORAL_ADDRESS: queue.address,
      TEMPORAL_NAMESPACE: queue.namespace,
      GENLOCK_TASK_QUEUE: queue.taskQueue,
      GENLOCK_WORKER_NAME: name,
      GENLOCK_WORKER_DATABASE_URL: 'postgres://genlock_worker:unused@127.0.0.1/unused',
      GENLOCK_SESSION_KEYS: 'k'.repeat(43),
      GENLOCK_KEYS_FILE: 'unused',
      GENLOCK_PUBLIC_URL: 'http://127.0.0.1:1',
    },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
};

describe('health of a worker', () => {
  test('a worker that polls is healthy; a name that nobody polls under is not', async () => {
    const queue = ownTaskQueue();
    const connection = await NativeConnection.connect({ address: queue.address });
    try {
      const worker = await Worker.create({
        connection,
        namespace: queue.namespace,
        taskQueue: queue.taskQueue,
        identity: 'blue-1',
        workflowBundle: { codePath: queue.bundle },
        activities: { nothing: async () => {} },
      });
      await worker.runUntil(async () => {
        await expect.poll(() => health(queue, 'blue-1'), { timeout: 30_000 }).toBe(0);
        expect(await health(queue, 'blue-2')).toBe(1);
      });
    } finally {
      await connection.close();
    }
  });

  test('Temporal out of reach is not healthy', async () => {
    expect(await health({ ...ownTaskQueue(), address: '127.0.0.1:1' }, 'blue-1')).toBe(1);
  });
});
