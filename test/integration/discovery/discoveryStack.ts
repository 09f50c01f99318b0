/** Discovery as it runs: a real database, the real Temporal, real servers, and a worker in this process. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import {
  type InventoryOptions,
  type InventoryServer,
  startInventoryServer,
} from '../../../examples/inventory-mcp/server.js';
import { createActivities } from '../../../src/activities/index.js';
import type { DiscoveryResult } from '../../../src/domain/discoveryResult.js';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import {
  type AudienceClass,
  epochMs,
  parseAudienceClass,
  parseNamespace,
  parseServerName,
  parseTenantId,
} from '../../../src/domain/ids.js';
import { DEFAULT_SCAN_LIMITS, type ScanLimits } from '../../../src/domain/scanLimits.js';
import { Secret } from '../../../src/domain/secret.js';
import {
  type ContractSettings,
  type CredentialRef,
  DEFAULT_CONTRACT,
  DEFAULT_FRESHNESS,
  DEFAULT_TRUST,
  type FreshnessSettings,
  type ServerTrust,
  type SourceSpec,
} from '../../../src/domain/server.js';
import { createKeySet, generateSigningJwk, type KeySet } from '../../../src/keys/keySet.js';
import { createSessionSeal } from '../../../src/keys/sessionSeal.js';
import { packageRoot } from '../../../src/packageRoot.js';
import { bundleDigest, parseBundle } from '../../../src/policy/bundle.js';
import { compilePolicy } from '../../../src/policy/compilePolicy.js';
import { readBundle } from '../../../src/policy/readBundle.js';
import { sha256Bytes } from '../../../src/proof/digest.js';
import { mcpSource } from '../../../src/sources/mcp/mcpSource.js';
import { targetOf } from '../../../src/sources/targetOf.js';
import type { OperatorStore } from '../../../src/store/operatorStore.js';
import { createOperatorStore } from '../../../src/store/postgres/operatorStore.js';
import { createPool } from '../../../src/store/postgres/pool.js';
import { createScanStore } from '../../../src/store/postgres/scanStore.js';
import type { ScanStore } from '../../../src/store/scanStore.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { startDiscovery } from '../../../src/temporal/discoveryControl.js';
import { createWorker } from '../../../src/temporal/worker.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { type BendableMcp, type BendableOptions, startBendableMcp } from '../../fixtures/bendableMcp.js';
import { cloneDatabase, type TestDatabase } from '../../support/database.js';
import { ownTaskQueue } from '../../support/temporal.js';
import { receipt } from '../store/storeFixture.js';

export const AUDIENCE = parseAudienceClass('warehouse.policy-1');

export interface Outcome extends DiscoveryResult {
  readonly runId: string;
  /** Whether the workflow shows as failed. */
  readonly failed: boolean;
  readonly message: string | null;
}

export interface Registered {
  readonly trust?: Partial<ServerTrust>;
  readonly limits?: Partial<ScanLimits>;
  readonly contract?: Partial<ContractSettings>;
  readonly freshness?: Partial<FreshnessSettings>;
  readonly audiences?: Readonly<Record<AudienceClass, CredentialRef>>;
}

export interface DiscoveryStack {
  readonly database: TestDatabase;
  readonly admin: pg.Pool;
  readonly store: ScanStore;
  readonly operator: OperatorStore;
  readonly client: Client;
  readonly taskQueue: string;
  readonly temporal: { readonly address: string; readonly namespace: string };
  readonly keys: KeySet;
  /** What `env:NAME` resolves to in the worker. */
  readonly secrets: Map<string, string>;
  /** A folder of this file's own. */
  readonly folder: string;
  /** A server that ends with the file: tests may run at a time. */
  inventory(options?: Omit<InventoryOptions, 'state'>): Promise<InventoryServer>;
  bent(options: BendableOptions): Promise<BendableMcp>;
  /** Registers under the key's names, or changes what is registered. */
  register(key: DiscoveryKey, source: string | SourceSpec, more?: Registered): Promise<void>;
  publishPolicy(): Promise<number>;
  discover(key: DiscoveryKey): Promise<Outcome>;
  outcomeOf(key: DiscoveryKey, runId: string): Promise<Outcome>;
  attributesOf(key: DiscoveryKey, runId?: string): Promise<Readonly<Record<string, unknown>>>;
}

const quiet = {
  debug: () => {},
  warn: () => {},
  error: (fields: object, message: string) => console.error(message, fields),
};

let names = 0;
/** A key that no other test uses. */
export const ownKey = (audience = AUDIENCE): DiscoveryKey => ({
  tenant: parseTenantId('acme'),
  server: parseServerName(`server-${randomBytes(4).toString('hex')}-${++names}`),
  audience,
});

/** Waits for a condition; the test's own time-out ends what never comes. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await sleep(15);
};

export interface DiscoveryServices {
  /** False where a test runs workers of its own as processes. */
  readonly inProcess?: boolean;
  /** In place of the shared ones, for a test that stops them. */
  readonly database?: () => Promise<TestDatabase>;
  readonly temporal?: () => Promise<{ readonly address: string; readonly namespace: string }>;
}

