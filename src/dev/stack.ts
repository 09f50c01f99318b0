/**
 * The embedded stack: Postgres, Temporal, a token issuer, and Genlock's own programs as processes of their own. What
 * the configuration names is used, what it leaves out is brought up; everything that was started is stopped in order.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { DevConfig } from '../config.js';
import { packageRoot } from '../packageRoot.js';
import { connectError, migrate } from '../store/postgres/migrate.js';
import { connectTemporal } from '../temporal/connect.js';
import { searchAttributeTypes } from '../temporal/searchAttributes.js';
import { startPostgres } from './embeddedPostgres.js';
import { EXAMPLE_TENANT } from './exampleServers.js';
import { freePort } from './freePort.js';
import { type DevIssuer, startDevIssuer } from './issuer.js';
import { type ReadyProcess, startReadyProcess } from './readyProcess.js';
import { findTemporal } from './temporalBinary.js';
import { startTemporal } from './temporalServer.js';

/** `aud` of the dev issuer's tokens. */
const TOKEN_AUDIENCE = 'genlock';

export interface StackPorts {
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly issuer: number;
}

export interface StackOptions {
  readonly config: DevConfig;
  /** Absolute; this process holds its lock. */
  readonly stateDir: string;
  /** Where Temporal's program is kept, shared by all stacks of a checkout. */
  readonly binDir: string;
  /** Wished for; others are taken and told where these are not free. */
  readonly ports: StackPorts | null;
  /** Whether Temporal keeps its workflows in the state folder. */
  readonly persistent: boolean;
  readonly log: (line: string) => void;
  /** Aborted, the start rejects at once: what is up is stopped, what is still coming up ends with this process. */
  readonly signal?: AbortSignal;
  /** Lines of the programs that are run; by default none. */
  readonly programLog?: (program: string, line: string) => void;
}

export interface Stack {
  readonly databaseUrl: string;
  readonly temporal: { readonly address: string; readonly uiUrl: string | null; readonly namespace: string };
  readonly apiUrl: string;
  readonly issuer: DevIssuer;
  /** The environment of each program of this stack, secrets included: what it needs itself, and no more. */
  readonly programEnv: Readonly<Record<'api' | 'worker', Readonly<Record<string, string>>>>;
  startApi(): Promise<ReadyProcess>;
  startWorker(name: string): Promise<ReadyProcess>;
  stop(): Promise<void>;
}

interface Stoppable {
  stop(): Promise<void>;
}

/** @throws CatalogError CONFIG_INVALID/… with what did not start; whatever had started by then is stopped */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const started: Stoppable[] = [];
  const stop = async (): Promise<void> => {
    // In reverse: programs before the servers that they use.
    for (let part = started.pop(); part !== undefined; part = started.pop()) await part.stop();
  };
  try {
    return await unlessAborted(bringUp(options, started, stop), options.signal);
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Settles as the work does, or rejects as soon as the signal is aborted; the work itself goes on unseen. */
export const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

const bringUp = async (
  { config, stateDir, binDir, ports, persistent, log, signal, programLog }: StackOptions,
  started: Stoppable[],
  stop: () => Promise<void>,
): Promise<Stack> => {
  await reachGiven(config);
  signal?.throwIfAborted();
  const servers = [
    bringPostgres(config, stateDir, ports, started, log),
    bringTemporal(config, { stateDir, binDir, ports, persistent, signal }, started, log),
  ] as const;
  const [databaseUrl, temporal] = await Promise.all(servers).catch(async (error: unknown) => {
    // The other one may be coming up still, and would be left running.
    await Promise.allSettled(servers);
    throw error;
  });
  signal?.throwIfAborted();
  const roles = await rolePasswords(stateDir);
  const sessionKey = await keptSecret(join(stateDir, 'session-key.json'), () =>
    randomBytes(32).toString('base64url'),
  );
  log('Bringing the schema up to date.');
  await migrate({ adminUrl: databaseUrl, dir: join(packageRoot(), 'migrations'), passwords: roles });
  signal?.throwIfAborted();

  const issuer = await startDevIssuer({
    keyFile: join(stateDir, 'issuer-keys.json'),
    audience: TOKEN_AUDIENCE,
    port: await freePort(ports?.issuer),
  });
  started.push({ stop: () => issuer.close() });

  const apiPort = await freePort(ports === null ? undefined : config.listen.port);
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const addresses = { databaseUrl, roles, sessionKey, temporal, issuer, apiUrl, apiPort, stateDir };
  const programEnv = { api: apiVariables(config, addresses), worker: workerVariables(config, addresses) };
  const program = async (
    name: string,
    command: 'api' | 'worker',
    extra: Record<string, string> = {},
  ): Promise<ReadyProcess> => {
    const running = await startReadyProcess({
      name,
      command: process.execPath,
      args: [join(packageRoot(), 'dist', 'src', 'bin', 'genlock.js'), command],
      env: { ...programEnv[command], ...extra },
      ...(programLog === undefined ? {} : { onLine: (line: string) => programLog(name, line) }),
    });
    started.push(running);
    return running;
  };
  return {
    databaseUrl,
    temporal: { ...temporal, namespace: config.namespace },
    apiUrl,
    issuer,
    programEnv,
    startApi: () => program('api', 'api'),
    startWorker: (name) => program(name, 'worker', { GENLOCK_WORKER_NAME: name }),
    stop,
  };
};

const REACH_LIMIT_MS = 5_000;

/**
 * Servers that somebody named are tried before anything is fetched or started: a wrong address is told at once.
 * @throws CatalogError CONFIG_INVALID/DATABASE_UNREACHABLE, DATABASE_AUTH, TEMPORAL_UNREACHABLE
 */
const reachGiven = async ({ databaseUrl, temporalAddress, namespace }: DevConfig): Promise<void> => {
  if (databaseUrl !== undefined) {
    const url = databaseUrl.reveal();
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: REACH_LIMIT_MS });
    client.on('error', () => {});
    await client.connect().catch((error: unknown) => {
      throw connectError(error, url);
    });
    await client.end();
  }
  if (temporalAddress !== undefined) {
    const client = await connectTemporal({ address: temporalAddress, namespace });
    await client.connection.close();
  }
};

