/**
 * A stack of its own on fresh state, with one tenant and its policy: what discovery benchmarks and screenshots have in
 * common. Registrations are written by the operator's own store, as the API would.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { devConfig } from '../src/config.js';
import { type Stack, startStack } from '../src/dev/stack.js';
import { openStateFolder } from '../src/dev/stateFolder.js';
import type { DiscoveryKey } from '../src/domain/generation.js';
import {
  parseAudienceClass,
  parseNamespace,
  parseServerName,
  parseTenantId,
  type TenantId,
} from '../src/domain/ids.js';
import { DEFAULT_SCAN_LIMITS } from '../src/domain/scanLimits.js';
import {
  DEFAULT_CONTRACT,
  DEFAULT_FRESHNESS,
  DEFAULT_TRUST,
  type ServerRegistration,
} from '../src/domain/server.js';
import { packageRoot } from '../src/packageRoot.js';
import { bundleDigest } from '../src/policy/bundle.js';
import { readBundle } from '../src/policy/readBundle.js';
import { createOperatorStore } from '../src/store/postgres/operatorStore.js';
import { createPool } from '../src/store/postgres/pool.js';
import { connectTemporal } from '../src/temporal/connect.js';
import { unsignedReceipt } from '../test/support/receiptRows.js';

export const TENANT = 'acme';
export const AUDIENCE = 'warehouse.policy-1';

export interface DiscoveryStack {
  readonly stack: Stack;
  readonly client: Client;
  readonly taskQueue: string;
  /** A folder for what example servers keep; gone with the stack. */
  readonly scratch: string;
  /** Registers an MCP server at `url` and answers the key of its discovery. Another tenant gets the policy as well. */
  register(name: string, url: string, tenant?: string): Promise<DiscoveryKey>;
  stop(): Promise<void>;
}

/** @throws CatalogError CONFIG_INVALID/… with what did not start; nothing of it is left running */
export const startDiscoveryStack = async (log: (line: string) => void): Promise<DiscoveryStack> => {
  const folder = await openStateFolder(await mkdtemp(join(tmpdir(), 'genlock-bench-')));
  const closing: (() => Promise<void>)[] = [() => folder.remove()];
  const stop = async (): Promise<void> => {
    for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close();
  };
  try {
    const config = devConfig({ GENLOCK_LOG_LEVEL: 'warn' });
    const stack = await startStack({
      config,
      stateDir: folder.dir,
      binDir: join(packageRoot(), '.genlock', 'bin'),
      ports: null,
      persistent: false,
      log,
    });
    closing.push(() => stack.stop());
    const pool = createPool({
      url: stack.programEnv.api['GENLOCK_OPERATOR_DATABASE_URL'] ?? '',
      size: 2,
      applicationName: 'genlock bench',
    });
    closing.push(() => pool.end());
    const operator = createOperatorStore(pool);
    const tenants = new Set<TenantId>();
    const withPolicy = async (name: string): Promise<TenantId> => {
      const tenant = parseTenantId(name);
      if (!tenants.has(tenant)) await publish(operator, tenant);
      tenants.add(tenant);
      return tenant;
    };
    await withPolicy(TENANT);
    const client = await connectTemporal(stack.temporal);
    closing.push(() => client.connection.close());
    return {
      stack,
      client,
      taskQueue: config.taskQueue,
      scratch: folder.dir,
      register: async (name, url, of = TENANT) => {
        const tenant = await withPolicy(of);
        const registration = registrationOf(name, url);
        await operator.registerServer(tenant, registration, unsignedReceipt());
        return { tenant, server: registration.name, audience: parseAudienceClass(AUDIENCE) };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const publish = async (operator: ReturnType<typeof createOperatorStore>, tenant: TenantId): Promise<void> => {
  const bundle = await readBundle(join(packageRoot(), 'examples', 'policy'));
  const text = JSON.stringify(bundle);
  await operator.publishPolicy(tenant, 0, { text, digest: bundleDigest(bundle) }, 'bench', unsignedReceipt());
};

const registrationOf = (name: string, url: string): ServerRegistration => ({
  name: parseServerName(name),
  namespace: parseNamespace(name),
  source: { kind: 'mcp-http', url },
  trust: { ...DEFAULT_TRUST, allowPrivateAddresses: true },
  limits: DEFAULT_SCAN_LIMITS,
  contract: DEFAULT_CONTRACT,
  freshness: DEFAULT_FRESHNESS,
  refreshSeconds: 0,
  audiences: { [parseAudienceClass(AUDIENCE)]: { kind: 'none' } },
});
