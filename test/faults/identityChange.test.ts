/** F: another server identity or certificate key, in mid-scan and between scans. */
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/domain/generation.js';
import { startScriptedCatalog } from '../fixtures/scriptedCatalog.js';
import { at } from '../integration/discovery/bentLists.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';

const stack = useFaults();

const beginTls = async () => {
  const catalog = await stack.scripted(FIRST, { tls: true });
  const trust = catalog.tlsCaPem === undefined ? {} : { tlsCaPem: catalog.tlsCaPem };
  return { begun: await stack.begin(catalog, { trust }), trust };
};
/** The evidence names both. */
const expectTwoKeys = ({ first, now }: Evidence): void => {
  expect([first, now]).toEqual([expect.stringMatching(/^sha256:/), expect.stringMatching(/^sha256:/)]);
  expect(first).not.toBe(now);
};
const identityOf = async (key: Parameters<typeof stack.store.active>[0]) =>
  (await stack.store.active(key))?.identity;

describe('D8 the TLS key', () => {
  test('D8 changes between two pages: a torn scan, whatever the revision says', async () => {
    const { begun } = await beginTls();
    await begun.catalog.mend(NEXT);
    const first = await identityOf(begun.key);
    const fault = { reason: 'IDENTITY_TORN', evidence: { page: 2 } } as const;
    const { evidence } = await stack.expectFault(begun, fault, { page: 1, swapKey: true });
    expectTwoKeys(evidence);
    // Page 2 was not asked for: the key is compared before anything is sent.
    expect((await begun.catalog.served()).at(-1)?.page).toBe(1);
    // The key of before is back, and with it the identity of before.
    begun.catalog.swapKey();
    await stack.expectMended(begun);
    expect(await identityOf(begun.key)).toBe(first);
  });

  test('D8 changes between the last page and the tail', async () => {
    const { begun } = await beginTls();
    await begun.catalog.mend(NEXT);
    const fault = { reason: 'IDENTITY_TORN', evidence: {} } as const;
    const { evidence } = await stack.expectFault(begun, fault, { page: 3, swapKey: true });
    expectTwoKeys(evidence);
    begun.catalog.swapKey();
    await stack.expectMended(begun);
  });

  test('D8 changes between two scans: held, until the trust configuration lists the new one', async () => {
    const { begun, trust } = await beginTls();
    const accepted = await identityOf(begun.key);
    begun.catalog.swapKey();
    await begun.catalog.mend(NEXT);
    const outcome = await stack.expectFault(begun, { reason: 'IDENTITY_CHANGED', evidence: { accepted } });
    const { proposed } = outcome.evidence as { proposed: never };
    await stack.register(begun.key, begun.catalog.source, {
      trust: { ...trust, acceptedIdentities: [proposed] },
    });
    await stack.expectMended(begun);
    expect(await identityOf(begun.key)).toBe(proposed);
    const { rows } = await stack.admin.query(
      'select identity, closed_at is null as open from genlock.active_pointer where server = $1 order by open',
      [begun.key.server],
    );
    expect(rows).toEqual([
      { identity: accepted, open: false },
      { identity: proposed, open: true },
    ]);
  });

  test('D8 changes with the very same list at the very same revision: no refresh of what serves', async () => {
    const { begun } = await beginTls();
    begun.catalog.swapKey();
    await stack.expectFault(begun, { reason: 'IDENTITY_CHANGED', evidence: {} });
    begun.catalog.swapKey();
    await stack.expectMended(begun);
  });
});

describe('D8 what a server says of itself', () => {
  test('D8 is recorded, and forged it moves nothing', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.order({ serverInfo: { name: 'quite-another', version: '99' } });
    const outcome = await stack.discover(begun.key);
    expect(outcome).toMatchObject({ state: 'RETIRED', reason: 'UNCHANGED', generation: 1 });
    expect(await stack.operator.readDiscovery(begun.key.tenant, outcome.scan)).toMatchObject({
      sourceEvidence: { serverInfo: { name: 'quite-another', version: '99' } },
    });
    expect((await stack.standing(begun.key)).generations).toEqual(begun.before.generations);
  });

  test('D8 does not make a process with another key at the same address the same server', async () => {
    const { begun } = await beginTls();
    const { port } = begun.catalog;
    await begun.catalog.close();
    const impostor = await startScriptedCatalog(NEXT, { tls: true, port });
    try {
      await impostor.order({ serverInfo: { name: 'scripted', version: '0' } });
      // Its key is signed by nobody whom the registration trusts: nothing of it is read.
      await stack.expectFault(
        { ...begun, catalog: impostor },
        { reason: 'TLS_FAILED', evidence: { page: 0 } },
      );
      expect(await impostor.served()).toEqual([]);
      const trust = impostor.tlsCaPem === undefined ? {} : { tlsCaPem: impostor.tlsCaPem };
      await stack.register(begun.key, impostor.source, { trust });
      const { pointer, served } = begun.before;
      expect(await stack.discover(begun.key)).toMatchObject({
        state: 'QUARANTINED',
        reason: 'IDENTITY_CHANGED',
      });
      const after = await stack.standing(begun.key);
      expect(after.pointer).toEqual(pointer);
      expect(after.served?.page).toEqual(served?.page);
    } finally {
      await impostor.close();
    }
  });
});

test('D9 another process at the same address of plain HTTP is known by what it knows: an older list is a rollback', async () => {
  const begun = await stack.begin(await stack.scripted());
  const { port } = begun.catalog;
  await begun.catalog.close();
  const other = await stack.scripted(listAt(3), { port });
  const taken = { ...begun, catalog: other };
  await stack.expectFault(taken, {
    reason: 'ROLLBACK',
    evidence: { accepted: { value: at(7) }, proposed: { value: at(3) } },
  });
  await other.mend({ ...NEXT, revision: at(8, 'of-another') });
  await stack.expectFault(taken, { reason: 'NEW_INCARNATION', evidence: {} });
  await stack.expectMended(taken);
});
