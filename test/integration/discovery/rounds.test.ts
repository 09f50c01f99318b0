/** Rounds, sessions and hints: what begins a scan again, what ends it, and that the last change is never lost. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { hintDiscovery, startDiscovery } from '../../../src/temporal/discoveryControl.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { at, serveList, tools } from './bentLists.js';
import { ownKey, until, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

const roundsOf = async (key: DiscoveryKey) =>
  (await stack.operator.listDiscoveries(key.tenant, { server: key.server, limit: 100 }))
    .map(({ round, state, reason }) => [round, state, reason])
    .reverse();
const idle = async (key: DiscoveryKey): Promise<boolean> =>
  (await stack.client.workflow.getHandle(discoveryWorkflowId(key)).describe()).status.name !== 'RUNNING';
const hint = (key: DiscoveryKey) => hintDiscovery(stack.client, stack.taskQueue, key);
const three = [tools(2), tools(2, 'b'), tools(2, 'c')];

describe('D3 a revision that moves', () => {
  test.concurrent('D3 during one scan ends that round, and the next one is whole and of one revision', async () => {
    let requests = 0;
    const server = await stack.bent({
      list: (b) => serveList(() => ({ pages: three, revision: at(++requests < 3 ? requests : 3) }))(b),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1, pages: 3, tools: 6 });
    expect(await roundsOf(key)).toEqual([
      [0, 'INCOMPLETE', 'REVISION_CHANGED'],
      [1, 'ELIGIBLE', 'PROMOTED'],
    ]);
    expect(await stack.store.active(key)).toMatchObject({ revision: { value: { counter: 3 } } });
  });

  test.concurrent('D3 between the last page and the tail begins another round as well', async () => {
    let requests = 0;
    const server = await stack.bent({
      list: (b) => serveList(() => ({ pages: three, revision: at(++requests <= 3 ? 1 : 2) }))(b),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
    expect(await roundsOf(key)).toEqual([
      [0, 'INCOMPLETE', 'REVISION_CHANGED'],
      [1, 'ELIGIBLE', 'PROMOTED'],
    ]);
  });

  test.concurrent('D3 in each of five rounds is REVISION_UNSTABLE, and nothing was accepted', async () => {
    let requests = 0;
    const server = await stack.bent({
      list: (b) => serveList(() => ({ pages: three, revision: at(++requests) }))(b),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    const outcome = await stack.discover(key);
    expect(outcome).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'REVISION_UNSTABLE',
      failed: true,
      evidence: { rounds: 5, last: { page: 1 } },
    });
    expect(await stack.attributesOf(key, outcome.runId)).toMatchObject({
      GenlockState: 'INCOMPLETE',
      GenlockReason: 'REVISION_UNSTABLE',
    });
    expect(await roundsOf(key)).toEqual([
      ...[0, 1, 2, 3].map((round) => [round, 'INCOMPLETE', 'REVISION_CHANGED']),
      [4, 'INCOMPLETE', 'REVISION_UNSTABLE'],
    ]);
    expect(await stack.store.active(key)).toBeNull();
  });

  test.concurrent('D3 A-B-A: two equal lists with another between them are two revisions, and not one scan', async () => {
    let requests = 0;
    const server = await stack.bent({
      list: (b) =>
        serveList(() => {
          requests++;
          // The second page is of another list; before and after it all is as it was, but for the counter.
          return requests === 2
            ? { pages: [tools(2), tools(2, 'x'), tools(2, 'c')], revision: at(2) }
            : { pages: three, revision: at(requests < 2 ? 1 : 3) };
        })(b),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', tools: 6 });
    expect((await roundsOf(key))[0]).toEqual([0, 'INCOMPLETE', 'REVISION_CHANGED']);
    const { rows } = await stack.admin.query(
      "select name from genlock.candidate_tool c join genlock.active_pointer a on a.scan = c.scan where a.server = $1 and name like 'x%'",
      [key.server],
    );
    expect(rows).toEqual([]);
  });
});

describe('D6 cursors and sessions', () => {
  test.concurrent('D6 a cursor that is refused once begins the scan again, without any page of before', async () => {
    let refused = 0;
    const server = await stack.bent({
      list: (b) =>
        b.cursor === 'c1' && refused++ === 0
          ? b.error(-32_602, 'unknown cursor')
          : serveList(() => ({ pages: three, revision: at(1) }))(b),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', pages: 3 });
    expect(await roundsOf(key)).toEqual([
      [0, 'INCOMPLETE', 'CURSOR_EXPIRED'],
      [1, 'ELIGIBLE', 'PROMOTED'],
    ]);
  });

  test.concurrent('D6 a cursor that is refused again is the way of that server: CURSOR_EXPIRED', async () => {
    const server = await stack.bent({
      list: (b) =>
        b.cursor === 'c1'
          ? b.error(-32_602, 'unknown cursor')
          : serveList(() => ({ pages: three, revision: at(1) }))(b),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'CURSOR_EXPIRED',
      failed: true,
    });
    expect(await roundsOf(key)).toHaveLength(2);
  });

  test.concurrent('D6 a server with sessions is scanned in one session, whose id is kept nowhere', async () => {
    const sessionId = 'session-canary-4711';
    const server = await stack.bent({
      sessionId,
      list: serveList(() => ({ pages: three, revision: at(1) })),
    });
    const key = ownKey();
    await stack.register(key, server.url);
    const { runId, state } = await stack.discover(key);
    expect(state).toBe('ELIGIBLE');
    // One session for the pages, one for the tail, each ended with DELETE.
    expect(server.seen.filter((method) => method === 'initialize')).toHaveLength(2);
    expect(server.seen.filter((method) => method === 'DELETE')).toHaveLength(2);
    expect(await findInStore(sessionId)).toEqual([]);
    const history = await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory();
    expect(historyToJSON(history)).not.toContain(sessionId);
  });

  test.concurrent('D6 a session that is lost in mid-scan begins a new scan in a new one', async () => {
    let lost = false;
    const server = await stack.bent({
      sessionId: 'a-session',
      list: (b) => {
        if (b.cursor === 'c2' && !lost) {
          lost = true;
          return void b.response.writeHead(404).end();
        }
        return serveList(() => ({ pages: three, revision: at(1) }))(b);
      },
    });
    const key = ownKey();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
    expect(await roundsOf(key)).toEqual([
      [0, 'INCOMPLETE', 'SESSION_LOST'],
      [1, 'ELIGIBLE', 'PROMOTED'],
    ]);
  });
});

describe('D2 hints', () => {
  const cursorless = (
    journal: readonly { readonly method: string; readonly cursor: string | null }[],
  ): number => journal.filter(({ method, cursor }) => method === 'tools/list' && cursor === null).length;

  test.concurrent('D2 a hint after the last page asks for another tail, and no more than that', async () => {
    const inventory = await stack.inventory({ tools: 40 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    inventory.change({ op: 'hold', page: 1 });
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await until(() => inventory.inventory.pace.waiting === 1);
    inventory.change({ op: 'release' });
    inventory.change({ op: 'hold', page: 0 });
    // The tail is on its way.
    await until(() => inventory.inventory.pace.waiting === 1);
    expect((await hint(key)).runId).toBe(runId);
    inventory.change({ op: 'release' });
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
    expect(cursorless(inventory.journal())).toBe(3);
    expect(await roundsOf(key)).toHaveLength(1);
  });

  test.concurrent('D2 a hint after the end begins another run', async () => {
    const inventory = await stack.inventory({ tools: 5 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    const first = await stack.discover(key);
    inventory.change({ op: 'add-tool', name: 'one_more' });
    const { runId } = await hint(key);
    expect(runId).not.toBe(first.runId);
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', generation: 2, tools: 6 });
  });

  test.concurrent('D2 a hint during a scan that fails asks for a new scan: what it tells of may have mended the list', async () => {
    let bent = true;
    let held = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      held = resolve;
    });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await stack.bent({
      list: async (b) => {
        if (!bent) return serveList(() => ({ pages: three, revision: at(2) }))(b);
        held();
        await released;
        b.bytes('oops');
      },
    });
    const key = ownKey();
    await stack.register(key, server.url);
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await waiting;
    await hint(key);
    bent = false;
    release();
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', tools: 6 });
    expect(await roundsOf(key)).toEqual([
      [0, 'INCOMPLETE', 'PAGE_MALFORMED'],
      [1, 'ELIGIBLE', 'PROMOTED'],
    ]);
    expect(await stack.attributesOf(key, runId)).toMatchObject({ GenlockReason: 'PROMOTED' });
  });

  test.concurrent('D2 a storm of 200 hints costs few scans and loses no change', async () => {
    const inventory = await stack.inventory({ tools: 30 });
    const key = ownKey();
    await stack.register(key, inventory.url);
    for (let burst = 0; burst < 10; burst++) {
      inventory.change({ op: 'add-tool', name: `storm_${burst}` });
      await Promise.all(Array.from({ length: 20 }, () => hint(key)));
    }
    await until(() => idle(key));
    const active = await stack.store.active(key);
    expect(active).toMatchObject({ revision: { value: inventory.inventory.catalog.revision } });
    const { rows } = await stack.admin.query(
      'select count(*)::int as n from genlock.candidate_tool where scan = $1',
      [active?.scan],
    );
    expect(rows[0]?.n).toBe(40);
    const scans = await roundsOf(key);
    expect(scans.length).toBeLessThan(40);
  });
});

/** Every row of every table that holds a text, as text or as bytes. */
const findInStore = async (text: string): Promise<readonly string[]> => {
  const { rows } = await stack.admin.query("select tablename from pg_tables where schemaname = 'genlock'");
  const found: string[] = [];
  for (const { tablename } of rows) {
    const hex = Buffer.from(text).toString('hex');
    const { rowCount } = await stack.admin.query(
      `select 1 from genlock.${tablename} t where t::text like $1 or t::text like $2`,
      [`%${text}%`, `%${hex}%`],
    );
    if (rowCount !== 0) found.push(tablename);
  }
  return found;
};

