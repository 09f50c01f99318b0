/** Builds real dependencies from configuration. Only programs and the dev stack call it. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createActivities } from './activities/index.js';
import { environment, type WorkerConfig } from './config.js';
import { epochMs, type TenantId } from './domain/ids.js';
import { loadKeySet } from './keys/keyFile.js';
import { packageRoot } from './packageRoot.js';
import { parseBundle } from './policy/bundle.js';
import { compilePolicy } from './policy/compilePolicy.js';
import { mcpSource } from './sources/mcp/mcpSource.js';
import { targetOf } from './sources/targetOf.js';
import { checkDatabase } from './store/postgres/migrate.js';
import { createPool } from './store/postgres/pool.js';
import { createScanStore } from './store/postgres/scanStore.js';
import type { ScanStore } from './store/scanStore.js';
import type { Logger } from './telemetry/log.js';
import { connectTemporal } from './temporal/connect.js';
import { startDiscovery } from './temporal/discoveryControl.js';
import { registerSearchAttributes } from './temporal/searchAttributes.js';
import { createWorker } from './temporal/worker.js';

/** Beside the compiled program: `npm run build` writes it. */
export const workflowBundlePath = (): string => join(packageRoot(), 'dist', 'workflow-bundle.js');

export interface Program {
  /** Resolves when the program has ended by itself or by `stop`. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerProgram extends Program {
  /** As it stands in pages and in Temporal. */
  readonly name: string;
}

/** @throws CatalogError CONFIG_INVALID/…, UNAVAILABLE/SCHEMA_TOO_OLD */
export const startWorkerProgram = async (config: WorkerConfig, log: Logger): Promise<WorkerProgram> => {
  const keys = await loadKeySet(config.keysFile);
  const url = config.databaseUrl.reveal();
  const worker = config.workerName ?? `${hostname()}/${process.pid}`;
  const pool = createPool({
    url,
    size: config.poolSize,
    applicationName: 'genlock worker',
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  try {
    await checkDatabase(pool, url);
    const client = await connectTemporal(config.temporal);
    await registerSearchAttributes(client, config.temporal.namespace);
    const store = createScanStore(pool);
    const activities = createActivities({
      store,
      source: mcpSource,
      targetOf: (server, credential) =>
        targetOf(server, credential, {
          env: (name) => environment()[name],
          file: (path) => readFile(path, 'utf8'),
        }),
      policy: policyReader(store),
      keys,
      startDiscovery: async (key) => {
        await startDiscovery(client, config.temporal.taskQueue, key);
      },
      worker,
      now: () => epochMs(Date.now()),
      newId: randomUUID,
      pause: async (ms, signal) => {
        await sleep(ms, undefined, { signal });
      },
    });
    const running = await createWorker({
      ...config.temporal,
      identity: worker,
      workflowBundle: workflowBundlePath(),
      activities,
    });
    const done = running.run().finally(async () => {
      await client.connection.close();
      await pool.end();
    });
    log.info({ worker, taskQueue: config.temporal.taskQueue }, 'worker runs');
    return {
      name: worker,
      done,
      stop: async () => {
        running.shutdown();
        await done;
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
};

/** Compiled policies by (tenant, epoch): an epoch never changes, so what was compiled once holds. */
const policyReader = (store: ScanStore) => {
  const kept = new Map<string, Promise<ReturnType<typeof compilePolicy> | null>>();
  const read = async (tenant: TenantId, epoch: number) => {
    const found = epoch === 0 ? null : await store.readPolicyBundle(tenant, epoch);
    return found === null ? null : compilePolicy(parseBundle(JSON.parse(found.bundle)), found.epoch);
  };
  return (tenant: TenantId, epoch: number) => {
    const key = `${tenant}/${epoch}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const compiled = read(tenant, epoch);
    if (kept.size >= 100) kept.delete(kept.keys().next().value ?? '');
    kept.set(key, compiled);
    compiled.catch(() => kept.delete(key));
    return compiled;
  };
};
