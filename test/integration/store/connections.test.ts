/** Connections to Postgres when things go wrong around them: isolation, deadlocks, aborted transactions, no free connection. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { createAdmissionStore } from '../../../src/store/postgres/admissionStore.js';
import { createPool, query, withTenant } from '../../../src/store/postgres/pool.js';
import { createScanStore } from '../../../src/store/postgres/scanStore.js';
import { rounds } from '../../support/testForm.js';
import { ACME, inHours, keyOf, promoted, receipt, sealedScan, useStore } from './storeFixture.js';

const fixture = useStore();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const open = (url: string, more: { readonly size?: number; readonly acquireTimeoutMs?: number } = {}) => {
  const pool = createPool({ url, size: 1, applicationName: 'genlock tests', ...more });
  closers.push(() => pool.end());
  return pool;
};
const pidOf = async (pool: pg.Pool): Promise<number> => {
  const rows = await query<{ pid: number }>(pool, 'select pg_backend_pid() as pid', []);
  return rows[0]?.pid ?? 0;
};
const terminate = async (pid: number): Promise<void> => {
  await fixture.admin.query('select pg_terminate_backend($1)', [pid]);
};
const counts = ({ totalCount, idleCount, waitingCount }: pg.Pool) => ({
  totalCount,
  idleCount,
  waitingCount,
});

describe('P1 isolation', () => {
  test('P1 ten promoters of one pointer: one wins and nine have lost, also where the role defaults to REPEATABLE READ', async () => {
    const { database, admin } = fixture;
    await admin.query(
      `alter role genlock_worker in database ${database.name} set default_transaction_isolation = 'repeatable read'`,
    );
    const pool = open(database.workerUrl, { size: 10 });
    const store = createScanStore(pool);
    const before = (await fixture.store.active(keyOf()))?.version ?? 0;
    const scans = [];
    for (let n = 1; n <= 10; n++)
      scans.push(await sealedScan(fixture, keyOf(), { counter: n, content: `${n}` }));
    const outcomes = await Promise.all(
      scans.map(({ id }) => store.promote(ACME, id, inHours(1), receipt('catalog'))),
    );
    const winner = outcomes.find(({ outcome }) => outcome === 'promoted');
    expect(winner).toBeDefined();
    const generation = winner?.outcome === 'promoted' ? winner.generation : null;
    expect(outcomes.filter((one) => one !== winner)).toEqual(
      Array(9).fill({ outcome: 'lost', activeGeneration: generation }),
    );
    expect(await store.active(keyOf())).toMatchObject({ version: before + 1, generation });
  });

  test.each(['repeatable read', 'serializable'])(
    'L3 under %s nothing is compared at all: its snapshot is older than the lock',
    async (isolation) => {
      const { generation } = await promoted(fixture, keyOf(), { counter: 50, content: isolation });
      const scan = await sealedScan(fixture, keyOf(), { counter: 51, content: `${isolation}, then` });
      const statements: readonly (readonly [pg.Pool, string, readonly unknown[]])[] = [
        [fixture.api, "select * from admit_batch('acme', 'inventory', '[]')", []],
        [
          fixture.worker,
          'select promote($1, $2, $3, $4)',
          ['acme', scan.id, new Date(inHours(1)), receipt('catalog')],
        ],
      ];
      for (const [pool, text, values] of statements) {
        const client = await pool.connect();
        try {
          await client.query(`begin isolation level ${isolation}`);
          await expect(client.query(text, [...values])).rejects.toMatchObject({ code: '25000' });
        } finally {
          await client.query('rollback');
          client.release();
        }
      }
      expect(await fixture.store.active(keyOf())).toMatchObject({ generation });
    },
  );

  test('P2 two attempts to promote one candidate at a time are one promotion, and both say so', async () => {
    const scan = await sealedScan(fixture, keyOf(), { counter: 60, content: 'twice' });
    const receipts = [receipt('catalog'), receipt('catalog')];
    const [one, two] = await Promise.all(
      receipts.map((each) => fixture.store.promote(ACME, scan.id, inHours(1), each)),
    );
    expect(one).toMatchObject({ outcome: 'promoted', generation: scan.generation });
    expect(two).toEqual(one);
    const { rows } = await fixture.admin.query(
      'select (select count(*)::int from genlock.receipt where id = any($1)) as receipts, (select count(*)::int from genlock.freshness where scan = $2) as freshness',
      [receipts.map(({ id }) => id), scan.id],
    );
    expect(rows).toEqual([{ receipts: 1, freshness: 1 }]);
    expect(await fixture.store.active(keyOf())).toMatchObject({ version: scan.basePointerVersion + 1 });
  });
});

describe('statements that the database undoes', () => {
  test('a statement that loses a deadlock is repeated; one inside a transaction is not', async () => {
    const { admin, database } = fixture;
    await admin.query('create table public.pair (n int primary key, seen int not null default 0)');
    await admin.query('insert into public.pair values (1), (2)');
    const pool = open(database.adminUrl);
    /** Has one row and goes for the other as soon as the other side waits for the first, or has ended. */
    const both = (other: number): string => `do $$ begin
      update public.pair set seen = seen + 1 where n = 2;
      while exists (select from pg_locks where pid = ${other}) and not exists (select from pg_locks where pid = ${other} and not granted)
        loop perform pg_sleep(0.01); end loop;
      update public.pair set seen = seen + 1 where n = 1; end $$`;
    const hasOne = async (): Promise<void> => {
      const sleeps =
        "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep' and query like 'do %'";
      while ((await admin.query(sleeps)).rowCount !== 1) await sleep(5);
    };
    /** Meets the statement under test so that it is the one that Postgres undoes. */
    const meet = async (run: (text: string) => Promise<unknown>): Promise<unknown> => {
      const other = await admin.connect();
      try {
        await other.query(
          "begin; set local deadlock_timeout = '5min'; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0",
        );
        const { rows } = await other.query('select pg_backend_pid() as pid');
        await other.query('update public.pair set seen = seen + 100 where n = 1');
        const outcome = run(both(rows[0].pid)).catch((error: unknown) => error);
        await hasOne();
        await other.query('update public.pair set seen = seen + 100 where n = 2');
        await other.query('commit');
        return await outcome;
      } finally {
        other.release();
      }
    };
    expect(await meet((text) => query(pool, text, []))).toEqual([]);
    expect(await meet((text) => withTenant(pool, ACME, (client) => query(client, text, [])))).toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'DATABASE',
      details: { sqlState: '40P01' },
    });
    expect((await admin.query('select n, seen from public.pair order by n')).rows).toEqual([
      { n: 1, seen: 201 },
      { n: 2, seen: 201 },
    ]);
  });
});

