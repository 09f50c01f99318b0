/**
 * The only reader of the environment: what a program needs, checked once at its start, with units and caps. A wrong
 * value names its variable and the rule; no value is ever repeated, since it may be a secret in the wrong place.
 */
import { z } from 'zod';
import {
  host,
  hostAndPort,
  type LoginRole,
  name,
  path,
  postgresUrl,
  publicUrl,
  sessionKeys,
  tenants,
  token,
  webUrl,
  wholeNumber,
  yesOrNo,
} from './config/rules.js';
import { CatalogError } from './domain/errors.js';
import { type DurationMs, durationMs, type TenantId } from './domain/ids.js';
import { DEFAULT_LEASE_TTL, MAX_LEASE_TTL } from './domain/lease.js';
import { Secret } from './domain/secret.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of this process. Everything else here is a function of its argument. */
export const environment = (): Environment => process.env;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface TemporalConfig {
  /** host:port of the gRPC service. */
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
}

interface CommonConfig {
  readonly temporal: TemporalConfig;
  /** Holds the keys that sign leases and receipts; readable by its owner only. */
  readonly keysFile: string;
  /** Issuer of leases and receipts, and the origin that a DPoP proof's `htu` must name. No slash at its end. */
  readonly publicUrl: string;
  /** Connections of each pool of this process. */
  readonly poolSize: number;
  readonly logLevel: LogLevel;
}

export interface ApiConfig extends CommonConfig {
  /** As `genlock_api`: admission and catalog reads. */
  readonly apiDatabaseUrl: Secret;
  /** As `genlock_operator`: the operator's routes, which show history (P3). */
  readonly operatorDatabaseUrl: Secret;
  /** Whose tokens are accepted. */
  readonly callers: { readonly issuer: string; readonly jwksUrl: URL; readonly audience: string };
  readonly listen: { readonly host: string; readonly port: number };
  /** How long a lease lives. It does not lengthen a DPoP proof, a policy epoch or a generation. */
  readonly leaseTtl: DurationMs;
  /** Whether an effectful tool needs a caller token that is bound to the caller's key. */
  readonly requireBoundTokens: boolean;
  /** Temporal's web UI, for links to a run; undefined leaves them out. */
  readonly temporalUiUrl: string | undefined;
}

export interface WorkerConfig extends CommonConfig {
  /** As `genlock_worker`. */
  readonly databaseUrl: Secret;
  /** The worker's name in page and scan records; undefined leaves the choice (host and pid) to wiring. */
  readonly workerName: string | undefined;
  /** Has a folder for each tenant, in which its `file:` credentials lie; undefined lets none be read. */
  readonly credentialsDir: string | undefined;
  /** What sessions of sources are kept sealed with (D6): the first seals, all open. */
  readonly sessionKeys: readonly Secret[];
  /** Whose stdio servers this worker starts, as commands with its own rights. By default nobody's. */
  readonly stdioTenants: ReadonlySet<TenantId>;
}

export interface MigrateConfig {
  /** May create roles and schemas. No running program uses it. */
  readonly adminUrl: Secret;
  /** Given to the login roles; a role without one keeps what it has. */
  readonly passwords: Partial<Record<LoginRole, Secret>>;
}

export interface DevConfig {
  /** Where the embedded stack keeps everything. */
  readonly stateDir: string;
  /** An administrator's connection to use instead of the embedded Postgres. */
  readonly databaseUrl: Secret | undefined;
  /** host:port to use instead of the embedded Temporal. */
  readonly temporalAddress: string | undefined;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Taken if free; else another one is chosen and printed. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly requireBoundTokens: boolean;
  readonly leaseTtl: DurationMs;
  readonly poolSize: number;
  readonly logLevel: LogLevel;
}

