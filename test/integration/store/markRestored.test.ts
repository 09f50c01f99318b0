/** A database that came back from a backup repeats every number, so its fences must be others and its servers closed. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseServerName } from '../../../src/domain/ids.js';
import { createAdmissionStore } from '../../../src/store/postgres/admissionStore.js';
import { markRestored, RESTORED_REASON } from '../../../src/store/postgres/markRestored.js';
import type { StoreFixture } from './storeFixture.js';
import { ACME, GLOBEX, MANAGERS, receipt, registration, useStore } from './storeFixture.js';

const fixture: StoreFixture = useStore();
const INVENTORY = parseServerName('inventory');
const viewOf = (tenant = ACME) => createAdmissionStore(fixture.api).view(tenant, INVENTORY, MANAGERS);
const walls = async () => {
  const { rows } = await fixture.admin.query(
    `select relname from pg_class where relnamespace = 'genlock'::regnamespace and relkind = 'r'
       and not (relrowsecurity and relforcerowsecurity)`,
  );
  return rows;
};
const [incarnationOf, versionOf] = [0, 1].map(
  (part) => (fence: string | null) => (fence ?? 'none:none').split(':')[part],
) as [(fence: string | null) => string, (fence: string | null) => string];

describe('after a restore', () => {
  test('every fence is another one even where its number comes again, and every server of every tenant is closed', async () => {
    const before = await Promise.all([viewOf(), viewOf(GLOBEX)]);
    const counted = await fixture.admin.query('select (select count(*) from genlock.fence)::int as fences');

    const answer = await markRestored(fixture.database.adminUrl);
    expect(answer).toEqual({ closed: 2, fences: counted.rows[0].fences });

    const after = await Promise.all([viewOf(), viewOf(GLOBEX)]);
    for (const [index, { tenantFence, serverFence, server }] of after.entries()) {
      for (const [now, then] of [
        [tenantFence, before[index]?.tenantFence ?? null],
        [serverFence, before[index]?.serverFence ?? null],
      ] as const) {
        expect(incarnationOf(now)).not.toBe(incarnationOf(then));
        expect(Number(versionOf(now))).toBe(Number(versionOf(then)) + 1);
      }
      expect(server?.closedReason).toBe(RESTORED_REASON);
    }
    expect(await walls()).toEqual([]);
  });

  test('what was decided under a fence from before is not committed', async () => {
    const { tenantFence, serverFence } = await viewOf();
    await markRestored(fixture.database.adminUrl);
    const decided = { receipt: receipt('admission'), lease: null, proof: null };
    const store = createAdmissionStore(fixture.api);
    const old = { tenant_fence: tenantFence, server_fence: serverFence, ...decided };
    expect(await store.commitDecisions(ACME, INVENTORY, [old])).toEqual(['FENCE_MOVED']);
    const now = await viewOf();
    const fresh = { tenant_fence: now.tenantFence, server_fence: now.serverFence, ...decided };
    expect(await store.commitDecisions(ACME, INVENTORY, [fresh])).toEqual(['COMMITTED']);
  });

  test('an operator opens a server, one at a time, and one closed before keeps its own reason', async () => {
    const shop = parseServerName('shop');
    await fixture.operator.registerServer(
      ACME,
      registration({ name: shop, namespace: 'shop' as never }),
      receipt(),
    );
    await fixture.operator.setServerClosed(ACME, shop, 'an incident', receipt());
    await markRestored(fixture.database.adminUrl);
    const reasons = async () =>
      Object.fromEntries(
        (
          await fixture.admin.query('select name, closed_reason from genlock.server where tenant = $1', [
            ACME,
          ])
        ).rows.map(({ name, closed_reason }) => [name, closed_reason]),
      );
    expect(await reasons()).toEqual({ inventory: RESTORED_REASON, shop: 'an incident' });
    expect(await fixture.operator.setServerClosed(ACME, INVENTORY, null, receipt())).toBe(true);
    expect(await reasons()).toEqual({ inventory: null, shop: 'an incident' });
  });

  test('an administrator who is no superuser sees every tenant as well', async () => {
    const name = `genlock_test_admin_${randomBytes(4).toString('hex')}`;
    const password = randomBytes(12).toString('hex');
    await fixture.admin.query(
      `create role ${name} login nosuperuser nobypassrls createrole password '${password}'`,
    );
    try {
      await fixture.admin.query(`grant genlock_owner to ${name}`);
      const url = new URL(fixture.database.adminUrl);
      url.username = name;
      url.password = password;
      expect((await markRestored(url.href)).closed).toBeGreaterThan(1);
      expect(await walls()).toEqual([]);
    } finally {
      await fixture.admin.query(`drop role ${name}`);
    }
  });

  test('a connection that may not act as the owner is refused, and nothing is changed', async () => {
    const before = await viewOf();
    await expect(markRestored(fixture.database.workerUrl)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await viewOf()).toEqual(before);
  });
});