describe('S4 S6 the credential of a scan', () => {
  const CANARY = 'canary-bearer-5c1f0a7e-token';

  test('S6 a scan shows its credential to the server, and its secret stands in no history and no column', async () => {
    const inventory = await stack.inventory({ tools: 5, token: CANARY });
    const key = ownKey();
    stack.secrets.set('GENLOCK_CREDENTIAL_ACME_INVENTORY', CANARY);
    await stack.register(key, inventory.url, {
      audiences: {
        [key.audience]: { kind: 'reference', reference: 'env:GENLOCK_CREDENTIAL_ACME_INVENTORY' },
      },
    });
    const { runId, state } = await stack.discover(key);
    expect(state).toBe('ELIGIBLE');
    const history = historyToJSON(
      await stack.client.workflow.getHandle(discoveryWorkflowId(key), runId).fetchHistory(),
    );
    expect(history).not.toContain(CANARY);
    expect(history).not.toContain(Buffer.from(CANARY).toString('base64').slice(0, 24));
    expect(await findInStore(CANARY)).toEqual([]);
    // The search itself finds what is there.
    expect(await findInStore('GENLOCK_CREDENTIAL_ACME_INVENTORY')).toContain('server_audience');
  });

  test('S6 a server that repeats the secret in its refusal does not get it into evidence', async () => {
    const server = await stack.bent({
      any: (request, response) => {
        response.writeHead(403, { 'content-type': 'text/plain' }).end(`no: ${request.headers.authorization}`);
        return true;
      },
    });
    const key = ownKey();
    stack.secrets.set('GENLOCK_CREDENTIAL_ACME_ECHOED', CANARY);
    await stack.register(key, server.url, {
      audiences: { [key.audience]: { kind: 'reference', reference: 'env:GENLOCK_CREDENTIAL_ACME_ECHOED' } },
    });
    const outcome = await stack.discover(key);
    expect(outcome).toMatchObject({ reason: 'AUTH_REFUSED', evidence: { start: 'no: Bearer [redacted]' } });
    const history = historyToJSON(
      await stack.client.workflow.getHandle(discoveryWorkflowId(key), outcome.runId).fetchHistory(),
    );
    expect(history).not.toContain(CANARY);
    expect(await findInStore(CANARY)).toEqual([]);
  });
});
