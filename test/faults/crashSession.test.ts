/**
 * A worker is lost while it reads a source whose cursors die with their session (D6): another goes on inside that session, whose
 * id stands nowhere in the clear; where it cannot, it begins a new scan.
 */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { startDiscovery } from '../../src/temporal/discoveryControl.js';
import { discoveryWorkflowId } from '../../src/workflows/contract.js';
import { createScriptedStdio } from '../fixtures/scriptedStdio.js';
import type { SessionServer } from '../fixtures/sessionServer.js';
import { at as revision, tools } from '../integration/discovery/bentLists.js';
import { ownKey, until, useDiscovery } from '../integration/discovery/discoveryStack.js';
import { closeGate } from './crashGate.js';
import {
  begin,
  expectTwoSessions,
  expectWhole,
  PROMOTED_ONCE,
  pagedBySessions,
  promotions,
  useSessionServers,
  waitingAt,
} from './takeover.js';
import { SESSION_KEY, useWorkers } from './workerProcesses.js';

const stack = useDiscovery({ inProcess: false });
const workers = useWorkers(stack);
const sessionServer = useSessionServers();
const freshKey = () => randomBytes(32).toString('base64url');

/** A discovery that waits for a page, on the only worker there is. */
const waitingFor = async (page: number, server: SessionServer) => {
  const first = await workers.survivor();
  server.hold(page);
  const begun = await begin(stack, pagedBySessions(server));
  await waitingAt(pagedBySessions(server));
  return { ...begun, first };
};
const roundsOf = async ({ tenant, server }: DiscoveryKey) =>
  (await stack.operator.listDiscoveries(tenant, { server, limit: 10 }))
    .map(({ round, reason }) => [round, reason])
    .reverse();
/** Every row of every table, as text. */
const storedText = async (): Promise<string> => {
  const { rows } = await stack.admin.query("select tablename from pg_tables where schemaname = 'genlock'");
  const texts: string[] = [];
  for (const { tablename } of rows) {
    const all = await stack.admin.query(`select t::text as text from genlock.${tablename} t`);
    texts.push(...all.rows.map(({ text }) => String(text)));
  }
  return texts.join('\n');
};

describe('D6 a session that outlives its worker', () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'D6 after %s another worker goes on in it, and it is ended with the pages; its id stands nowhere',
    async (signal) => {
      const server = await sessionServer({ prefix: 'canary' });
      const { key, runId, scan, first } = await waitingFor(2, server);
      await workers.end(first, signal);
      expect(await stack.store.readSession(key.tenant, scan)).toMatch(/^[\w-]{60,}$/);
      const [session] = server.sessions();
      expect(session).toMatchObject({ asked: [0, 1, 2], ended: false });
      const kept = await storedText();
      expect(kept).toContain(scan);
      expect(kept).not.toContain('canary');
      const second = await workers.start();
      server.release();
      await expectWhole(
        stack,
        key,
        runId,
        [first, first, second, second, second].map(({ name }) => name),
      );
      expectTwoSessions(server, /^0+1+22+3+4+$/);
      const handle = stack.client.workflow.getHandle(discoveryWorkflowId(key), runId);
      expect(historyToJSON(await handle.fetchHistory())).not.toContain(session?.id);
      expect([...first.tail(), ...second.tail()].join('\n')).not.toContain(session?.id);
    },
  );

  test.each([
    ['before a page is stored', 'row', 'undo', /^0+1+22+3+4+$/],
    ['after a page is stored and before its heartbeat', 'commit', 'pass', /^0+1+23+4+$/],
  ] as const)(
    'D6 killed %s: no cursor of a committed page is used again in it',
    async (_when, at, end, asked) => {
      const gate = await closeGate(stack, { table: 'page', on: 'insert', when: 'new.n = 2', at });
      const server = await sessionServer();
      const first = await workers.survivor();
      const { key, runId } = await begin(stack, pagedBySessions(server));
      await gate.reached();
      await workers.end(first, 'SIGKILL');
      await gate[end]();
      const second = await workers.start();
      const third = end === 'pass' ? first : second;
      await expectWhole(
        stack,
        key,
        runId,
        [first, first, third, second, second].map(({ name }) => name),
      );
      expectTwoSessions(server, asked);
    },
  );

  test('D6 a new key is put first: workers that have both go on with what the old one sealed', async () => {
    const server = await sessionServer();
    const { key, runId, first } = await waitingFor(2, server);
    await workers.end(first, 'SIGKILL');
    const second = await workers.start({ GENLOCK_SESSION_KEYS: `${freshKey()},${SESSION_KEY}` });
    server.release();
    await expectWhole(
      stack,
      key,
      runId,
      [first, first, second, second, second].map(({ name }) => name),
    );
    expectTwoSessions(server, /^0+1+22+3+4+$/);
    await workers.end(second, 'SIGTERM');
  });

  test('D6 a segment that ends is followed by another in the same session', async () => {
    const server = await sessionServer({ pages: 252 });
    await workers.survivor();
    const { key, runId } = await begin(stack, pagedBySessions(server));
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', pages: 252 });
    expectTwoSessions(server, new RegExp(`^${[...Array(252).keys()].map((n) => `(${n})+`).join('')}$`));
    const { rows } = await stack.admin.query('select segment from genlock.scan where id = $1', [
      `${runId}/0`,
    ]);
    expect(rows).toEqual([{ segment: 1 }]);
  });
});

