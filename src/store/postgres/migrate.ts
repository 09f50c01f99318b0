/**
 * Brings a database to this program's schema, and gives the three login roles their passwords. The only code that
 * uses the administrator's connection.
 */
import { readdir } from 'node:fs/promises';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { CatalogError } from '../../domain/errors.js';
import { asStoreError, query } from './pool.js';

const MIGRATIONS_TABLE = 'genlock_migrations';

export interface MigrateOptions {
  /** A connection that may create roles and schemas. */
  readonly adminUrl: string;
  /** The folder of the numbered migrations. */
  readonly dir: string;
  /** Passwords of the login roles; a role that is left out keeps what it has. */
  readonly passwords: Partial<Record<'genlock_api' | 'genlock_worker' | 'genlock_operator', string>>;
}

/**
 * Applies the migrations that are missing, under a lock of node-pg-migrate's own, each in a transaction.
 * @throws CatalogError UNAVAILABLE/SCHEMA_TOO_NEW where the database has a migration that this program lacks;
 *   CONFIG_INVALID where the database cannot be reached or refuses the password
 */
export const migrate = async ({ adminUrl, dir, passwords }: MigrateOptions): Promise<readonly string[]> => {
  const client = new pg.Client({ connectionString: adminUrl, application_name: 'genlock migrate' });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw connectError(error, adminUrl);
  }
  try {
    await refuseNewer(client, dir);
    const applied = await runner({
      dbClient: client,
      dir,
      direction: 'up',
      migrationsTable: MIGRATIONS_TABLE,
      checkOrder: true,
      singleTransaction: false,
      log: () => {},
      logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    });
    for (const [role, password] of Object.entries(passwords)) {
      await client.query(
        `alter role ${pg.escapeIdentifier(role)} login password ${pg.escapeLiteral(password)}`,
      );
    }
    return applied.map((migration) => migration.name);
  } catch (error) {
    throw asStoreError(error);
  } finally {
    await client.end();
  }
};

const names = async (dir: string): Promise<readonly string[]> =>
  (await readdir(dir))
    .filter((file) => file.endsWith('.sql') && /^\d{4}_/.test(file))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();

const refuseNewer = async (client: pg.Client, dir: string): Promise<void> => {
  const known = new Set(await names(dir));
  const { rows: tables } = await client.query('select to_regclass($1) is not null as there', [
    `public.${MIGRATIONS_TABLE}`,
  ]);
  if (tables[0]?.there !== true) return;
  const { rows } = await client.query<{ name: string }>(`select name from public.${MIGRATIONS_TABLE}`);
  const unknown = rows.map((row) => row.name).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new CatalogError('UNAVAILABLE', 'SCHEMA_TOO_NEW', { unknown });
};

/** What a person who set the address can act on; never the password that stands in it. */
export const connectError = (error: unknown, url: string): CatalogError => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  const address = describeAddress(url);
  if (code === '28P01' || code === '28000') {
    return new CatalogError(
      'CONFIG_INVALID',
      'DATABASE_AUTH',
      { ...address, sqlState: code },
      { cause: error },
    );
  }
  return new CatalogError(
    'CONFIG_INVALID',
    'DATABASE_UNREACHABLE',
    { ...address, error: code },
    { cause: error },
  );
};

const describeAddress = (
  url: string,
): { readonly host: string; readonly database: string; readonly user: string } => {
  try {
    const parsed = new URL(url);
    return {
      host: parsed.host,
      database: parsed.pathname.slice(1),
      user: decodeURIComponent(parsed.username),
    };
  } catch {
    return { host: 'not a URL', database: '', user: '' };
  }
};

/**
 * Start-up check of a program: the role must be bound by row-level security, and the schema must be this program's.
 * @param url for the message only
 * @throws CatalogError CONFIG_INVALID/ROLE_TOO_POWERFUL, DATABASE_…; UNAVAILABLE/SCHEMA_TOO_OLD
 */
export const checkDatabase = async (pool: pg.Pool, url: string): Promise<void> => {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw connectError(error, url);
  }
  try {
    const rows = await query<{ name: string; powerful: boolean; there: boolean }>(
      client,
      `select current_user as name, r.rolsuper or r.rolbypassrls or pg_has_role(current_user, 'genlock_owner', 'member') as powerful,
         to_regprocedure('genlock.decide_review(text, jsonb, jsonb)') is not null as there
         from pg_roles r where r.rolname = current_user`,
      [],
    ).catch((error: unknown) => {
      // The schema's own role is missing where nothing was migrated.
      if (error instanceof CatalogError)
        throw new CatalogError(
          'UNAVAILABLE',
          'SCHEMA_TOO_OLD',
          { next: 'genlock migrate' },
          { cause: error },
        );
      throw error;
    });
    if (rows[0]?.powerful !== false)
      throw new CatalogError('CONFIG_INVALID', 'ROLE_TOO_POWERFUL', { role: rows[0]?.name });
    if (!rows[0].there) throw new CatalogError('UNAVAILABLE', 'SCHEMA_TOO_OLD', { next: 'genlock migrate' });
  } finally {
    client.release();
  }
};
