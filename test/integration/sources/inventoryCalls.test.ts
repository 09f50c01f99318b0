import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type InventoryServer, startInventoryServer } from '../../../examples/inventory-mcp/server.js';

const newClient = () => new Client({ name: 'ordinary-client', version: '1' }, { capabilities: {} });

describe('the inventory server, to an ordinary MCP client', () => {
  let folder: string;
  let server: InventoryServer;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inventory-calls-'));
    server = await startInventoryServer({ state: folder });
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('reserve takes stock, fits its output schema, keeps to its idempotency key, and outlives a restart', async () => {
    const connect = async () => {
      const client = newClient();
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url)) as Transport);
      // Lets the client compile the output schemas, so that it checks each result.
      let cursor: string | undefined;
      do cursor = (await client.listTools(cursor === undefined ? {} : { cursor })).nextCursor;
      while (cursor !== undefined);
      return client;
    };
    const order = { warehouse: 'HAM-01', sku: 'PUMP-A2', quantity: 5, idempotencyKey: 'order-1' };
    const first = await connect();
    const reserved = await first.callTool({ name: 'reserve', arguments: order });
    expect(reserved.structuredContent).toMatchObject({ quantity: 5, freeAfter: 7 });
    expect(await first.callTool({ name: 'reserve', arguments: order })).toEqual(reserved);
    await first.close();
    await server.close();
    server = await startInventoryServer({ state: folder });
    const second = await connect();
    const free = await second.callTool({ name: 'sku_get', arguments: { id: 'PUMP-A2' } });
    expect(free.structuredContent).toEqual({ sku: 'PUMP-A2', free: { 'HAM-01': 7, 'ROT-01': 40 } });
    const tooMuch = await second.callTool({
      name: 'reserve',
      arguments: { ...order, quantity: 8, idempotencyKey: 'o2x' },
    });
    expect(tooMuch.isError).toBe(true);
    await expect(second.callTool({ name: 'nonsense', arguments: {} })).rejects.toMatchObject({
      code: -32602,
    });
    await second.close();
    expect(server.journal().some(({ method, name }) => method === 'tools/call' && name === 'sku_get')).toBe(
      true,
    );
  });

  it('D2 over stdio a change of the list is announced', async () => {
    const state = await mkdtemp(join(tmpdir(), 'inventory-notice-'));
    const main = join(import.meta.dirname, '../../../examples/inventory-mcp/main.ts');
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['--import', 'tsx', main, '--stdio', '--state', state],
      cwd: join(import.meta.dirname, '../../..'),
      stderr: 'pipe',
    });
    const adminUrl = new Promise<string>((resolve) => {
      transport.stderr?.on('data', (line: Buffer) =>
        resolve((JSON.parse(String(line)) as { adminUrl: string }).adminUrl),
      );
    });
    const client = newClient();
    const announced = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    await client.connect(transport);
    const body = JSON.stringify({ op: 'add-tool', name: 'more' });
    await fetch(`${await adminUrl}/admin/change`, { method: 'POST', body });
    await announced;
    await client.close();
    await rm(state, { recursive: true });
  });
});
