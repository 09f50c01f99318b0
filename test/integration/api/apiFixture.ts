/**
 * The API on a port of its own: real Postgres under its real roles, a real issuer, the real client. Generations are
 * promoted through the worker's store, as activities do, so that no test has to wait for a scan.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createApp } from '../../../src/api/app.js';
import { type ClientOptions, createClient, type GenlockClient } from '../../../src/client/client.js';
import { createDpopKey, type DpopKey } from '../../../src/client/dpopKey.js';
import { type DevIssuer, startDevIssuer } from '../../../src/dev/issuer.js';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { durationMs, epochMs, parseTenantId, type TenantId } from '../../../src/domain/ids.js';
import { createCallerVerifier } from '../../../src/keys/callerToken.js';
import { loadKeySet } from '../../../src/keys/keyFile.js';
import type { KeySet } from '../../../src/keys/keySet.js';
import { bundleDigest, parseBundle } from '../../../src/policy/bundle.js';
import { compilePolicy } from '../../../src/policy/compilePolicy.js';
import type { AdmissionStore } from '../../../src/store/admissionStore.js';
import { createAdmissionStore } from '../../../src/store/postgres/admissionStore.js';
import { createOperatorStore } from '../../../src/store/postgres/operatorStore.js';
import { createPool } from '../../../src/store/postgres/pool.js';
import { createScanStore } from '../../../src/store/postgres/scanStore.js';
import type { ScanStore } from '../../../src/store/scanStore.js';
import { createMetrics } from '../../../src/telemetry/metrics.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { createTemporalControl } from '../../../src/temporal/control.js';
import { createArgumentCheck } from '../../../src/usecases/checkArguments.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { startThreads } from '../../support/argumentThreads.js';
import { cloneDatabase } from '../../support/database.js';
import '../../support/services.js';

export const AUDIENCE = 'warehouse.policy-1';

export interface Person {
  readonly client: GenlockClient;
  readonly key: DpopKey;
  readonly token: string;
}

export interface ApiFixture {
  /** Of this fixture only: Temporal is shared with other test files, and ids of workflows hold the tenant. */
  readonly tenant: TenantId;
  readonly otherTenant: TenantId;
  readonly url: string;
  /** Of the database, as its superuser. */
  readonly adminUrl: string;
  readonly issuer: DevIssuer;
  readonly keys: KeySet;
  readonly scans: ScanStore;
  readonly admissions: AdmissionStore;
  readonly log: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[];
  /** Moves the clock of the API, in milliseconds. */
  readonly clock: { shift: number };
  /** Answers once for the next views, so that a test can act between a view and its commit. */
  readonly betweenViewAndCommit: { act: (() => Promise<unknown>) | null };
  person(subject: string, roles: readonly string[], more?: PersonWishes): Promise<Person>;
  stop(): Promise<void>;
}

export interface PersonWishes {
  readonly tenant?: string;
  readonly bound?: boolean;
  readonly ttlSeconds?: number;
}

const TOKEN_AUDIENCE = 'genlock';
export const LEASE_AUDIENCE = 'genlock-test';

export const startApi = async (
  wishes: { readonly requireBoundTokens?: boolean } = {},
): Promise<ApiFixture> => {
  const database = await cloneDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'genlock-api-'));
  const pools = (['apiUrl', 'operatorUrl', 'workerUrl'] as const).map((role) =>
    createPool({ url: database[role], size: 6, applicationName: `genlock tests ${role}` }),
  );
  const [api, operator, worker] = pools;
  if (api === undefined || operator === undefined || worker === undefined) throw new Error('three pools');
  const issuer = await startDevIssuer({
    keyFile: join(folder, 'issuer.json'),
    audience: TOKEN_AUDIENCE,
    port: 0,
  });
  const keys = await loadKeySet(join(folder, 'keys.json'));
  const temporal = inject('temporal');
  const client = await connectTemporal(temporal);
  // A queue that no worker of this run polls: discoveries start, and stay started until this file ends.
  const control = createTemporalControl(client, {
    namespace: temporal.namespace,
    taskQueue: `api-tests-${randomUUID()}`,
    uiUrl: 'http://127.0.0.1:8233',
  });
  const started = new Map<string, DiscoveryKey>();
  const run = randomUUID().slice(0, 8);
  const tenant = parseTenantId(`acme-${run}`);
  const argumentThreads = await startThreads({ threads: 1 });
  const log: ApiFixture['log'] = [];
  const clock = { shift: 0 };
  const betweenViewAndCommit: ApiFixture['betweenViewAndCommit'] = { act: null };
  const real = createAdmissionStore(api);
  const admissions: AdmissionStore = {
    ...real,
    commitDecisions: async (...args) => {
      const { act } = betweenViewAndCommit;
      if (act !== null) await act();
      return real.commitDecisions(...args);
    },
  };

  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const note = (fields: Readonly<Record<string, unknown>>, message: string) => log.push({ message, fields });
  server.on(
    'request',
    createApp({
      publicUrl: url,
      version: '0.0.0-test',
      verifier: createCallerVerifier({
        issuer: issuer.issuer,
        jwksUrl: new URL(issuer.jwksUrl),
        audience: TOKEN_AUDIENCE,
      }),
      admissionStore: admissions,
      operatorStore: createOperatorStore(operator),
      keys,
      language: {
        parse: (value) => {
          const bundle = parseBundle(value);
          return { text: JSON.stringify(bundle), digest: bundleDigest(bundle) };
        },
        compile: (text, epoch) => compilePolicy(parseBundle(JSON.parse(text)), epoch),
      },
      checkArguments: createArgumentCheck(argumentThreads),
      control: {
        ...control,
        start: (key) => {
          started.set(discoveryWorkflowId(key), key);
          return control.start(key);
        },
        hint: (key) => {
          started.set(discoveryWorkflowId(key), key);
          return control.hint(key);
        },
      },
      lease: { audience: LEASE_AUDIENCE, ttl: durationMs(10_000) },
      requireBoundTokens: wishes.requireBoundTokens ?? false,
      checks: [
        { part: 'database', ready: async () => (await api.query('select 1')).rowCount === 1 },
        { part: 'broken', ready: () => Promise.reject(new Error('secret driver text')) },
      ],
      metrics: createMetrics(),
      log: { info: note, error: note },
      now: () => epochMs(Date.now() + clock.shift),
      newId: randomUUID,
    }),
  );

  return {
    tenant,
    otherTenant: parseTenantId(`globex-${run}`),
    url,
    adminUrl: database.adminUrl,
    issuer,
    keys,
    scans: createScanStore(worker),
    admissions: real,
    log,
    clock,
    betweenViewAndCommit,
    person: async (subject, roles, { tenant: whose = tenant, bound = false, ttlSeconds = 600 } = {}) => {
      const key = await createDpopKey();
      const token = issuer.mint({
        tenant: whose,
        subject,
        roles,
        ttlSeconds,
        ...(bound && { jkt: key.jkt }),
      });
      const options: ClientOptions = { baseUrl: url, token, key };
      return { client: createClient(options), key, token };
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await issuer.close();
      for (const [workflowId, key] of started) {
        await control.ensureSchedule(key, 0);
        await client.workflow.getHandle(workflowId).terminate('the test is over');
      }
      await client.connection.close();
      await argumentThreads.close();
      for (const pool of pools) await pool.end();
      await rm(folder, { recursive: true, force: true });
      await database.drop();
    },
  };
};
