/** Postgres is stopped, or dies, while a worker lists, and comes back: the scan goes on from its last stored page (D6). */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startPostgres } from '../../src/dev/embeddedPostgres.js';
import { openStateFolder, type StateFolder } from '../../src/dev/stateFolder.js';
import { packageRoot } from '../../src/packageRoot.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { discoveryWorkflowId } from '../../src/workflows/contract.js';
import { until, useDiscovery } from '../integration/discovery/discoveryStack.js';
import { asAdmin } from '../support/administrator.js';
import type { TestDatabase } from '../support/database.js';
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

const stack = useDiscovery({ inProcess: false, database: ownDatabase });
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
      const handle = stack.client.workflow.getHandle(discoveryWorkflowId(key), runId);
      await until(async () => {
        const [activity] = (await handle.describe()).raw.pendingActivities ?? [];
        return (activity?.attempt ?? 0) > 1;
      });
      postgres = await start(Number(new URL(stack.database.adminUrl).port));
      expect(postgres.adminUrl).toBe(stack.database.adminUrl);
      expect((await storedPages(stack, key, scan)).slice(0, 2)).toEqual([
        [0, worker.name],
        [1, worker.name],
      ]);
      await expectWhole(stack, key, runId, Array(5).fill(worker.name));
      expect(asked(source)).toMatch(/^0+1+22+3+4+0+$/);
    },
  );
});
