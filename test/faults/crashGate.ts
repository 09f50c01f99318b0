/**
 * Stops a worker's own transaction at an exact point inside Postgres, without a hook in the product: a trigger in the test's
 * database waits for a lock that the test holds. While it waits, the worker can be killed; then the test decides whether the
 * transaction is undone, or goes on to its commit with nobody left to hear of it.
 */
import pg from 'pg';
import { type DiscoveryStack, until } from '../integration/discovery/discoveryStack.js';

export interface GatePoint {
  readonly table: 'scan' | 'page' | 'generation' | 'receipt' | 'active_pointer';
  readonly on: 'insert' | 'update';
  /** Of the row, in SQL. */
  readonly when: string;
  /** Right after the row was written, or in the COMMIT of its transaction, before that takes effect. */
  readonly at: 'row' | 'commit';
}

export interface Gate {
  /** Until a transaction waits at the point. */
  reached(): Promise<void>;
  /** Ends the one that waits: nothing of it stands. */
  undo(): Promise<void>;
  /** Lets it go on, and waits until it has ended. */
  pass(): Promise<void>;
}

let keys = 4_710;

/** Each gate has a lock of its own. Once the lock is let go, its trigger does nothing any more. */
export const closeGate = async (
  { database, admin }: DiscoveryStack,
  { table, on, when, at }: GatePoint,
): Promise<Gate> => {
  const key = ++keys;
  const name = `gate_${key}`;
  const holder = new pg.Client({ connectionString: database.adminUrl });
  // Where a test fails before it opens its gate, the end of the database cuts this off.
  holder.on('error', () => undefined);
  await holder.connect();
  await holder.query(`select pg_advisory_lock(${key})`);
  await holder.query(`
    create function genlock.${name}() returns trigger language plpgsql set lock_timeout = '10min' as
      $$ begin perform pg_advisory_xact_lock_shared(${key}); return null; end $$;
    create constraint trigger ${name} after ${on} on genlock.${table}
      deferrable initially ${at === 'commit' ? 'deferred' : 'immediate'}
      for each row when (${when}) execute function genlock.${name}()`);

  const waiting = async (): Promise<readonly number[]> => {
    const { rows } = await admin.query(
      `select l.pid from pg_locks l join pg_database d on d.oid = l.database
         where d.datname = current_database() and l.locktype = 'advisory' and l.objid = ${key} and not l.granted`,
    );
    return rows.map(({ pid }) => pid as number);
  };
  const open = async (meanwhile: (pids: readonly number[]) => Promise<unknown>): Promise<void> => {
    const pids = await waiting();
    await meanwhile(pids);
    await holder.end();
    // A backend does not notice that its client is gone before it has an answer for it.
    await until(async () => {
      const { rows } = await admin.query(
        "select 1 from pg_stat_activity where pid = any($1) and state = 'active'",
        [pids],
      );
      return rows.length === 0;
    });
  };
  return {
    reached: () => until(async () => (await waiting()).length > 0),
    undo: () =>
      open(async (pids) => {
        for (const pid of pids) await admin.query('select pg_terminate_backend($1, 30000)', [pid]);
      }),
    pass: () => open(async () => undefined),
  };
};
