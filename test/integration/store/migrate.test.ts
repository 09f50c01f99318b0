/** Migrations: applied once, repeatable, and refused by an older program. Start-up checks of a role. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/packageRoot.js';
import { checkDatabase, migrate } from '../../../src/store/postgres/migrate.js';
import { createPool } from '../../../src/store/postgres/pool.js';
import { asAdmin } from '../../support/administrator.js';
import { cloneDatabase, type TestDatabase } from '../../support/database.js';

const dir = join(packageRoot(), 'migrations');
let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

const tablesOf = (url: string) =>
  asAdmin(url, async (admin) => {
    const { rows } = await admin.query(
      `select c.relname, c.relkind, pg_get_userbyid(c.relowner) as owner from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'genlock' order by 1`,
    );
    return rows;
  });

describe('migrations', () => {
  test('a second run applies nothing and changes nothing', async () => {
    const before = await tablesOf(database.adminUrl);
    expect(before.length).toBeGreaterThan(30);
    expect(await migrate({ adminUrl: database.adminUrl, dir, passwords: {} })).toEqual([]);
    expect(await tablesOf(database.adminUrl)).toEqual(before);
  });

  test('an empty database gets every migration, in order, and two programs that start at once do not collide', async () => {
    const name = `${database.name}_fresh`;
    await asAdmin(database.adminUrl, (admin) => admin.query(`create database ${name}`));
    try {
      const url = new URL(database.adminUrl);
      url.pathname = `/${name}`;
      const run = () =>
        migrate({ adminUrl: url.href, dir, passwords: {} }).catch((error: { code: string }) => [error.code]);
      const [first, second] = await Promise.all([run(), run()]);
      const applied = [...first, ...second].filter((one) => one !== 'UNAVAILABLE');
      expect(applied).toEqual(['0001_core', '0002_functions', '0003_reviews']);
      expect((await tablesOf(url.href)).length).toBe((await tablesOf(database.adminUrl)).length);
    } finally {
      await asAdmin(database.adminUrl, (admin) =>
        admin.query(`drop database if exists ${name} with (force)`),
      );
    }
  });

  test('a program that lacks a migration refuses the database and names what it lacks', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'genlock-migrations-'));
    try {
      await expect(migrate({ adminUrl: database.adminUrl, dir: empty, passwords: {} })).rejects.toMatchObject(
        {
          code: 'UNAVAILABLE',
          reason: 'SCHEMA_TOO_NEW',
          details: { unknown: ['0001_core', '0002_functions', '0003_reviews'] },
        },
      );
    } finally {
      await rm(empty, { recursive: true });
    }
  });

  test('an unreachable server and a wrong password are told apart, and no password is repeated', async () => {
    const wrong = new URL(database.workerUrl);
    wrong.password = 'not-the-password';
    const refused = migrate({ adminUrl: wrong.href, dir, passwords: {} });
    await expect(refused).rejects.toMatchObject({ code: 'CONFIG_INVALID', reason: 'DATABASE_AUTH' });
    expect(JSON.stringify(await refused.catch((error: unknown) => error))).not.toContain('not-the-password');
    await expect(
      migrate({ adminUrl: 'postgres://nobody:secret@127.0.0.1:1/none', dir, passwords: {} }),
    ).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      reason: 'DATABASE_UNREACHABLE',
      details: { error: 'ECONNREFUSED' },
    });
  });
});

describe('start-up check', () => {
  const check = async (url: string): Promise<void> => {
    const pool = createPool({ url, size: 1, applicationName: 'genlock tests' });
    try {
      await checkDatabase(pool, url);
    } finally {
      await pool.end();
    }
  };

  test('S4 the three login roles pass, a superuser is refused', async () => {
    for (const url of [database.apiUrl, database.workerUrl, database.operatorUrl]) await check(url);
    await expect(check(database.adminUrl)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      reason: 'ROLE_TOO_POWERFUL',
    });
  });

  test('a database without the schema is SCHEMA_TOO_OLD', async () => {
    const name = `${database.name}_bare`;
    await asAdmin(database.adminUrl, (admin) => admin.query(`create database ${name}`));
    try {
      const url = new URL(database.workerUrl);
      url.pathname = `/${name}`;
      await expect(check(url.href)).rejects.toMatchObject({ code: 'UNAVAILABLE', reason: 'SCHEMA_TOO_OLD' });
    } finally {
      await asAdmin(database.adminUrl, (admin) =>
        admin.query(`drop database if exists ${name} with (force)`),
      );
    }
  });
});