/** Every variable that any program reads, with its rule. `.env.example` names each of them. */
export const VARIABLES = {
  DATABASE_URL: postgresUrl(),
  GENLOCK_API_DATABASE_URL: postgresUrl('genlock_api'),
  GENLOCK_OPERATOR_DATABASE_URL: postgresUrl('genlock_operator'),
  GENLOCK_WORKER_DATABASE_URL: postgresUrl('genlock_worker'),
  TEMPORAL_ADDRESS: hostAndPort,
  TEMPORAL_NAMESPACE: name.default('default'),
  TEMPORAL_UI_URL: webUrl,
  GENLOCK_TASK_QUEUE: name.default('genlock'),
  GENLOCK_KEYS_FILE: path,
  GENLOCK_ISSUER_URL: webUrl,
  GENLOCK_ISSUER_JWKS_URL: webUrl,
  GENLOCK_TOKEN_AUDIENCE: z.string().max(512, { error: 'at most 512 characters' }),
  GENLOCK_PUBLIC_URL: publicUrl,
  GENLOCK_API_HOST: host.default('127.0.0.1'),
  GENLOCK_API_PORT: wholeNumber(0, 65_535, 'the port').default(8_080),
  GENLOCK_LEASE_TTL_MS: wholeNumber(1_000, MAX_LEASE_TTL, 'milliseconds').default(DEFAULT_LEASE_TTL),
  GENLOCK_REQUIRE_BOUND_TOKENS: yesOrNo,
  GENLOCK_POOL_SIZE: wholeNumber(1, 200, 'connections').default(10),
  GENLOCK_LOG_LEVEL: z.enum(LOG_LEVELS, { error: `one of ${LOG_LEVELS.join(', ')}` }).default('info'),
  GENLOCK_STATE_DIR: path.default('.genlock'),
  GENLOCK_WORKER_NAME: name,
  GENLOCK_CREDENTIALS_DIR: path,
  GENLOCK_STDIO_TENANTS: tenants,
  GENLOCK_SESSION_KEYS: sessionKeys,
  GENLOCK_URL: publicUrl,
  GENLOCK_TOKEN: token,
} as const;

type Variables = typeof VARIABLES;
type Variable = keyof Variables;
type Values<V extends Variable> = { readonly [K in V]: z.output<Variables[K]> };
type Optional<V extends Variable> = { readonly [K in V]: z.output<Variables[K]> | undefined };

/**
 * @throws CatalogError CONFIG_INVALID/MISSING_VARIABLE or INVALID_VARIABLE, whose details give
 *   the rule of every variable that is at fault
 */
const read = <R extends Variable, O extends Variable = never>(
  env: Environment,
  required: readonly R[],
  optional: readonly O[] = [],
): Values<R> & Optional<O> => {
  const values: Partial<Record<Variable, unknown>> = {};
  const missing: Partial<Record<Variable, string>> = {};
  const invalid: Partial<Record<Variable, string>> = {};
  for (const variable of [...required, ...optional]) {
    // Compose and shells pass an unset variable on as an empty one.
    const text = env[variable] === '' ? undefined : env[variable];
    const parsed = VARIABLES[variable].safeParse(text);
    if (parsed.success) values[variable] = parsed.data;
    else if (text !== undefined)
      invalid[variable] = parsed.error.issues.map(({ message }) => message).join('; ');
    else if ((required as readonly Variable[]).includes(variable)) missing[variable] = 'required';
  }
  const faults = { ...missing, ...invalid };
  if (Object.keys(faults).length > 0) {
    const reason = Object.keys(missing).length > 0 ? 'MISSING_VARIABLE' : 'INVALID_VARIABLE';
    throw new CatalogError('CONFIG_INVALID', reason, faults);
  }
  // Each member was parsed by the schema that gives it its type.
  return values as Values<R> & Optional<O>;
};

const COMMON = [
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'GENLOCK_TASK_QUEUE',
  'GENLOCK_KEYS_FILE',
  'GENLOCK_PUBLIC_URL',
  'GENLOCK_POOL_SIZE',
  'GENLOCK_LOG_LEVEL',
] as const;

const common = (v: Values<(typeof COMMON)[number]>): CommonConfig => ({
  temporal: {
    address: v.TEMPORAL_ADDRESS,
    namespace: v.TEMPORAL_NAMESPACE,
    taskQueue: v.GENLOCK_TASK_QUEUE,
  },
  keysFile: v.GENLOCK_KEYS_FILE,
  publicUrl: v.GENLOCK_PUBLIC_URL,
  poolSize: v.GENLOCK_POOL_SIZE,
  logLevel: v.GENLOCK_LOG_LEVEL,
});

/** What `genlock api` needs. @throws CatalogError CONFIG_INVALID/MISSING_VARIABLE, INVALID_VARIABLE */
export const apiConfig = (env: Environment): ApiConfig => {
  const v = read(
    env,
    [
      ...COMMON,
      'GENLOCK_API_DATABASE_URL',
      'GENLOCK_OPERATOR_DATABASE_URL',
      'GENLOCK_ISSUER_URL',
      'GENLOCK_ISSUER_JWKS_URL',
      'GENLOCK_TOKEN_AUDIENCE',
      'GENLOCK_API_HOST',
      'GENLOCK_API_PORT',
      'GENLOCK_LEASE_TTL_MS',
    ],
    ['GENLOCK_REQUIRE_BOUND_TOKENS', 'TEMPORAL_UI_URL'],
  );
  return {
    ...common(v),
    apiDatabaseUrl: v.GENLOCK_API_DATABASE_URL,
    operatorDatabaseUrl: v.GENLOCK_OPERATOR_DATABASE_URL,
    callers: {
      issuer: v.GENLOCK_ISSUER_URL,
      jwksUrl: new URL(v.GENLOCK_ISSUER_JWKS_URL),
      audience: v.GENLOCK_TOKEN_AUDIENCE,
    },
    listen: { host: v.GENLOCK_API_HOST, port: v.GENLOCK_API_PORT },
    leaseTtl: durationMs(v.GENLOCK_LEASE_TTL_MS),
    requireBoundTokens: v.GENLOCK_REQUIRE_BOUND_TOKENS ?? true,
    temporalUiUrl: v.TEMPORAL_UI_URL?.replace(/\/+$/, ''),
  };
};