export const useDiscovery = ({
  inProcess = true,
  database: openDatabase = cloneDatabase,
  temporal: openTemporal,
}: DiscoveryServices = {}): DiscoveryStack => {
  const stack = {} as { -readonly [K in keyof DiscoveryStack]: DiscoveryStack[K] };
  const ends: (() => Promise<unknown>)[] = [];
  const closers: (() => Promise<unknown>)[] = [];
  let queue: ReturnType<typeof ownTaskQueue>;

  beforeAll(async () => {
    queue = { ...ownTaskQueue(), ...(await openTemporal?.()) };
    stack.temporal = queue;
    stack.taskQueue = queue.taskQueue;
    stack.folder = await mkdtemp(join(tmpdir(), 'genlock-discovery-'));
    ends.push(() => rm(stack.folder, { recursive: true, force: true }));
    const database = await openDatabase();
    stack.database = database;
    ends.push(() => database.drop());
    const open = (url: string): pg.Pool => {
      const pool = createPool({ url, size: 6, applicationName: 'genlock tests' });
      ends.push(() => pool.end());
      return pool;
    };
    stack.admin = open(database.adminUrl);
    stack.operator = createOperatorStore(open(database.operatorUrl));
    const store = createScanStore(open(database.workerUrl));
    stack.store = store;
    const client = await connectTemporal(queue);
    stack.client = client;
    ends.push(() => client.connection.close());
    stack.secrets = new Map();
    stack.keys = createKeySet([generateSigningJwk()]);
    if (!inProcess) return;
    const worker = await createWorker({
      ...queue,
      identity: 'test-worker',
      log: quiet,
      workflowBundle: queue.bundle,
      activities: createActivities({
        store,
        source: mcpSource,
        targetOf: (tenant, server, credential) =>
          targetOf(tenant, server, credential, {
            env: (name) => stack.secrets.get(name),
            credentialsDir: undefined,
            stdioTenants: new Set([parseTenantId('acme')]),
            fingerprint: sha256Bytes,
          }),
        policy: async (tenant, epoch) => {
          const found = epoch === 0 ? null : await store.readPolicyBundle(tenant, epoch);
          return found === null ? null : compilePolicy(parseBundle(JSON.parse(found.bundle)), found.epoch);
        },
        keys: stack.keys,
        sessions: createSessionSeal([new Secret(randomBytes(32).toString('base64url'))]),
        startDiscovery: async (key) => {
          await startDiscovery(client, queue.taskQueue, key);
        },
        worker: 'test-worker',
        now: () => epochMs(Date.now()),
        newId: () => randomBytes(12).toString('hex'),
        pause: async (ms, signal) => {
          await sleep(ms, undefined, { signal });
        },
      }),
    });
    const done = worker.run();
    ends.push(async () => {
      worker.shutdown();
      await done;
    });
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
    for (const end of ends.reverse()) await end();
  });

  stack.inventory = async (options = {}) => {
    const state = join(stack.folder, randomBytes(6).toString('hex'));
    const server = await startInventoryServer({ state, ...options });
    closers.push(() => server.close());
    return server;
  };
  stack.bent = async (options) => {
    const server = await startBendableMcp(options);
    closers.push(() => server.close());
    return server;
  };
  stack.register = async (key, source, more = {}) => {
    const answer = await stack.operator.registerServer(
      key.tenant,
      {
        name: key.server,
        namespace: parseNamespace(key.server),
        source: typeof source === 'string' ? { kind: 'mcp-http', url: source } : source,
        trust: { ...DEFAULT_TRUST, allowPrivateAddresses: true, ...more.trust },
        limits: { ...DEFAULT_SCAN_LIMITS, ...more.limits },
        contract: { ...DEFAULT_CONTRACT, ...more.contract },
        freshness: { ...DEFAULT_FRESHNESS, ...more.freshness },
        refreshSeconds: 0,
        audiences: more.audiences ?? { [key.audience]: { kind: 'none' } },
      },
      receipt(),
    );
    if (answer.outcome !== 'registered' && answer.outcome !== 'changed') throw new Error(answer.outcome);
  };
  stack.publishPolicy = async () => {
    const tenant = parseTenantId('acme');
    const before = (await stack.operator.readPolicyBundle(tenant, null))?.epoch ?? 0;
    const bundle = await readBundle(join(packageRoot(), 'examples', 'policy'));
    const text = { text: JSON.stringify(bundle), digest: bundleDigest(bundle) };
    const epoch = await stack.operator.publishPolicy(tenant, before, text, 'tester', receipt());
    if (epoch === null) throw new Error('another policy was published');
    return epoch;
  };
  stack.discover = async (key) => {
    const { runId } = await startDiscovery(stack.client, queue.taskQueue, key);
    return await stack.outcomeOf(key, runId);
  };
  stack.outcomeOf = async (key, runId) => {
    const handle = stack.client.workflow.getHandle(discoveryWorkflowId(key), runId);
    try {
      return { ...((await handle.result()) as DiscoveryResult), runId, failed: false, message: null };
    } catch (error) {
      if (!(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure)) throw error;
      const [result] = error.cause.details ?? [];
      return { ...(result as DiscoveryResult), runId, failed: true, message: error.cause.message };
    }
  };
  stack.attributesOf = async (key, runId) => {
    const { typedSearchAttributes } = await stack.client.workflow
      .getHandle(discoveryWorkflowId(key), runId)
      .describe();
    return Object.fromEntries(
      typedSearchAttributes.getAll().map(({ key: { name }, value }) => [name, value]),
    );
  };
  return stack;
};
