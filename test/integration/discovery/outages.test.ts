/** D6 P5: sources that fail in mid-scan. What passes by itself is waited out; what does not leaves all as it was. */
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { cancelDiscovery, startDiscovery } from '../../../src/temporal/discoveryControl.js';
import type { Bend, BentRequest } from '../../fixtures/bendableMcp.js';
import { deferred } from '../../fixtures/bentConnections.js';
import { at, serveList, tools } from './bentLists.js';
import { ownKey, until, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

const LIST = { pages: [tools(2), tools(2, 'b')], revision: at(1) };
const serve = serveList(() => LIST);
const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'x', version: '0' },
};
const roundsOf = async (key: DiscoveryKey) =>
  (await stack.operator.listDiscoveries(key.tenant, { server: key.server, limit: 100 }))
    .map(({ reason }) => reason)
    .reverse();

interface Asked {
  readonly session: string | undefined;
  readonly cursor: string | undefined;
  readonly id: unknown;
}

/** A server of two pages, bent at its second one. With sessions, each `initialize` gives out another id. */
const bentAt = async (second: (b: BentRequest) => boolean, { sessions }: { readonly sessions: boolean }) => {
  let given = 0;
  const asked: Asked[] = [];
  const server = await stack.bent({
    ...(sessions ? { sessionId: () => `S${given}` } : {}),
    initialize: (b) => {
      given++;
      b.result(INITIALIZED);
    },
    list: (b) => {
      asked.push({
        session: b.request.headers['mcp-session-id'] as string | undefined,
        cursor: b.cursor,
        id: b.id,
      });
      if (b.cursor === undefined || !second(b)) return serve(b);
    },
  });
  const key = ownKey();
  await stack.register(key, server.url);
  return { key, asked, server };
};
const times = (count: number, bend: Bend): ((b: BentRequest) => boolean) => {
  let left = count;
  return (b) => {
    if (left-- <= 0) return false;
    void bend(b);
    return true;
  };
};
const down: Bend = (b) => b.bytes('down', 'text/plain', 503);
const gone: Bend = (b) => b.bytes('', 'text/plain', 404);
const cut: Bend = ({ response, id }) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: {"jsonrpc":"2.0","id":${id},`, () => response.destroy());
};

describe.each([true, false])('D6 what passes by itself (sessions: %s)', (sessions) => {
  test.concurrent.each([
    ['an event stream that is cut before its answer', cut],
    ['a server that is down for a moment', down],
  ])('D6 %s: the same cursor is asked again, and the list is whole', async (_, bend) => {
    const { key, asked, server } = await bentAt(times(1, bend), { sessions });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', pages: 2, tools: 4 });
    expect(await roundsOf(key)).toEqual(['PROMOTED']);
    const pages = asked.slice(0, 3);
    expect(pages.map(({ cursor }) => cursor)).toEqual([undefined, 'c1', 'c1']);
    expect(pages.map(({ session }) => session)).toEqual(Array(3).fill(sessions ? 'S1' : undefined));
    expect(new Set(pages.map(({ id }) => id)).size).toBe(3);
    expect(server.seen).not.toContain('GET');
  });

  test.concurrent('D6 P5 one that stays down ends UPSTREAM_ERROR, and in a session only after another one was tried', async () => {
    const { key, asked } = await bentAt(times(100, down), { sessions });
    expect(await stack.discover(key)).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'UPSTREAM_ERROR',
      evidence: { status: 503, page: 1 },
    });
    expect(await roundsOf(key)).toEqual([...(sessions ? ['SESSION_LOST'] : []), 'UPSTREAM_ERROR']);
    expect(await stack.store.active(key)).toBeNull();
    const walk = (session: string | undefined) =>
      [undefined, 'c1', 'c1', 'c1'].map((cursor) => ({ session, cursor, id: expect.anything() }));
    expect(asked).toEqual(sessions ? [...walk('S1'), ...walk('S2')] : walk(undefined));
  });
});

describe('D6 sessions', () => {
  test.concurrent('D6 a lost session that answers 503 is left for a new one, from its first page on', async () => {
    const { key, asked } = await bentAt(times(3, down), { sessions: true });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', pages: 2 });
    expect(await roundsOf(key)).toEqual(['SESSION_LOST', 'PROMOTED']);
    expect(asked.slice(4, 6)).toMatchObject([
      { session: 'S2', cursor: undefined },
      { session: 'S2', cursor: 'c1' },
    ]);
  });

  test.concurrent('D6 a session that is lost each time is SESSION_LOST in the end, and no cursor goes into another', async () => {
    const { key, asked } = await bentAt(times(100, gone), { sessions: true });
    expect(await stack.discover(key)).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'SESSION_LOST',
      failed: true,
    });
    expect(await roundsOf(key)).toEqual(Array(5).fill('SESSION_LOST'));
    expect(asked.map(({ session, cursor }) => [session, cursor])).toEqual(
      [1, 2, 3, 4, 5].flatMap((n) => [
        [`S${n}`, undefined],
        [`S${n}`, 'c1'],
      ]),
    );
  });

  test.concurrent('D3 the tail is asked in another session where the first one is lost at once', async () => {
    let lists = 0;
    const server = await stack.bent({
      sessionId: () => 'S',
      list: (b) => (++lists === 3 ? gone(b) : serve(b)),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
    expect(lists).toBe(4);
  });
});

/** Every row that speaks of the server, but for the scans themselves. */
const rowsOf = async ({ server }: DiscoveryKey): Promise<Readonly<Record<string, readonly string[]>>> => {
  const { rows: tables } = await stack.admin.query(
    `select table_name as name from information_schema.columns where table_schema = 'genlock' and column_name = 'server'
       and table_name <> 'scan' order by 1`,
  );
  const found: Record<string, readonly string[]> = {};
  for (const { name } of tables) {
    const { rows } = await stack.admin.query(
      `select t::text as row from genlock.${name} t where server = $1 order by 1`,
      [server],
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
};

test('P5 a later page that fails leaves every row of the active catalog as it is, to the byte', async () => {
  let broken = false;
  const server = await stack.bent({
    list: (b) => (broken && b.cursor !== undefined ? b.error(-32_603, 'backend down') : serve(b)),
  });
  const key = ownKey();
  await stack.register(key, server.url);
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
  const before = await rowsOf(key);
  expect(before['active_pointer']).toHaveLength(1);
  expect(before['receipt']?.length).toBeGreaterThan(0);
  broken = true;
  const outcome = await stack.discover(key);
  expect(outcome).toMatchObject({
    state: 'INCOMPLETE',
    reason: 'UPSTREAM_ERROR',
    evidence: { code: -32_603, message: 'backend down', page: 1 },
  });
  expect(await rowsOf(key)).toEqual(before);
  const { rows } = await stack.admin.query('select 1 from genlock.candidate_tool where scan = $1', [
    outcome.scan,
  ]);
  expect(rows).toEqual([]);
});

test('D5 a cancellation gives the request up that waits for a page', async () => {
  const given = deferred();
  let waiting = false;
  const server = await stack.bent({
    list: ({ response }) => {
      waiting = true;
      response.on('close', given.resolve);
    },
  });
  const key = ownKey();
  await stack.register(key, server.url);
  const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
  await until(() => waiting);
  expect(await cancelDiscovery(stack.client, key)).toBe(true);
  await given.promise;
  expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'INCOMPLETE', reason: 'CANCELLED' });
  expect(await roundsOf(key)).toEqual(['CANCELLED']);
});
