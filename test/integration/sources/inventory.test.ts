import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type InventoryServer, startInventoryServer } from '../../../examples/inventory-mcp/server.js';
import { isJsonObject } from '../../../src/domain/json.js';
import { mcpSource } from '../../../src/sources/mcp/mcpSource.js';
import type { FetchedPage, SourceConnection } from '../../../src/sources/source.js';
import { bearer, faultOf, httpTarget, stdioTarget } from '../../fixtures/sourceTarget.js';

const signal = new AbortController().signal;
const collect = async (connection: SourceConnection): Promise<FetchedPage[]> => {
  const pages: FetchedPage[] = [];
  let cursor: string | undefined;
  do {
    const page = await connection.listPage(cursor, { signal });
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
};
const namesOf = (pages: readonly FetchedPage[]): unknown[] =>
  pages.flatMap((page) => page.tools.map(({ value }) => (isJsonObject(value) ? value['name'] : null)));

describe('the inventory server, over real HTTP and stdio', () => {
  let folder: string;
  let server: InventoryServer;
  const open: SourceConnection[] = [];
  const connect = async (...args: Parameters<typeof mcpSource.connect>): Promise<SourceConnection> => {
    const connection = await mcpSource.connect(...args);
    open.push(connection);
    return connection;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inventory-'));
    server = await startInventoryServer({ state: folder });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((connection) => connection.close()));
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('D1 D3 120 tools come in five pages of one revision, each with the text that its source sent', async () => {
    const pages = await collect(await connect(httpTarget(server.url), { signal }));
    const names = namesOf(pages);
    expect(pages.map((page) => page.tools.length)).toEqual([25, 25, 25, 25, 20]);
    expect(new Set(names).size).toBe(120);
    expect(names).toContain('reserve');
    const { incarnation } = server.inventory.catalog.revision;
    for (const page of pages) {
      expect(page.revision).toEqual({ binding: 'SERVER_REVISION', value: { incarnation, counter: 1 } });
      expect(JSON.parse(page.resultText)).toEqual(page.result);
      expect(new TextDecoder().decode(page.raw)).toContain(page.resultText);
      for (const { text, value } of page.tools) {
        expect(JSON.parse(text)).toEqual(value);
        expect(page.resultText).toContain(text);
      }
    }
  });

  it('D8 the evidence names the address that was connected to and that no session binds the cursors', async () => {
    const connection = await connect(httpTarget(server.url), { signal });
    const page = await connection.listPage(undefined, { signal });
    expect(page.evidence).toEqual({
      endpoint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      spki: null,
      artifact: null,
      address: new URL(server.url).host,
      protocolVersion: '2025-11-25',
      sessionScoped: false,
      serverInfo: { name: 'inventory-mcp', version: '1.0.0' },
      announcesTools: true,
    });
  });

  it('D6 a cursor of a server without sessions lives on in another connection', async () => {
    const first = await connect(httpTarget(server.url), { signal });
    const { nextCursor } = await first.listPage(undefined, { signal });
    await first.close();
    const second = await connect(httpTarget(server.url), { signal });
    const page = await second.listPage(nextCursor, { signal });
    expect(page.tools).toHaveLength(25);
    expect(server.journal().map(({ method, cursor }) => [method, cursor])).toEqual([
      ['initialize', null],
      ['notifications/initialized', null],
      ['tools/list', null],
      ['initialize', null],
      ['notifications/initialized', null],
      ['tools/list', nextCursor],
    ]);
  });

  it('D3 a cursor from before a change is refused as CURSOR_EXPIRED', async () => {
    const connection = await connect(httpTarget(server.url), { signal });
    const { nextCursor } = await connection.listPage(undefined, { signal });
    server.change({ op: 'change-reserve-schema' });
    const fault = await faultOf(connection.listPage(nextCursor, { signal }));
    expect(fault.reason).toBe('CURSOR_EXPIRED');
    const again = await connection.listPage(undefined, { signal });
    expect(again.revision).toMatchObject({ value: { counter: 2 } });
  });

  it('each change moves the revision, survives a restart, and shows in the list', async () => {
    const before = await collect(await connect(httpTarget(server.url), { signal }));
    server.change({ op: 'add-tool', name: 'extra_tool' });
    server.change({ op: 'remove-tool', name: 'sku_get' });
    server.change({ op: 'change-reserve-schema' });
    const { incarnation } = server.inventory.catalog.revision;
    await server.close();
    server = await startInventoryServer({ state: folder });
    const after = await collect(await connect(httpTarget(server.url), { signal }));
    expect(after[0]?.revision).toEqual({ binding: 'SERVER_REVISION', value: { incarnation, counter: 4 } });
    expect(namesOf(after)).toContain('extra_tool');
    expect(namesOf(after)).not.toContain('sku_get');
    const reserve = (pages: FetchedPage[]) =>
      pages
        .flatMap((page) => page.tools)
        .find(({ value }) => isJsonObject(value) && value['name'] === 'reserve')?.text;
    expect(reserve(after)).toBeDefined();
    expect(reserve(after)).not.toBe(reserve(before));
  });

  it('the control endpoint changes the list, holds a page until it is released, and shows the journal', async () => {
    const change = async (body: unknown) => {
      const response = await fetch(`${server.adminUrl}/admin/change`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    expect(await change({ op: 'add-tool', name: 'more' })).toMatchObject({
      status: 200,
      body: { tools: 121 },
    });
    expect((await change({ op: 'nonsense' })).status).toBe(400);
    await change({ op: 'hold', page: 1 });
    const connection = await connect(httpTarget(server.url), { signal });
    const { nextCursor } = await connection.listPage(undefined, { signal });
    const held = connection.listPage(nextCursor, { signal });
    await expect.poll(() => server.inventory.pace.waiting).toBe(1);
    await change({ op: 'release' });
    expect((await held).tools).toHaveLength(25);
    const journal = (await (await fetch(`${server.adminUrl}/admin/journal`)).json()) as unknown[];
    expect(journal).toEqual(server.journal());
    const lines = (await readFile(join(folder, 'journal.jsonl'), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(journal);
    expect((await fetch(`${new URL(server.url).origin}/admin/journal`)).status).toBe(404);
  });

  it('a required bearer token is sent, and a wrong one ends as AUTH_REFUSED without showing it', async () => {
    await server.close();
    server = await startInventoryServer({ state: folder, token: 'right-token-1234' });
    const withToken = (token: string) => httpTarget(server.url, { credential: bearer(token) });
    const connection = await connect(withToken('right-token-1234'), { signal });
    expect((await connection.listPage(undefined, { signal })).tools).toHaveLength(25);
    const fault = await faultOf(connect(withToken('wrong-token-5678'), { signal }));
    expect(fault.reason).toBe('AUTH_REFUSED');
    expect(fault.evidence).toMatchObject({ status: 401 });
    expect(JSON.stringify(fault.evidence)).not.toContain('wrong-token');
  });

  it('over stdio the same list comes, bound to the process and with the digest of its artifact', async () => {
    const state = await mkdtemp(join(tmpdir(), 'inventory-stdio-'));
    const main = join(import.meta.dirname, '../../../examples/inventory-mcp/main.ts');
    const connection = await connect(
      stdioTarget(process.execPath, ['--import', 'tsx', main, '--stdio', '--state', state], {
        cwd: join(import.meta.dirname, '../../..'),
      }),
      { signal },
    );
    const pages = await collect(connection);
    expect(pages).toHaveLength(5);
    expect(new Set(namesOf(pages)).size).toBe(120);
    expect(pages[4]?.evidence).toMatchObject({ spki: null, address: null, sessionScoped: true });
    expect(pages[4]?.evidence.artifact).toMatch(/^sha256:[0-9a-f]{64}$/);
    await connection.close();
    await rm(state, { recursive: true });
  });

  it('D4 the official server-everything shows 13 tools to a client without capabilities, and no revision', async () => {
    const script = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
    const connection = await connect(
      stdioTarget(process.execPath, [script, 'stdio'], { cwd: join(import.meta.dirname, '../../..') }),
      { signal },
    );
    const pages = await collect(connection);
    expect(pages).toHaveLength(1);
    expect(pages[0]?.tools).toHaveLength(13);
    expect(pages[0]?.revision).toBeNull();
  });

  it('10,000 tools come in 100 pages', async () => {
    await server.close();
    server = await startInventoryServer({ state: folder, tools: 10_000, pageSize: 100 });
    const pages = await collect(await connect(httpTarget(server.url), { signal }));
    expect(pages).toHaveLength(100);
    expect(new Set(namesOf(pages)).size).toBe(10_000);
  });
});