describe('what goes back into the pool', () => {
  test('after a transaction that failed the next user gets a clean connection, and no row of it stays', async () => {
    const pool = open(fixture.database.workerUrl);
    const pid = await pidOf(pool);
    await expect(withTenant(pool, ACME, (client) => query(client, 'select 1 / 0', []))).rejects.toMatchObject(
      {
        code: 'UNAVAILABLE',
        details: { sqlState: '22012' },
      },
    );
    await expect(withTenant(pool, ACME, () => Promise.reject(new Error('between')))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    const rows = await query(
      pool,
      "select pg_backend_pid() as pid, pg_current_xact_id_if_assigned()::text as xid, coalesce(current_setting('genlock.tenant', true), '') as tenant",
      [],
    );
    expect(rows).toEqual([{ pid, xid: null, tenant: '' }]);
  });

  test('a connection that dies within a transaction is thrown away, and the next one is another', async () => {
    const pool = open(fixture.database.workerUrl);
    const pid = await pidOf(pool);
    await expect(
      withTenant(pool, ACME, async (client) => {
        await terminate(pid);
        return await query(client, 'select 1', []);
      }),
    ).rejects.toMatchObject({ code: 'UNAVAILABLE', reason: 'DATABASE' });
    expect(await pidOf(pool)).not.toBe(pid);
    expect(counts(pool)).toEqual({ totalCount: 1, idleCount: 1, waitingCount: 0 });
  });

  test('no number of failing, cancelled and killed statements uses the pool up', async () => {
    const pool = open(fixture.database.workerUrl, { size: 3 });
    const failing = async (n: number): Promise<unknown> => {
      if (n % 4 === 0) return query(pool, 'select 1 / 0', []);
      if (n % 4 === 1) return withTenant(pool, ACME, (client) => query(client, 'select nonsense', []));
      if (n % 4 === 2)
        return withTenant(pool, ACME, async (client) => {
          await client.query('set local statement_timeout = 10');
          return await query(client, 'select pg_sleep(60)', []);
        });
      return withTenant(pool, ACME, async (client) => {
        const [row] = await query<{ pid: number }>(client, 'select pg_backend_pid() as pid', []);
        return await Promise.all([query(client, 'select pg_sleep(60)', []), terminate(row?.pid ?? 0)]);
      });
    };
    const total = rounds(60, 2_000);
    const ends = await Promise.all(
      Array.from({ length: total }, (_, n) =>
        failing(n).then(
          () => 'held',
          (error: { code: string }) => error.code,
        ),
      ),
    );
    expect(ends).toEqual(Array(total).fill('UNAVAILABLE'));
    expect(await Promise.all([1, 2, 3].map(() => pidOf(pool)))).toHaveLength(3);
    expect(pool.waitingCount).toBe(0);
    expect(pool.idleCount).toBe(pool.totalCount);
    expect(pool.totalCount).toBeLessThanOrEqual(3);
  });

  test('A6 who gets no connection in time is refused as OVERLOADED, and is no longer waited for', async () => {
    const pool = open(fixture.database.apiUrl, { acquireTimeoutMs: 3_000 });
    const admissions = createAdmissionStore(pool);
    const { server, audience } = keyOf();
    const client = await pool.connect();
    const refused = { code: 'OVERLOADED', reason: 'POOL_EXHAUSTED' };
    try {
      await Promise.all([
        expect(admissions.view(ACME, server, audience)).rejects.toMatchObject(refused),
        expect(admissions.commitDecisions(ACME, server, [])).rejects.toMatchObject(refused),
        expect(withTenant(pool, ACME, () => Promise.resolve())).rejects.toMatchObject(refused),
      ]);
      expect(pool.waitingCount).toBe(0);
    } finally {
      client.release();
    }
    expect(await admissions.view(ACME, server, audience)).toMatchObject({ server: { name: server } });
    expect(counts(pool)).toEqual({ totalCount: 1, idleCount: 1, waitingCount: 0 });
  });
});

describe('a pooler between', () => {
  test('no statement is prepared under a name, and what one leaves behind in its session is needed by none', async () => {
    const pool = open(fixture.database.workerUrl);
    const store = createScanStore(pool);
    const one = await promoted({ ...fixture, store }, keyOf(), { counter: 70, content: 'pooled' });
    // As a pooler does between two clients that share a connection.
    await pool.query('discard all');
    expect(await store.active(keyOf())).toMatchObject({ generation: one.generation });
    expect(await query(pool, 'select name from pg_prepared_statements', [])).toEqual([]);
    expect(await query(pool, 'select pg_backend_pid() is not null as same', [])).toEqual([{ same: true }]);
    expect(pool.totalCount).toBe(1);
  });
});