const bringPostgres = async (
  config: DevConfig,
  stateDir: string,
  ports: StackPorts | null,
  started: Stoppable[],
  log: (line: string) => void,
): Promise<string> => {
  if (config.databaseUrl !== undefined) return config.databaseUrl.reveal();
  const server = await startPostgres({
    stateDir,
    log: () => {},
    ...(ports === null ? {} : { preferredPort: ports.postgres }),
  });
  started.push(server);
  if (ports !== null && server.port !== ports.postgres)
    log(`Port ${ports.postgres} is taken; Postgres listens on ${server.port}.`);
  return server.adminUrl;
};

const bringTemporal = async (
  config: DevConfig,
  at: Pick<StackOptions, 'stateDir' | 'binDir' | 'ports' | 'persistent'> & {
    readonly signal: AbortSignal | undefined;
  },
  started: Stoppable[],
  log: (line: string) => void,
): Promise<{ readonly address: string; readonly uiUrl: string | null }> => {
  if (config.temporalAddress !== undefined) return { address: config.temporalAddress, uiUrl: null };
  const binary = await findTemporal({ binDir: at.binDir, log });
  at.signal?.throwIfAborted();
  const server = await startTemporal({
    stateDir: at.stateDir,
    binary: binary.path,
    searchAttributes: searchAttributeTypes(),
    persistent: at.persistent,
    // Of its own lines only those that name another port than the wished one.
    log: (line) => {
      if (line.startsWith('Port ')) log(line);
    },
    ...(at.ports === null ? {} : { preferredPort: at.ports.temporal, preferredUiPort: at.ports.temporalUi }),
  });
  started.push(server);
  return { address: server.address, uiUrl: server.uiUrl };
};

type RolePasswords = Readonly<Record<'genlock_api' | 'genlock_operator' | 'genlock_worker', string>>;

/** Made once for a state folder, kept private to its user. */
const keptSecret = async <T>(file: string, make: () => T): Promise<T> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const made = make();
  await writeFile(file, JSON.stringify(made), { mode: 0o600 });
  return made;
};

const rolePasswords = (stateDir: string): Promise<RolePasswords> =>
  keptSecret(join(stateDir, 'role-passwords.json'), () => {
    const fresh = (): string => randomBytes(24).toString('base64url');
    return { genlock_api: fresh(), genlock_operator: fresh(), genlock_worker: fresh() };
  });

const asRole = (databaseUrl: string, role: keyof RolePasswords, roles: RolePasswords): string => {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = roles[role];
  return url.href;
};

interface Addresses {
  readonly databaseUrl: string;
  readonly roles: RolePasswords;
  readonly sessionKey: string;
  readonly temporal: { readonly address: string; readonly uiUrl: string | null };
  readonly issuer: DevIssuer;
  readonly apiUrl: string;
  readonly apiPort: number;
  readonly stateDir: string;
}

const commonVariables = (config: DevConfig, at: Addresses): Record<string, string> => ({
  PATH: '/usr/local/bin:/usr/bin:/bin',
  TEMPORAL_ADDRESS: at.temporal.address,
  TEMPORAL_NAMESPACE: config.namespace,
  GENLOCK_TASK_QUEUE: config.taskQueue,
  GENLOCK_KEYS_FILE: join(at.stateDir, 'signing-keys.json'),
  GENLOCK_PUBLIC_URL: at.apiUrl,
  GENLOCK_POOL_SIZE: String(config.poolSize),
  GENLOCK_LOG_LEVEL: config.logLevel,
});

const apiVariables = (config: DevConfig, at: Addresses): Record<string, string> => ({
  ...commonVariables(config, at),
  GENLOCK_API_DATABASE_URL: asRole(at.databaseUrl, 'genlock_api', at.roles),
  GENLOCK_OPERATOR_DATABASE_URL: asRole(at.databaseUrl, 'genlock_operator', at.roles),
  ...(at.temporal.uiUrl === null ? {} : { TEMPORAL_UI_URL: at.temporal.uiUrl }),
  GENLOCK_ISSUER_URL: at.issuer.issuer,
  GENLOCK_ISSUER_JWKS_URL: at.issuer.jwksUrl,
  GENLOCK_TOKEN_AUDIENCE: TOKEN_AUDIENCE,
  GENLOCK_API_HOST: '127.0.0.1',
  GENLOCK_API_PORT: String(at.apiPort),
  GENLOCK_LEASE_TTL_MS: String(config.leaseTtl),
  GENLOCK_REQUIRE_BOUND_TOKENS: String(config.requireBoundTokens),
});

/** A stdio server runs with the worker's rights: what is not here, it cannot read from its environment. */
const workerVariables = (config: DevConfig, at: Addresses): Record<string, string> => ({
  ...commonVariables(config, at),
  GENLOCK_WORKER_DATABASE_URL: asRole(at.databaseUrl, 'genlock_worker', at.roles),
  GENLOCK_SESSION_KEYS: at.sessionKey,
  GENLOCK_CREDENTIALS_DIR: join(at.stateDir, 'credentials'),
  GENLOCK_STDIO_TENANTS: EXAMPLE_TENANT,
});
