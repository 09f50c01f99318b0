/** What real rounds need: a Postgres of the run's own, a clone of the template, pools, and the servers to be scanned. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { devConfig, environment } from '../../src/config.js';
import { startPostgres } from '../../src/dev/embeddedPostgres.js';
import { openStateFolder } from '../../src/dev/stateFolder.js';
import { createOperatorStore } from '../../src/store/postgres/operatorStore.js';
import { createPool } from '../../src/store/postgres/pool.js';
import { createScanStore } from '../../src/store/postgres/scanStore.js';
import { asAdmin } from '../support/administrator.js';
import { cloneOf, type TestDatabase } from '../support/clonedDatabase.js';
import type { TestPostgres } from '../support/services.js';
import { prepareTemplate, unwind } from '../support/testStack.js';
import type { RealParts } from './realRound.js';
import { openRealSources } from './realSource.js';

/** Rounds that a process runs at a time: most of a round is waiting for Postgres. */
export const LANES = 4;

export interface RunPostgres {
  readonly postgres: TestPostgres;
  stop(): Promise<void>;
}

/** Embedded, or the server that DATABASE_URL names. */
export const startRunPostgres = async (): Promise<RunPostgres> => {
  const undo: (() => Promise<unknown>)[] = [];
  const { databaseUrl } = devConfig(environment());
  try {
    if (databaseUrl !== undefined)
      return { postgres: await prepareTemplate(databaseUrl.reveal(), undo), stop: () => unwind(undo) };
    const home = await mkdtemp(join(tmpdir(), 'genlock-interleavings-'));
    undo.push(() => rm(home, { recursive: true, force: true }));
    const folder = await openStateFolder(join(home, 'state'));
    undo.push(() => folder.remove());
    const server = await startPostgres({ stateDir: folder.dir, log: () => undefined });
    undo.push(() => server.stop());
    return { postgres: await prepareTemplate(server.adminUrl, undo), stop: () => unwind(undo) };
  } catch (error) {
    await unwind(undo).catch(() => undefined);
    throw error;
  }
};

/** A clone for rounds. That a commit outlives a crash of Postgres is no matter of theirs. */
export const cloneForRounds = async (postgres: TestPostgres): Promise<TestDatabase> => {
  const database = await cloneOf(postgres);
  await asAdmin(postgres.adminUrl, (admin) =>
    admin.query(`alter database ${database.name} set synchronous_commit = off`),
  );
  return database;
};

export interface RealStack extends RealParts {
  close(): Promise<void>;
}

export const openRealStack = async (
  database: Pick<TestDatabase, 'workerUrl' | 'operatorUrl'>,
): Promise<RealStack> => {
  const open = (url: string) => createPool({ url, size: LANES, applicationName: 'genlock interleavings' });
  const [worker, operator] = [open(database.workerUrl), open(database.operatorUrl)];
  const sources = await openRealSources();
  return {
    store: createScanStore(worker),
    operator: createOperatorStore(operator),
    sources,
    close: async () => {
      await sources.close();
      await worker.end();
      await operator.end();
    },
  };
};