describe('D6 a session that does not outlive its worker', () => {
  /** Two rounds: the pages of the first were discarded, those of the second are one list. */
  const expectNewScan = async (key: DiscoveryKey, runId: string): Promise<void> => {
    expect(await stack.outcomeOf(key, runId)).toMatchObject({
      state: 'ELIGIBLE',
      generation: 1,
      scan: `${runId}/1`,
    });
    expect(await roundsOf(key)).toEqual([
      [0, 'SESSION_LOST'],
      [1, 'PROMOTED'],
    ]);
    expect(await promotions(stack, key)).toEqual(PROMOTED_ONCE);
    for (const round of [0, 1])
      expect(await stack.store.readSession(key.tenant, `${runId}/${round}`)).toBeNull();
  };

  test('D6 forgotten by the server meanwhile (404): a new scan in a new session', async () => {
    const server = await sessionServer();
    const { key, runId, first } = await waitingFor(2, server);
    await workers.end(first, 'SIGKILL');
    server.forget();
    server.release();
    await workers.start();
    await expectNewScan(key, runId);
    expect(server.sessions().map(({ asked }) => asked)).toEqual([[0, 1, 2], [0, 1, 2, 3, 4], [0]]);
  });

  test('D6 sealed with a key that is gone: a new scan, and the old session is not asked', async () => {
    const server = await sessionServer();
    const { key, runId, first } = await waitingFor(2, server);
    await workers.end(first, 'SIGKILL');
    server.release();
    const second = await workers.start({ GENLOCK_SESSION_KEYS: freshKey() });
    await expectNewScan(key, runId);
    expect(server.sessions().map(({ asked }) => asked)).toEqual([[0, 1, 2], [0, 1, 2, 3, 4], [0]]);
    await workers.end(second, 'SIGTERM');
  });

  test('D6 S6 begun with another credential: a new scan, and its id is not sent along with the new one', async () => {
    const server = await sessionServer();
    const reference = 'env:GENLOCK_CREDENTIAL_ACME_SCAN';
    await workers.endAll();
    const first = await workers.start({ GENLOCK_CREDENTIAL_ACME_SCAN: 'the-first-token' });
    server.hold(2);
    const key = ownKey();
    await stack.register(key, server.url, {
      audiences: { [key.audience]: { kind: 'reference', reference } },
    });
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await waitingAt(pagedBySessions(server));
    await workers.end(first, 'SIGKILL');
    server.release();
    const second = await workers.start({ GENLOCK_CREDENTIAL_ACME_SCAN: 'the-second-token' });
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', scan: `${runId}/1` });
    expect(await roundsOf(key)).toEqual([
      [0, 'CHANGED_DURING_SCAN'],
      [1, 'PROMOTED'],
    ]);
    expect(server.sessions().map(({ asked, tokens }) => [asked, tokens])).toEqual([
      [[0, 1, 2], ['Bearer the-first-token']],
      [[0, 1, 2, 3, 4], ['Bearer the-second-token']],
      [[0], ['Bearer the-second-token']],
    ]);
    await workers.end(second, 'SIGTERM');
  });

  test('D6 registered anew meanwhile: neither its cursors nor its id reach what is registered now', async () => {
    const server = await sessionServer();
    const other = await sessionServer();
    const { key, runId, first } = await waitingFor(2, server);
    await workers.end(first, 'SIGKILL');
    await stack.register(key, other.url);
    server.release();
    await workers.start();
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', scan: `${runId}/1` });
    expect(await roundsOf(key)).toEqual([
      [0, 'CHANGED_DURING_SCAN'],
      [1, 'PROMOTED'],
    ]);
    expect(server.sessions().map(({ asked }) => asked)).toEqual([[0, 1, 2]]);
    expect(other.sessions().map(({ asked }) => asked)).toEqual([[0, 1, 2, 3, 4], [0]]);
  });

  test('D6 a stdio process, which dies with its worker: a new scan of a new process', async () => {
    const list = { pages: [tools(1, 'a'), tools(1, 'b'), tools(1, 'c')], revision: revision(1) };
    const stdio = await createScriptedStdio(list, join(stack.folder, 'stdio'));
    await stdio.bend({ page: 1, stall: true });
    const first = await workers.survivor();
    const key = ownKey();
    await stack.register(key, stdio.source);
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await until(async () => (await stdio.served()).some(({ answered }) => answered === 'stalled'));
    await workers.end(first, 'SIGKILL');
    await stdio.mend();
    await workers.start();
    await expectNewScan(key, runId);
    const served = (await stdio.served()).map(({ page, instance }) => ({ page, instance }));
    const [lost] = served;
    const after = served.filter(({ instance }) => instance !== lost?.instance);
    expect(after.map(({ page }) => page)).toEqual([0, 1, 2, 0]);
  });
});
