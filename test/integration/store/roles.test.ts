/** What the login roles can and cannot do, whatever the programs that hold their passwords try (P3, S4). */
import type pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  ACME,
  claimOf,
  digest,
  GLOBEX,
  inHours,
  keyOf,
  pageOf,
  promoted,
  receipt,
  sealedScan,
  useStore,
} from './storeFixture.js';

const fixture = useStore();
let scan: string;
let tables: readonly string[];

const sqlState = async (pool: pg.Pool, text: string, values: readonly unknown[] = []): Promise<string> =>
  await pool.query(text, [...values]).then(
    ({ rowCount }) => `${rowCount} rows`,
    (error: { code: string }) => error.code,
  );
/** Runs one statement under a tenant of the role's own choice, in a transaction, and undoes it. */
const underTenant = async (pool: pg.Pool, tenant: string, text: string): Promise<string> => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query("select set_config('genlock.tenant', $1, true)", [tenant]);
    return await client.query(text).then(
      ({ rowCount }) => `${rowCount} rows`,
      (error: { code: string }) => error.code,
    );
  } finally {
    await client.query('rollback');
    client.release();
  }
};
const DENIED = '42501';

beforeAll(async () => {
  scan = (await promoted(fixture, keyOf())).scan.id;
  await promoted(fixture, keyOf(GLOBEX));
  const { rows } = await fixture.admin.query(
    "select tablename from pg_tables where schemaname = 'genlock' order by 1",
  );
  tables = rows.map(({ tablename }) => tablename);
});

describe('P3 genlock_api', () => {
  test('P3 reads no table at all, with or without a tenant', async () => {
    expect(tables.length).toBeGreaterThan(15);
    for (const table of tables) {
      expect([table, await sqlState(fixture.api, `select * from genlock.${table}`)]).toEqual([table, DENIED]);
      expect([table, await underTenant(fixture.api, 'acme', `select 1 from genlock.${table}`)]).toEqual([
        table,
        DENIED,
      ]);
      expect([table, await underTenant(fixture.api, 'acme', `delete from genlock.${table}`)]).toEqual([
        table,
        DENIED,
      ]);
    }
  });

  test('P3 reads the catalog through the pointer, and calls none of the functions of worker and operator', async () => {
    const { rows } = await fixture.api.query('select genlock.active_catalog($1, $2, $3, $4, 10) as c', [
      'acme',
      'inventory',
      'managers',
      '',
    ]);
    expect(rows[0]?.c).toMatchObject({ generation: 1, scan });
    const calls = [
      ["select genlock.promote('acme', $1, now(), '{}')", [scan]],
      ["select genlock.renew_freshness('acme', $1, now())", [scan]],
      ["select genlock.claim_scan('acme', '{}')", []],
      ["select genlock.store_page('acme', $1, 0, 1, '{}', '')", [scan]],
      ["select genlock.publish_policy('acme', 0, '{}', '', '', '{}')", []],
      ["select genlock.register_server('acme', '{}', '{}', '{}', null)", []],
      ["select genlock.accept_held('acme', '{}', '{}')", []],
      ["select genlock.decide_review('acme', '{}', '{}')", []],
      ['select * from genlock.open_review', []],
      ["select genlock.rest_on('acme', $1, '{}')", [scan]],
      ["select genlock.bump_fence('acme', '')", []],
      ["select genlock.insert_receipt('{}')", []],
    ] as const;
    for (const [text, values] of calls)
      expect([text, await sqlState(fixture.api, text, values)]).toEqual([text, DENIED]);
  });

  test('P3 owns nothing and is bound by row-level security, as the other roles are', async () => {
    const { rows: owned } = await fixture.admin.query(
      `select c.relname from pg_class c join pg_roles r on r.oid = c.relowner join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'genlock' and r.rolname <> 'genlock_owner'`,
    );
    expect(owned).toEqual([]);
    const { rows: open } = await fixture.admin.query(
      `select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'genlock' and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)`,
    );
    expect(open).toEqual([]);
    const { rows: roles } = await fixture.admin.query(
      "select rolname from pg_roles where rolname like 'genlock_%' and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or (rolname = 'genlock_owner' and rolcanlogin))",
    );
    expect(roles).toEqual([]);
  });
});

