/**
 * Starts the services of a test run: embedded ones on a folder of their own, or those that DATABASE_URL and
 * TEMPORAL_ADDRESS name. On a server of your own the genlock_* roles get new passwords.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflows } from '../../scripts/bundleWorkflows.js';
import { devConfig, environment } from '../../src/config.js';
import { startPostgres } from '../../src/dev/embeddedPostgres.js';
import { openStateFolder } from '../../src/dev/stateFolder.js';
import { findTemporal } from '../../src/dev/temporalBinary.js';
import { startTemporal } from '../../src/dev/temporalServer.js';
import { packageRoot } from '../../src/packageRoot.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { connectTemporal } from '../../src/temporal/connect.js';
import { registerSearchAttributes, searchAttributeTypes } from '../../src/temporal/searchAttributes.js';
import { asAdmin } from './administrator.js';
import type { TestPostgres, TestTemporal } from './services.js';

export interface TestStack {
  readonly postgres: TestPostgres;
  readonly temporal: TestTemporal;
  stop(): Promise<void>;
}

const BIN = join(packageRoot(), '.genlock', 'bin');
/** Runs undo steps last first, all of them, whatever one of them throws. */
export const unwind = async (steps: (() => Promise<unknown>)[]): Promise<void> => {
  const faults: unknown[] = [];
  for (const step of steps.reverse()) await step().catch((error: unknown) => faults.push(error));
  if (faults.length > 0) throw new AggregateError(faults, 'The test services did not stop cleanly.');
};

export const startTestStack = async (): Promise<TestStack> => {
  const config = devConfig(environment());
  const undo: (() => Promise<unknown>)[] = [];
  const quiet = (): void => {};
  try {
    const home = await mkdtemp(join(tmpdir(), 'genlock-stack-'));
    undo.push(() => rm(home, { recursive: true, force: true }));
    const folder = await openStateFolder(join(home, 'state'));
    undo.push(() => folder.remove());

    const bundle = join(home, 'workflow-bundle.js');
    const bundling = bundleWorkflows(bundle);
    // Awaited below; until then a failure must not count as unhandled.
    bundling.catch(quiet);

    const embedded = config.databaseUrl
      ? undefined
      : await startPostgres({ stateDir: folder.dir, log: quiet });
    if (embedded) undo.push(() => embedded.stop());
    const postgres = await prepareTemplate(embedded?.adminUrl ?? config.databaseUrl?.reveal() ?? '', undo);

    let address = config.temporalAddress;
    if (address === undefined) {
      const { path } = await findTemporal({ binDir: BIN, log: quiet });
      const server = await startTemporal({
        stateDir: folder.dir,
        binary: path,
        searchAttributes: searchAttributeTypes(),
        persistent: false,
        log: quiet,
      });
      undo.push(() => server.stop());
      address = server.address;
    } else await registerAttributes(address, config.namespace);

    await bundling;
    return { postgres, temporal: { address, namespace: config.namespace, bundle }, stop: () => unwind(undo) };
  } catch (error) {
    await unwind(undo).catch(quiet);
    throw error;
  }
};

/** A migrated database under a name of this run. */
export const prepareTemplate = async (
  adminUrl: string,
  undo: (() => Promise<unknown>)[],
): Promise<TestPostgres> => {
  const template = `genlock_template_${randomBytes(6).toString('hex')}`;
  await asAdmin(adminUrl, (admin) => admin.query(`create database ${template}`));
  undo.push(() =>
    asAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${template} with (force)`)),
  );
  const url = new URL(adminUrl);
  // Roles belong to the whole server: two runs on one server must give them the same passwords.
  const password = (role: string): string =>
    createHmac('sha256', `genlock tests ${url.password}`).update(role).digest('hex');
  const passwords = {
    genlock_api: password('genlock_api'),
    genlock_operator: password('genlock_operator'),
    genlock_worker: password('genlock_worker'),
  };
  url.pathname = `/${template}`;
  await migrate({ adminUrl: url.href, dir: join(packageRoot(), 'migrations'), passwords });
  return { adminUrl, template, passwords };
};

const registerAttributes = async (address: string, namespace: string): Promise<void> => {
  const client = await connectTemporal({ address, namespace });
  try {
    await registerSearchAttributes(client, namespace);
  } finally {
    await client.connection.close();
  }
};
