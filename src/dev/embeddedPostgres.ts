/**
 * A real Postgres server for development: own data directory, loopback TCP only, durable like a production one.
 * It is stopped with this process, and survives whatever killed an earlier one.
 */
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { CatalogError } from '../domain/errors.js';
import { freePort } from './freePort.js';
import { findPostgresBinaries } from './postgresBinaries.js';
import { type PostgresHome, preparePostgresHome } from './postgresHome.js';
import { type GuardedProcess, launchGuarded, runGuarded } from './processGuard.js';
import { processCommand } from './processIdentity.js';

export interface PostgresOptions {
  /** Absolute path of a folder that this process holds (openStateFolder). */
  readonly stateDir: string;
  /** Taken if free. */
  readonly preferredPort?: number;
  readonly log: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** Connection URL of the superuser; it holds the password, so it is not for logs. */
  readonly adminUrl: string;
  readonly port: number;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const INITDB_LIMIT_MS = 120_000;
const ORPHAN_GRACE_MS = 5_000;
const PORT_TRIES = 5;
/** Nothing of the caller's environment may bend the server: PGDATA, PGOPTIONS, a translated locale. */
const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_preload_libraries=',
  'max_connections=200',
  'fsync=on',
  'synchronous_commit=on',
  'full_page_writes=on',
  'logging_collector=off',
  'timezone=UTC',
  'log_timezone=UTC',
];

/**
 * Starts the server on the data of an earlier run, or on new data.
 * @throws CatalogError CONFIG_INVALID/EMBEDDED_POSTGRES with the server's last lines when it does not come up.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { stateDir, preferredPort, log } = options;
  const home = await preparePostgresHome(stateDir, await findPostgresBinaries());
  const password = await readPassword(stateDir, home);
  await initialise(home, password, log);
  await endOrphan(home.dataDir, log);

  let wish = preferredPort;
  for (let tries = 1; ; tries++) {
    const port = await freePort(wish);
    const server = await launch(home, port, log);
    const adminUrl = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    if (await answers(server, adminUrl)) {
      if (preferredPort !== undefined && port !== preferredPort) {
        log(`Port ${preferredPort} is taken; Postgres listens on ${port}.`);
      }
      return { adminUrl, port, stop: () => server.stop() };
    }
    await server.stop();
    const said = server.tail();
    const portLost = said.some((line) => line.includes('could not bind'));
    const notReaped = said.some((line) => line.includes('postmaster.pid" already exists'));
    if (!(portLost || notReaped) || tries === PORT_TRIES) throw failure('The server did not start.', said);
    // A port that somebody took meanwhile, or a dead server that the system has not reaped yet.
    if (portLost) wish = undefined;
    await pause(600);
  }
}

function launch(home: PostgresHome, port: number, log: (line: string) => void): Promise<GuardedProcess> {
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  return launchGuarded(
    join(home.native, 'bin', 'postgres'),
    ['-D', home.dataDir, '-p', String(port), ...settings],
    {
      account: home.account,
      env: ENV,
      // A fast shutdown: clients are cut off, everything is written.
      stopSignal: 'SIGINT',
      graceMs: 10_000,
      onLine: log,
    },
  );
}

/** Waits until a client gets in. False: the server ended. */
async function answers(server: GuardedProcess, adminUrl: string): Promise<boolean> {
  for (const end = Date.now() + START_LIMIT_MS; Date.now() < end; ) {
    if (server.exitCode() !== undefined) return false;
    if (!server.tail().some((line) => line.includes('ready to accept connections'))) {
      await Promise.race([pause(10), server.exited]);
      continue;
    }
    const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      // Whoever else might listen on this port does not know our password.
      return true;
    } catch (error) {
      await client.end().catch(() => {});
      if ((error as { code?: string }).code === '28P01' && server.exitCode() === undefined) {
        await server.stop();
        throw failure('The data was made with another password than the one in postgres.password.', []);
      }
      await Promise.race([pause(20), server.exited]);
    }
  }
  return false;
}

/** The superuser's password: made once, readable by this user only. */
async function readPassword(stateDir: string, home: PostgresHome): Promise<string> {
  const path = join(stateDir, 'postgres.password');
  const known = await readFile(path, 'utf8').catch(() => undefined);
  if (known) return known.trim();
  if (await isInitialised(home.dataDir)) {
    throw failure(
      `${path} is missing, so that the data in ${home.dataDir} cannot be opened. Delete both.`,
      [],
    );
  }
  const password = randomBytes(24).toString('hex');
  await writeFile(`${path}.new`, password, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return password;
}

const isInitialised = (dataDir: string): Promise<boolean> =>
  stat(join(dataDir, 'PG_VERSION')).then(
    () => true,
    () => false,
  );

/** Runs initdb beside the place of the data and moves the result there, so that a half-made one is never used. */
async function initialise(home: PostgresHome, password: string, log: (line: string) => void): Promise<void> {
  if (await isInitialised(home.dataDir)) return;
  const { account, dataDir } = home;
  const draft = `${dataDir}.draft`;
  const passwordFile = join(dirname(dataDir), 'initdb.password');
  await rm(draft, { recursive: true, force: true });
  // The account can create nothing in root's folder: it gets an empty one of its own.
  if (account) await makeOwnFolder(draft, account);
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account) await chown(passwordFile, account.uid, account.gid);
    const args = ['-D', draft, '-U', 'postgres', '-A', 'scram-sha-256', '--encoding=UTF8', '--locale=C'];
    const run = await runGuarded(
      join(home.native, 'bin', 'initdb'),
      [...args, '--no-instructions', `--pwfile=${passwordFile}`],
      { account, env: ENV, limitMs: INITDB_LIMIT_MS },
    );
    if (run.code !== 0) throw failure('initdb did not create the data directory.', run.tail);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, dataDir).catch(() => {
    throw failure(`${dataDir} holds something that is not Postgres data. Move it away.`, []);
  });
  log('Postgres data directory created.');
}

async function makeOwnFolder(path: string, account: { uid: number; gid: number }): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  await chown(path, account.uid, account.gid);
}

/**
 * Ends a server that an earlier stack left on this data. We hold the state folder, so it serves nobody; its
 * command line must name our data, since pids repeat.
 */
async function endOrphan(dataDir: string, log: (line: string) => void): Promise<void> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  const isOurs = (): boolean => pid > 1 && (processCommand(pid)?.includes(dataDir) ?? false);
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isOurs()) return;
    log(`Stopping the Postgres server that an earlier stack left (pid ${pid}).`);
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself, or is not ours to end; the server's own check tells.
    }
    for (const end = Date.now() + ORPHAN_GRACE_MS; Date.now() < end && isOurs(); ) await pause(20);
  }
}

function failure(why: string, said: readonly string[]): CatalogError {
  return new CatalogError('CONFIG_INVALID', 'EMBEDDED_POSTGRES', {
    why,
    said,
    remedy: 'See the lines of the server; or set DATABASE_URL to a Postgres server of your own.',
  });
}
