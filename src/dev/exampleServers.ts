/** The example servers as processes of their own, and how they are registered. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ServerRegistration } from '../client/types.js';
import { packageRoot } from '../packageRoot.js';
import { type ReadyProcess, startReadyProcess } from './readyProcess.js';

export interface InventoryProcess extends ReadyProcess {
  readonly url: string;
  readonly adminUrl: string;
}

/** Starts examples/inventory-mcp over HTTP. `port` 0 lets the system choose. */
export const startInventory = async (options: {
  readonly state: string;
  readonly port: number;
  readonly delayMs?: number;
}): Promise<InventoryProcess> => {
  const main = join(packageRoot(), 'dist', 'examples', 'inventory-mcp', 'main.js');
  const running = await startReadyProcess({
    name: 'inventory-mcp',
    command: process.execPath,
    args: [
      main,
      '--state',
      options.state,
      '--port',
      String(options.port),
      '--delay-ms',
      String(options.delayMs ?? 0),
    ],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  return { ...running, url: String(running.ready['url']), adminUrl: String(running.ready['adminUrl']) };
};

interface JournalEntry {
  readonly method: string;
  readonly cursor?: string | null;
}

/** The admin interface of a running inventory server. */
export const inventoryAdmin = (adminUrl: string) => ({
  change: async (operation: Readonly<Record<string, unknown>>): Promise<void> => {
    const answer = await fetch(`${adminUrl}/admin/change`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(operation),
    });
    if (!answer.ok) throw new Error(`inventory-mcp refused a change: ${answer.status}`);
  },
  waiting: async (): Promise<number> => {
    const state = (await (await fetch(`${adminUrl}/admin/state`)).json()) as { waiting: number };
    return state.waiting;
  },
  /** The cursors of the tools/list requests that arrived, in order; null for the first page. */
  listCursors: async (): Promise<readonly (string | null)[]> => {
    const entries = (await (await fetch(`${adminUrl}/admin/journal`)).json()) as readonly JournalEntry[];
    return entries.filter((entry) => entry.method === 'tools/list').map((entry) => entry.cursor ?? null);
  },
});

/** The tenant of the examples; the stack's workers start stdio servers for it and for nobody else. */
export const EXAMPLE_TENANT = 'demo';

/** The audience class that examples/policy gives to a stock manager. */
export const EXAMPLE_AUDIENCE = 'warehouse.policy-1';

export const inventoryRegistration = (
  name: string,
  namespace: string,
  url: string,
  refreshSeconds: number,
): ServerRegistration => ({
  name,
  namespace,
  source: { kind: 'mcp-http', url },
  audiences: { [EXAMPLE_AUDIENCE]: 'none' },
  // The example listens on loopback, which a registration has to allow.
  trust: { allowPrivateAddresses: true },
  refreshSeconds,
});

/** The official reference server, unversioned, as it comes from npm. Its schemas declare draft-07. */
export const everythingRegistration = (refreshSeconds: number): ServerRegistration => {
  const manifest = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/package.json',
  );
  return {
    name: 'everything',
    namespace: 'everything',
    source: {
      kind: 'mcp-stdio',
      command: process.execPath,
      args: [join(dirname(manifest), 'dist', 'index.js'), 'stdio'],
    },
    audiences: { [EXAMPLE_AUDIENCE]: 'none' },
    contract: { dialects: ['draft-07'] },
    refreshSeconds,
  };
};
