/**
 * Pools, and the one place where a driver's error becomes a code. Driver text never reaches a caller; it stays in
 * `cause` for the log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CatalogError } from '../../domain/errors.js';
import type { TenantId } from '../../domain/ids.js';

export interface PoolOptions {
  readonly url: string;
  /** Connections at most. */
  readonly size: number;
  readonly applicationName: string;
  /** Milliseconds that a caller waits for a free connection before it is refused with OVERLOADED. */
  readonly acquireTimeoutMs?: number;
  readonly onError?: (error: Error) => void;
}

/**
 * READ COMMITTED, whatever a role or database has as its default: what takes a lock compares in its next statement, which
 * must see what was committed before the lock.
 */
const SESSION = '-c search_path=genlock,pg_temp -c default_transaction_isolation=read\\ committed';

/**
 * A pool whose connections cannot hold a lock for long: a process that is frozen inside a transaction loses it
 * after two seconds, and no statement waits for a lock longer than five.
 */
export const createPool = (options: PoolOptions): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.size,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.acquireTimeoutMs ?? 5_000,
    idle_in_transaction_session_timeout: 2_000,
    lock_timeout: 5_000,
    statement_timeout: 60_000,
    keepAlive: true,
    options: SESSION,
  });
  const listen = (error: Error): void => options.onError?.(error);
  pool.on('error', listen);
  // A connection that the server ends while it is lent emits on the client, not on the pool.
  pool.on('connect', (client) => client.on('error', listen));
  return pool;
};

const sqlState = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

/** Whether an error is Postgres's own with this SQLSTATE. */
export const isSqlState = (error: unknown, state: string): boolean => sqlState(error) === state;

/** Turns what the driver threw into a CatalogError; a CatalogError passes. */
export const asStoreError = (error: unknown): CatalogError => {
  if (error instanceof CatalogError) return error;
  const state = sqlState(error);
  if (error instanceof Error && error.message.includes('timeout exceeded when trying to connect')) {
    return new CatalogError('OVERLOADED', 'POOL_EXHAUSTED', {}, { cause: error });
  }
  if (state === '53300') return new CatalogError('OVERLOADED', 'POOL_EXHAUSTED', {}, { cause: error });
  return new CatalogError('UNAVAILABLE', 'DATABASE', state === undefined ? {} : { sqlState: state }, {
    cause: error,
  });
};

export type Row = Readonly<Record<string, unknown>>;

/** A deadlock and a failed serialization: the database has undone the whole statement and asks for it once more. */
const UNDONE: ReadonlySet<string | undefined> = new Set(['40P01', '40001']);
const MAX_REPEATS = 3;
/** Milliseconds before a repeat, at most; drawn, so that two who met do not meet again. */
const REPEAT_WITHIN_MS = 50;

/**
 * One statement. No named statements, so that a pooler in transaction mode can stand between. On a pool it is a transaction
 * of its own, and repeated a few times where the database undid it only for the sake of another.
 */
export const query = async <R extends Row>(
  on: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<readonly R[]> => {
  const repeats = on instanceof pg.Pool ? MAX_REPEATS : 0;
  for (let repeat = 0; ; repeat++) {
    try {
      return (await on.query(text, [...values])).rows as R[];
    } catch (error) {
      if (repeat >= repeats || !UNDONE.has(sqlState(error))) throw asStoreError(error);
      await sleep(Math.random() * REPEAT_WITHIN_MS);
    }
  }
};

/**
 * Runs statements under one tenant: row-level security sees nothing without it. A failed ROLLBACK destroys the
 * connection, so that the next user never gets an aborted transaction.
 */
export const withTenant = async <T>(
  pool: pg.Pool,
  tenant: TenantId,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> => {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw asStoreError(error);
  }
  let broken: Error | undefined;
  try {
    await client.query(`begin; select set_config('genlock.tenant', ${pg.escapeLiteral(tenant)}, true)`);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    try {
      await client.query('rollback');
    } catch (rollbackError) {
      broken = rollbackError instanceof Error ? rollbackError : new Error('rollback failed');
    }
    throw asStoreError(error);
  } finally {
    client.release(broken);
  }
};