describe('S4 the wall between tenants', () => {
  test('S4 without a tenant, or with an empty one, every table is empty', async () => {
    for (const [name, pool] of [
      ['worker', fixture.worker],
      ['operator', fixture.operatorPool],
    ] as const) {
      for (const table of ['server', 'scan', 'page', 'candidate_tool', 'generation', 'active_pointer']) {
        expect([name, table, await sqlState(pool, `select 1 from genlock.${table}`)]).toEqual([
          name,
          table,
          '0 rows',
        ]);
        expect([name, table, await underTenant(pool, '', `select 1 from genlock.${table}`)]).toEqual([
          name,
          table,
          '0 rows',
        ]);
      }
    }
  });

  test('S4 a tenant sees its own rows and no others', async () => {
    for (const table of ['server', 'scan', 'page', 'candidate_tool', 'generation', 'active_pointer']) {
      expect(
        await underTenant(fixture.worker, 'globex', `select 1 from genlock.${table} where tenant = 'acme'`),
      ).toBe('0 rows');
      expect(await underTenant(fixture.worker, 'globex', `select 1 from genlock.${table}`)).toBe('1 rows');
    }
    expect(await fixture.store.readScan(GLOBEX, scan)).toBeNull();
    expect(await fixture.operator.readDiscovery(GLOBEX, scan)).toBeNull();
    expect(
      (await fixture.operator.listDiscoveries(GLOBEX, { limit: 100 })).map(({ id }) => id),
    ).not.toContain(scan);
  });

  test("S4 nothing is written into another tenant's rows", async () => {
    const row = `insert into genlock.descriptor (tenant, raw_digest, source) values ('acme', '${digest('x')}', 'x')`;
    expect(await underTenant(fixture.worker, 'globex', row)).toBe(DENIED);
    expect(await underTenant(fixture.worker, '', row)).toBe(DENIED);
    expect(
      await underTenant(
        fixture.worker,
        'globex',
        "update genlock.candidate_tool set effect_class = 'READ' where tenant = 'acme'",
      ),
    ).toBe('0 rows');
    expect(
      await fixture.store.storePage(
        GLOBEX,
        { scan, segment: 0, attempt: 1 },
        pageOf(0, []),
        new Uint8Array(),
      ),
    ).toBe(false);
    await expect(fixture.store.promote(GLOBEX, scan, inHours(1), receipt('catalog'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  test('S4 the same names in two tenants are two servers, two scans and two generations', async () => {
    const [here, there] = await Promise.all([
      fixture.store.active(keyOf(ACME)),
      fixture.store.active(keyOf(GLOBEX)),
    ]);
    expect(here?.scan).not.toBe(there?.scan);
  });
});

describe('D6 P1 genlock_worker', () => {
  test.each([
    ['a claim', 'update genlock.scan set segment = 99'],
    ['a base version', 'update genlock.scan set base_pointer_version = 99'],
    ['a scan', 'insert into genlock.scan select * from genlock.scan'],
    ['a page', 'insert into genlock.page select * from genlock.page'],
    ['a page that is stored', "update genlock.page set worker = ''"],
    ['the bytes of a page', 'insert into genlock.page_text select * from genlock.page_text'],
    ['the bytes of a page that is stored', "update genlock.page_text set raw = ''"],
    ['a generation', 'insert into genlock.generation select * from genlock.generation'],
    ['the state of a scan', "update genlock.scan set state = 'ELIGIBLE'"],
    ['the state of a generation', "update genlock.generation set state = 'ELIGIBLE'"],
    ['the pointer', 'update genlock.active_pointer set generation = 1'],
    ['a contract version', 'update genlock.candidate_tool set contract_version = 1'],
    ['a counter', 'update genlock.generation_counter set last = 99'],
    ['freshness', "update genlock.freshness set expires = now() + interval '1 year'"],
    ['a fence', 'update genlock.fence set version = 1'],
    ['a policy', 'delete from genlock.policy_epoch'],
    ['an acceptance', 'update genlock.acceptance set used_by = null'],
    ['what it rests on', "update genlock.scan set acceptances = '{}'"],
    ['an act of an operator', "select genlock.accept_held('acme', '{}', '{}')"],
    ['receipts', 'select 1 from genlock.receipt'],
    ['leases', 'select 1 from genlock.lease'],
  ])('writes %s by the fenced functions only, or not at all', async (_, text) => {
    expect(await underTenant(fixture.worker, 'acme', text)).toBe(DENIED);
  });

  test('cannot promote without a sealed candidate of its own', async () => {
    const candidate = await sealedScan(fixture, keyOf(), { content: 'other' });
    const unclaimed = claimOf(keyOf()).id;
    await expect(
      fixture.store.promote(ACME, unclaimed, inHours(1), receipt('catalog')),
    ).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await fixture.store.promote(ACME, candidate.id, inHours(1), receipt('catalog'))).toMatchObject({
      outcome: 'promoted',
    });
  });
});

describe('P1 what was sealed stays', () => {
  test('P1 the worker cannot change or add a tool of a sealed scan, nor seal it again', async () => {
    const { id } = await sealedScan(fixture, keyOf());
    const under = (sql: string) => underTenant(fixture.worker, 'acme', sql);
    expect(await under(`update genlock.candidate_tool set effect_class = 'READ' where scan = '${id}'`)).toBe(
      '23514',
    );
    expect(
      await under(
        `insert into genlock.candidate_tool select tenant, scan, 'injected', 99, descriptor, raw_digest, contract_digest,
           hints_digest, text_digest, input, output, verdict from genlock.candidate_tool where scan = '${id}' limit 1`,
      ),
    ).toBe('23514');
    expect(
      await under(`update genlock.generation set snapshot = '${digest('x')}' where scan = '${id}'`),
    ).toBe('23514');
  });
});

describe('genlock_operator', () => {
  test('reads history and changes nothing but by its functions', async () => {
    for (const table of ['server', 'scan', 'page', 'generation', 'active_pointer', 'receipt', 'revocation']) {
      expect([
        table,
        await underTenant(fixture.operatorPool, 'acme', `delete from genlock.${table}`),
      ]).toEqual([table, DENIED]);
    }
    expect(
      await underTenant(fixture.operatorPool, 'acme', 'update genlock.server set closed_reason = null'),
    ).toBe(DENIED);
    expect(
      await underTenant(fixture.operatorPool, 'acme', 'update genlock.acceptance set pointer_version = 1'),
    ).toBe(DENIED);
    expect(await sqlState(fixture.operatorPool, "select genlock.rest_on('acme', $1, '{}')", [scan])).toBe(
      DENIED,
    );
    expect(
      await sqlState(fixture.operatorPool, "select genlock.promote('acme', $1, now(), '{}')", [scan]),
    ).toBe(DENIED);
  });
});
