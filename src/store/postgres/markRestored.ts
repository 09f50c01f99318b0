/**
 * What has to happen once after a database came back from a backup. A backup repeats every number and knows nothing of
 * what was revoked or promoted after it, so nothing is admitted on it until an operator has looked at each server.
 */
import pg from 'pg';
import { connectError } from './migrate.js';
import { asStoreError } from './pool.js';

export const RESTORED_REASON = 'restored from a backup: confirm and open';

export interface Restored {
  /** Servers of every tenant that stand closed now. */
  readonly closed: number;
  /** Fences with a new incarnation: one of each tenant and one of each server. */
  readonly fences: number;
}

/**
 * In one transaction: a new random incarnation for every fence, and every server closed. What was decided under a
 * fence from before the restore can then never be committed, even where the number is the same again. A server that
 * was closed already keeps its reason.
 * @param adminUrl the administrator's connection, which may act as `genlock_owner`
 * @throws CatalogError CONFIG_INVALID/DATABASE_… where the database cannot be reached; UNAVAILABLE/DATABASE
 */
export const markRestored = async (adminUrl: string): Promise<Restored> => {
  const client = new pg.Client({
    connectionString: adminUrl,
    application_name: 'genlock migrate --restored',
    lock_timeout: 30_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw connectError(error, adminUrl);
  }
  try {
    await client.query('begin');
    await client.query('set local role genlock_owner');
    await client.query('set local search_path = genlock, pg_temp');
    // Row-level security binds the owner too and shows one tenant at a time. It is lifted for this transaction alone,
    // under a lock that keeps everybody else out of both tables until the commit.
    await client.query('alter table server no force row level security');
    await client.query('alter table fence no force row level security');
    const { rowCount: fences } = await client.query(
      'update fence set incarnation = gen_random_uuid(), version = version + 1',
    );
    const { rowCount: closed } = await client.query(
      'update server set closed_reason = coalesce(closed_reason, $1)',
      [RESTORED_REASON],
    );
    await client.query('alter table fence force row level security');
    await client.query('alter table server force row level security');
    await client.query('commit');
    return { closed: closed ?? 0, fences: fences ?? 0 };
  } catch (error) {
    throw asStoreError(error);
  } finally {
    // Ends what was not committed as well.
    await client.end();
  }
};