/** What `genlock worker` needs. @throws CatalogError CONFIG_INVALID/MISSING_VARIABLE, INVALID_VARIABLE */
export const workerConfig = (env: Environment): WorkerConfig => {
  const v = read(
    env,
    [...COMMON, 'GENLOCK_WORKER_DATABASE_URL', 'GENLOCK_SESSION_KEYS'],
    ['GENLOCK_WORKER_NAME', 'GENLOCK_CREDENTIALS_DIR', 'GENLOCK_STDIO_TENANTS'],
  );
  return {
    ...common(v),
    databaseUrl: v.GENLOCK_WORKER_DATABASE_URL,
    workerName: v.GENLOCK_WORKER_NAME,
    credentialsDir: v.GENLOCK_CREDENTIALS_DIR,
    sessionKeys: v.GENLOCK_SESSION_KEYS,
    stdioTenants: v.GENLOCK_STDIO_TENANTS ?? new Set(),
  };
};

/** What `genlock migrate` needs. @throws CatalogError CONFIG_INVALID/MISSING_VARIABLE, INVALID_VARIABLE */
export const migrateConfig = (env: Environment): MigrateConfig => {
  const v = read(
    env,
    ['DATABASE_URL'],
    ['GENLOCK_API_DATABASE_URL', 'GENLOCK_OPERATOR_DATABASE_URL', 'GENLOCK_WORKER_DATABASE_URL'],
  );
  const passwords: Partial<Record<LoginRole, Secret>> = {};
  const give = (role: LoginRole, url: Secret | undefined): void => {
    const password = url && new URL(url.reveal()).password;
    if (password) passwords[role] = new Secret(decodeURIComponent(password));
  };
  give('genlock_api', v.GENLOCK_API_DATABASE_URL);
  give('genlock_operator', v.GENLOCK_OPERATOR_DATABASE_URL);
  give('genlock_worker', v.GENLOCK_WORKER_DATABASE_URL);
  return { adminUrl: v.DATABASE_URL, passwords };
};

/** What `genlock keys rotate` needs. @throws CatalogError CONFIG_INVALID/MISSING_VARIABLE, INVALID_VARIABLE */
export const keysConfig = (env: Environment): Pick<CommonConfig, 'keysFile'> => ({
  keysFile: read(env, ['GENLOCK_KEYS_FILE']).GENLOCK_KEYS_FILE,
});

/** What commands need that ask an API. @throws CatalogError CONFIG_INVALID/MISSING_VARIABLE, INVALID_VARIABLE */
export const clientConfig = (env: Environment): { readonly url: string; readonly token: Secret } => {
  const v = read(env, ['GENLOCK_URL', 'GENLOCK_TOKEN']);
  return { url: v.GENLOCK_URL, token: v.GENLOCK_TOKEN };
};

/** What `genlock start` and `genlock demo` need: nothing. @throws CatalogError CONFIG_INVALID/INVALID_VARIABLE */
export const devConfig = (env: Environment): DevConfig => {
  const v = read(
    env,
    [
      'GENLOCK_STATE_DIR',
      'TEMPORAL_NAMESPACE',
      'GENLOCK_TASK_QUEUE',
      'GENLOCK_API_HOST',
      'GENLOCK_API_PORT',
      'GENLOCK_LEASE_TTL_MS',
      'GENLOCK_POOL_SIZE',
      'GENLOCK_LOG_LEVEL',
    ],
    ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'GENLOCK_REQUIRE_BOUND_TOKENS'],
  );
  return {
    stateDir: v.GENLOCK_STATE_DIR,
    databaseUrl: v.DATABASE_URL,
    temporalAddress: v.TEMPORAL_ADDRESS,
    namespace: v.TEMPORAL_NAMESPACE,
    taskQueue: v.GENLOCK_TASK_QUEUE,
    listen: { host: v.GENLOCK_API_HOST, port: v.GENLOCK_API_PORT },
    requireBoundTokens: v.GENLOCK_REQUIRE_BOUND_TOKENS ?? false,
    leaseTtl: durationMs(v.GENLOCK_LEASE_TTL_MS),
    poolSize: v.GENLOCK_POOL_SIZE,
    logLevel: v.GENLOCK_LOG_LEVEL,
  };
};
