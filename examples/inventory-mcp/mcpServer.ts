/**
 * The protocol side: the SDK's low-level Server, because only that one pages its list and takes `_meta`.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { type Catalog, type CatalogPage, CursorRefused } from './catalog.js';
import type { Journal } from './journal.js';
import type { Pace } from './pace.js';
import type { Stock } from './stock.js';

export interface Inventory {
  readonly catalog: Catalog;
  readonly stock: Stock;
  readonly journal: Journal;
  readonly pace: Pace;
}

export const REVISION_KEY = 'dev.genlock/catalogRevision';

const pageOrRefusal = (catalog: Catalog, cursor: string | undefined): CatalogPage => {
  try {
    return catalog.page(cursor);
  } catch (error) {
    if (error instanceof CursorRefused) throw new McpError(ErrorCode.InvalidParams, error.message);
    throw error;
  }
};

/** @param listChanged whether this connection can carry change notifications */
export const createMcpServer = (inventory: Inventory, listChanged: boolean): Server => {
  const { catalog, stock, pace } = inventory;
  const server = new Server(
    { name: 'inventory-mcp', version: '1.0.0' },
    { capabilities: { tools: { listChanged } } },
  );

  server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
    await pace.before(catalog.pageIndex(params?.cursor));
    // Read after the wait and in one step, so that tools and revision of a page always belong together.
    const { tools, nextCursor, revision } = pageOrRefusal(catalog, params?.cursor);
    return {
      tools: [...tools],
      ...(nextCursor === undefined ? {} : { nextCursor }),
      _meta: { [REVISION_KEY]: revision },
    };
  });

  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    if (!catalog.tools.some((tool) => tool.name === params.name)) {
      throw new McpError(ErrorCode.InvalidParams, `no tool ${params.name}`);
    }
    return stock.call(params.name, params.arguments ?? {});
  });
  return server;
};

/** Connects and notes each message that arrives, before it is handled. */
export const serve = async (
  server: Server,
  transport: Transport,
  journal: Journal,
  connection: number | null,
): Promise<void> => {
  await server.connect(transport);
  const handle = transport.onmessage;
  transport.onmessage = (message, extra) => {
    journal.record(message, connection);
    handle?.(message, extra);
  };
};
