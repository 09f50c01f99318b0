/** Postgres is stopped, or dies, while a worker lists, and comes back: the scan goes on from its last stored page (D6). */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startPostgres } from '../../src/dev/embeddedPostgres.js';
import { openStateFolder, type StateFolder } from '../../src/dev/stateFolder.js';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { packageRoot } from '../../src/packageRoot.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { startDiscovery } from '../../src/temporal/discoveryControl.js';
import { discoveryWorkflowId } from '../../src/workflows/contract.js';
import { until } from '../integration/discovery/discoveryStack.js';
import { asAdmin } from '../support/administrator.js';
import type { TestDatabase } from '../support/database.js';
import { useFaults } from './expectations.js';
import { soundnessFaults } from './soundness.js';
import {
  asked,
  begin,
  expectWhole,
  pagedBySessions,
  sessionless,
  storedPages,
  useSessionServers,
  waitingAt,
} from './takeover.js';
import { useWorkers } from './workerProcesses.js';

let folder: StateFolder;
let postgres: EmbeddedPostgres;
const start = (preferredPort?: number): Promise<EmbeddedPostgres> =>
  startPostgres({
    stateDir: folder.dir,
    log: () => undefined,
    ...(preferredPort === undefined ? {} : { preferredPort }),
  });

/** A server of this file's own, which it may stop. */
const ownDatabase = async (): Promise<TestDatabase> => {
  folder = await openStateFolder(join(await mkdtemp(join(tmpdir(), 'genlock-postgres-')), 'state'));
  postgres = await start();
  const password = () => randomBytes(12).toString('hex');
  const passwords = { genlock_api: password(), genlock_operator: password(), genlock_worker: password() };
  const { adminUrl } = postgres;
  await migrate({ adminUrl, dir: join(packageRoot(), 'migrations'), passwords });
  const urlOf = (role: keyof typeof passwords): string => {
    const url = new URL(adminUrl);
    url.username = role;
    url.password = passwords[role];
    return url.href;
  };
  return {
    name: 'postgres',
    adminUrl,
    apiUrl: urlOf('genlock_api'),
    operatorUrl: urlOf('genlock_operator'),
    workerUrl: urlOf('genlock_worker'),
    drop: async () => undefined,
  };
};

const stack = useFaults({ inProcess: false, database: ownDatabase });
const workers = useWorkers(stack);
const sessionServer = useSessionServers();
afterAll(async () => {
  await postgres?.stop();
  await folder?.remove();
  if (folder !== undefined) await rm(dirname(folder.dir), { recursive: true, force: true });
});

const END = {
  stopped: () => postgres.stop(),
  /** As by a crash of its machine: what it comes back with is what its log had by then. */
  killed: async () => {
    const [pid] = await asAdmin(postgres.adminUrl, async (admin) => {
      const { rows } = await admin.query(
        "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid",
      );
      return rows.map((row) => row.pid as number);
    });
    // Not SIGKILL: the backends would go on writing for a while.
    process.kill(Number(pid), 'SIGQUIT');
    await postgres.stop();
  },
} as const;

/** Only once the worker has missed it. */
const comesBack = async (key: DiscoveryKey, runId: string): Promise<void> => {
  const handle = stack.client.workflow.getHandle(discoveryWorkflowId(key), runId);
  await until(async () => {
    const [activity] = (await handle.describe()).raw.pendingActivities ?? [];
    return (activity?.attempt ?? 0) > 1;
  });
  postgres = await start(Number(new URL(stack.database.adminUrl).port));
  expect(postgres.adminUrl).toBe(stack.database.adminUrl);
};

describe('D6 Postgres is restarted in mid-scan', () => {
  test.each([
    ['stopped', 'without sessions', async () => sessionless(stack)],
    ['killed', 'with a session', async () => pagedBySessions(await sessionServer())],
  ] as const)(
    'D6 %s, while a source %s is listed: nothing is lost, no committed page is fetched again',
    async (how, _kind, serve) => {
      const source = await serve();
      const worker = await workers.survivor();
      source.hold(2);
      const { key, runId, scan } = await begin(stack, source);
      await waitingAt(source);
      await END[how]();
      // The page comes in while there is nowhere to store it.
      source.release();
      await comesBack(key, runId);
      expect((await storedPages(stack, key, scan)).slice(0, 2)).toEqual([
        [0, worker.name],
        [1, worker.name],
      ]);
      await expectWhole(stack, key, runId, Array(5).fill(worker.name));
      expect(asked(source)).toMatch(/^0+1+22+3+4+0+$/);
    },
  );

  test('P5 D6 killed, while an unchanged list is refreshed: what served serves on, and is renewed', async () => {
    const source = await sessionless(stack);
    const worker = await workers.survivor();
    const { key, runId: first } = await begin(stack, source);
    expect(await stack.outcomeOf(key, first)).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
    const before = await stack.standing(key);
    source.hold(2);
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    const scan = `${runId}/0`;
    await waitingAt(source);
    // Page 2 is asked for ahead, while page 1 is stored.
    await until(async () => (await storedPages(stack, key, scan)).length === 2);
    await END.killed();
    const earlier = source.asked().length;
    source.release();
    await comesBack(key, runId);
    await stack.expectUntouched({ key, before });
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ reason: 'UNCHANGED', generation: 1, scan });
    // With page 2 in hand it asked for page 3, and then could not store.
    expect(source.asked().slice(earlier).join('')).toMatch(/^3+2+3+4+0+$/);
    expect(await storedPages(stack, key, scan)).toEqual([0, 1, 2, 3, 4].map((n) => [n, worker.name]));
    expect(await soundnessFaults(stack, key.server)).toEqual([]);
    expect((await stack.standing(key)).generations).toEqual(before.generations);
  });
});
