/**
 * Starts the example server over HTTP, in this process. main.ts runs it from the command line.
 */
import { timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type AdminOperation, applyOperation, createAdmin } from './admin.js';
import { Catalog } from './catalog.js';
import { readBody, sendJson } from './httpBody.js';
import { Journal, type JournalEntry } from './journal.js';
import { createMcpServer, type Inventory, serve } from './mcpServer.js';
import { Pace } from './pace.js';
import { Stock } from './stock.js';

export interface InventoryOptions {
  /** Folder for catalog revision, stock and journal. */
  readonly state: string;
  readonly tools?: number;
  readonly pageSize?: number;
  readonly delayMs?: number;
  /** Where set, requests without this bearer token are refused. */
  readonly token?: string;
  readonly host?: string;
  /** 0 (the default) takes a free port. */
  readonly port?: number;
  readonly adminPort?: number;
}

export interface InventoryServer {
  readonly url: string;
  readonly adminUrl: string;
  readonly inventory: Inventory;
  change(operation: AdminOperation): void;
  journal(): readonly JournalEntry[];
  close(): Promise<void>;
}

export const openInventory = (options: InventoryOptions): Inventory => ({
  catalog: new Catalog(options.state, options.tools ?? 120, options.pageSize ?? 25),
  stock: new Stock(options.state),
  journal: new Journal(options.state),
  pace: new Pace(options.delayMs ?? 0),
});

export const listen = async (server: HttpServer, port: number, host: string): Promise<string> => {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${shown}:${address.port}`;
};

export const stopListening = async (server: HttpServer): Promise<void> => {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
};

const authorized = (request: IncomingMessage, token: string | undefined): boolean => {
  if (token === undefined) return true;
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

/** Stateless: each request has a server and a transport of its own, and no session id is issued. */
const createEndpoint = (inventory: Inventory, token: string | undefined): HttpServer => {
  const connections = new WeakMap<Socket, number>();
  let counter = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if ((request.url ?? '').split('?')[0] !== '/mcp')
      return sendJson(response, 404, { error: 'no such path' });
    if (!authorized(request, token)) {
      return sendJson(
        response,
        401,
        { error: 'a bearer token is required' },
        { 'www-authenticate': 'Bearer' },
      );
    }
    if (request.method !== 'POST') return sendJson(response, 405, { error: 'POST only' }, { allow: 'POST' });
    const body = await readBody(request);
    const connection = connections.get(request.socket) ?? ++counter;
    connections.set(request.socket, connection);
    const server = createMcpServer(inventory, false);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on('close', () => void server.close());
    await serve(server, transport as Transport, inventory.journal, connection);
    await transport.handleRequest(request, response, body);
  };
  return createServer((request, response) => {
    handle(request, response).catch(() =>
      sendJson(response, 400, { error: 'the request could not be read' }),
    );
  });
};

/** Runs the server until `close`. Prints nothing. */
export const startInventoryServer = async (options: InventoryOptions): Promise<InventoryServer> => {
  const inventory = openInventory(options);
  // Without sessions there is no stream to notify on: a reader over HTTP has to look at the revision.
  const changed = () => undefined;
  const endpoint = createEndpoint(inventory, options.token);
  const admin = createAdmin(inventory, changed);
  const base = await listen(endpoint, options.port ?? 0, options.host ?? '127.0.0.1');
  let adminUrl: string;
  try {
    adminUrl = await listen(admin, options.adminPort ?? 0, '127.0.0.1');
  } catch (error) {
    await stopListening(endpoint);
    throw error;
  }
  return {
    url: `${base}/mcp`,
    adminUrl,
    inventory,
    change: (operation) => applyOperation(inventory, operation, changed),
    journal: () => inventory.journal.entries,
    async close() {
      inventory.pace.release();
      await Promise.all([stopListening(endpoint), stopListening(admin)]);
    },
  };
};
