/** Builds real dependencies from configuration. Only programs and the dev stack call it. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createActivities } from './activities/index.js';
import { createApp } from './api/app.js';
import { type ApiConfig, environment, type WorkerConfig } from './config.js';
import { CatalogError } from './domain/errors.js';
import { epochMs } from './domain/ids.js';
import { createCallerVerifier } from './keys/callerToken.js';
import { loadKeySet } from './keys/keyFile.js';
import { createSessionSeal } from './keys/sessionSeal.js';
import { packageRoot } from './packageRoot.js';
import { bundleDigest, parseBundle } from './policy/bundle.js';
import { compilePolicy } from './policy/compilePolicy.js';
import { mcpSource } from './sources/mcp/mcpSource.js';
import { targetOf } from './sources/targetOf.js';
import { createAdmissionStore } from './store/postgres/admissionStore.js';
import { checkDatabase } from './store/postgres/migrate.js';
import { createOperatorStore } from './store/postgres/operatorStore.js';
import { createPool, query } from './store/postgres/pool.js';
import { createScanStore } from './store/postgres/scanStore.js';
import type { Logger } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';
import { connectTemporal } from './temporal/connect.js';
import { createTemporalControl } from './temporal/control.js';
import { isTemporalReady, startDiscovery } from './temporal/discoveryControl.js';
import { registerSearchAttributes } from './temporal/searchAttributes.js';
import { createWorker } from './temporal/worker.js';
import { createArgumentCheck } from './usecases/checkArguments.js';
import { createPolicies, type PolicyLanguage } from './usecases/policies.js';
import { startArgumentThreads } from './validation/argumentThreads.js';

/** Beside the compiled program: `npm run build` writes it. */
export const workflowBundlePath = (): string => join(packageRoot(), 'dist', 'workflow-bundle.js');
/** A thread needs its code as a file that Node itself can load, also where this program runs from its source. */
const argumentThreadPath = (): string =>
  join(packageRoot(), 'dist', 'src', 'validation', 'argumentThread.js');

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
    const policies = createPolicies({ policyBundle: store.readPolicyBundle }, bundleLanguage);
    const activities = createActivities({
      store,
      source: mcpSource,
      targetOf: (tenant, server, credential) =>
        targetOf(tenant, server, credential, {
          env: (name) => environment()[name],
          credentialsDir: config.credentialsDir,
          stdioTenants: config.stdioTenants,
          fingerprint: (secret) => keys.fingerprint(secret),
        }),
      policy: policies.ofEpoch,
      keys,
      sessions: createSessionSeal(config.sessionKeys),
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
      log,
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

export interface ApiProgram extends Program {
  /** Where it listens. */
  readonly url: string;
}

/** `aud` of leases: the enforcement points of this installation. */
const LEASE_AUDIENCE = 'genlock-enforcement';

/** @throws CatalogError CONFIG_INVALID/…, UNAVAILABLE/SCHEMA_TOO_OLD */
export const startApiProgram = async (config: ApiConfig, log: Logger): Promise<ApiProgram> => {
  const keys = await loadKeySet(config.keysFile);
  const started: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (let end = started.pop(); end !== undefined; end = started.pop()) await end();
  };
  const poolOf = async (url: string, name: string) => {
    const pool = createPool({
      url,
      size: config.poolSize,
      applicationName: `genlock ${name}`,
      onError: (error) => log.warn({ err: error }, 'a database connection broke'),
    });
    started.push(() => pool.end());
    await checkDatabase(pool, url);
    return pool;
  };
  try {
    const api = await poolOf(config.apiDatabaseUrl.reveal(), 'api');
    const operator = await poolOf(config.operatorDatabaseUrl.reveal(), 'operator');
    const client = await connectTemporal(config.temporal);
    started.push(() => client.connection.close());
    await registerSearchAttributes(client, config.temporal.namespace);
    const argumentThreads = await startArgumentThreads({ file: argumentThreadPath() });
    started.push(() => argumentThreads.close());
    const app = createApp({
      publicUrl: config.publicUrl,
      version: await packageVersion(),
      verifier: createCallerVerifier(config.callers),
      admissionStore: createAdmissionStore(api),
      operatorStore: createOperatorStore(operator),
      keys,
      language: bundleLanguage,
      checkArguments: createArgumentCheck(argumentThreads),
      control: createTemporalControl(client, { ...config.temporal, uiUrl: config.temporalUiUrl ?? null }),
      lease: { audience: LEASE_AUDIENCE, ttl: config.leaseTtl },
      requireBoundTokens: config.requireBoundTokens,
      checks: [
        { part: 'database', ready: async () => (await query(api, 'select 1', [])).length === 1 },
        { part: 'temporal', ready: () => isTemporalReady(client) },
      ],
      metrics: createMetrics(),
      log,
      now: () => epochMs(Date.now()),
      newId: randomUUID,
    });
    const { server, url } = await listen(app, config.listen);
    started.push(() => close(server));
    const done = new Promise<void>((end) => server.once('close', end));
    log.info({ url }, 'api listens');
    return { done, stop, url };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** The bundle format of src/policy, as the use cases know it. */
const bundleLanguage: PolicyLanguage = {
  parse: (value) => {
    const bundle = parseBundle(value);
    return { text: JSON.stringify(bundle), digest: bundleDigest(bundle) };
  },
  compile: (text, epoch) => compilePolicy(parseBundle(JSON.parse(text)), epoch),
};

const packageVersion = async (): Promise<string> =>
  (JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;

/**
 * How long a request may take to arrive, in milliseconds; bodies are small. The headers are all that is read before a
 * caller is known, so they get less. A connection that is over its time is found within the interval.
 */
const ARRIVAL = { requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 5_000 };

/** @throws CatalogError CONFIG_INVALID/PORT_IN_USE */
const listen = (
  app: RequestListener,
  { host, port }: ApiConfig['listen'],
): Promise<{ server: Server; url: string }> =>
  new Promise((resolve, reject) => {
    const server = createServer(ARRIVAL, app);
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(new CatalogError('CONFIG_INVALID', 'PORT_IN_USE', { host, port, error: cause.code }, { cause })),
    );
    server.listen(port, host, () => {
      const address = server.address();
      const chosen = typeof address === 'object' && address !== null ? address.port : port;
      resolve({ server, url: `http://${host.includes(':') ? `[${host}]` : host}:${chosen}` });
    });
  });

/** Answers what is under way, then ends; idle connections of clients do not hold it up. */
const close = (server: Server): Promise<void> =>
  new Promise((end) => {
    server.close(() => end());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 2_000).unref();
  });
