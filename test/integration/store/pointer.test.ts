/** The one acceptance point: a compare-and-set with its receipt, all or nothing (P1, P2), and freshness (S7). */
import { describe, expect, test } from 'vitest';
import { parseNamespace, parseServerName } from '../../../src/domain/ids.js';
import { DEFAULT_TRUST } from '../../../src/domain/server.js';
import {
  ACME,
  digest,
  inHours,
  keyOf,
  MANAGERS,
  promoted,
  provenScan,
  receipt,
  registration,
  revision,
  sealedScan,
  useStore,
} from './storeFixture.js';

const fixture = useStore();
let servers = 0;
/** A server that no other test of this file touches. */
const ownServer = async () => {
  const name = parseServerName(`server-${++servers}`);
  await fixture.operator.registerServer(
    ACME,
    registration({ name, namespace: parseNamespace(name) }),
    receipt(),
  );
  return keyOf(ACME, MANAGERS, name);
};
const fenceOf = async (server: string): Promise<number> => {
  const { rows } = await fixture.admin.query(
    'select version::int as v from genlock.fence where tenant = $1 and server = $2',
    [ACME, server],
  );
  return rows[0]?.v;
};
const count = async (table: string, where: string, values: readonly unknown[]): Promise<number> => {
  const { rows } = await fixture.admin.query(
    `select count(*)::int as n from genlock.${table} where ${where}`,
    [...values],
  );
  return rows[0]?.n;
};

describe('P1 the compare-and-set', () => {
  test('P1 P2 pointer, revision, page root, freshness, end and receipt stand together, and the fence has moved', async () => {
    const key = await ownServer();
    const before = await fenceOf(key.server);
    const { scan, ...outcome } = await promoted(fixture, key, { counter: 7 });
    expect(outcome).toMatchObject({ outcome: 'promoted', generation: 1, policyEpoch: scan.policyEpoch });
    expect(await fixture.store.active(key)).toMatchObject({
      generation: 1,
      scan: scan.id,
      version: 1,
      revision: revision(7),
    });
    expect(await fenceOf(key.server)).toBe(before + 1);
    expect(await count('receipt', 'id = $1', [outcome.receipt])).toBe(1);
    expect(await count('freshness', 'scan = $1', [scan.id])).toBe(1);
    expect(await fixture.operator.readDiscovery(ACME, scan.id)).toMatchObject({
      state: 'ELIGIBLE',
      reason: 'PROMOTED',
      generation: 1,
      pageRoot: digest('page root'),
    });
  });

  test('P1 of two candidates that race, one is promoted and the other has lost', async () => {
    const key = await ownServer();
    for (let round = 1; round <= 5; round++) {
      const scans = [
        await sealedScan(fixture, key, { content: `a${round}` }),
        await sealedScan(fixture, key, { content: `b${round}` }),
      ];
      const outcomes = await Promise.all(
        scans.map(({ id }) => fixture.store.promote(ACME, id, inHours(1), receipt('catalog'))),
      );
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['lost', 'promoted']);
      const winner = outcomes.find((one) => one.outcome === 'promoted');
      const loser = outcomes.find((one) => one.outcome === 'lost');
      expect(loser).toMatchObject({
        activeGeneration: winner?.outcome === 'promoted' ? winner.generation : null,
      });
      expect(await fixture.store.active(key)).toMatchObject({ version: round });
    }
    expect(await count('active_pointer', 'server = $1 and closed_at is null', [key.server])).toBe(1);
  });

  test('P2 a retry finds its own candidate and answers with the same receipt, once', async () => {
    const key = await ownServer();
    const { scan, receipt: first } = await promoted(fixture, key);
    const fence = await fenceOf(key.server);
    const again = await fixture.store.promote(ACME, scan.id, inHours(5), receipt('catalog'));
    expect(again).toMatchObject({ outcome: 'promoted', generation: 1, receipt: first });
    expect(await fenceOf(key.server)).toBe(fence);
    expect(await fixture.store.active(key)).toMatchObject({ version: 1 });
  });

  test.each([
    [
      'policyEpoch',
      async () => {
        const epoch = (await fixture.operator.readPolicyBundle(ACME, null))?.epoch ?? 0;
        await fixture.operator.publishPolicy(
          ACME,
          epoch,
          { text: '{}', digest: digest('{}') },
          'me',
          receipt(),
        );
      },
    ],
    [
      'trust',
      async (name: string) => {
        const trust = { ...DEFAULT_TRUST, allowPrivateAddresses: true };
        await fixture.operator.registerServer(
          ACME,
          registration({ name: parseServerName(name), namespace: parseNamespace(name), trust }),
          receipt(),
        );
      },
    ],
    [
      'closed',
      async (name: string) => {
        await fixture.operator.setServerClosed(ACME, parseServerName(name), 'incident', receipt());
      },
    ],
  ] as const)('P1 a change of %s between scan and promotion fences the candidate', async (what, change) => {
    const key = await ownServer();
    await promoted(fixture, key);
    const scan = await sealedScan(fixture, key, { content: 'new' });
    await change(key.server);
    expect(await fixture.store.promote(ACME, scan.id, inHours(1), receipt('catalog'))).toEqual({
      outcome: 'fenced',
      what,
    });
    expect(await fixture.store.active(key)).toMatchObject({ generation: 1, version: 1 });
  });

  test('P1 only what is SNAPSHOT_PROVEN, sealed and not ended can be promoted', async () => {
    const key = await ownServer();
    const unproven = await sealedScan(fixture, key, { proven: false });
    const ended = await sealedScan(fixture, key);
    await fixture.store.endScan(ACME, ended.id, { state: 'INCOMPLETE', reason: 'CANCELLED', evidence: {} });
    const unsealed = await provenScan(fixture, key);
    await fixture.store.reserveGeneration(ACME, unsealed.id);
    for (const { id } of [unproven, ended, unsealed]) {
      expect(await fixture.store.promote(ACME, id, inHours(1), receipt('catalog'))).toEqual({
        outcome: 'fenced',
        what: 'candidate',
      });
    }
    expect(await fixture.store.active(key)).toBeNull();
  });

  test('P2 where the receipt cannot be written, nothing is: pointer, freshness, end and fence stay', async () => {
    const key = await ownServer();
    const { receipt: taken } = await promoted(fixture, key);
    const scan = await sealedScan(fixture, key, { content: 'new' });
    const fence = await fenceOf(key.server);
    await expect(
      fixture.store.promote(ACME, scan.id, inHours(1), receipt('catalog', taken)),
    ).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { sqlState: '23505' },
    });
    expect(await fixture.store.active(key)).toMatchObject({ generation: 1, version: 1 });
    expect(await count('freshness', 'scan = $1', [scan.id])).toBe(0);
    expect(await fenceOf(key.server)).toBe(fence);
    expect(await fixture.operator.readDiscovery(ACME, scan.id)).toMatchObject({
      state: 'SNAPSHOT_PROVEN',
      reason: null,
    });
    // And the candidate is still good: with a receipt that can be written it is promoted.
    expect(await fixture.store.promote(ACME, scan.id, inHours(1), receipt('catalog'))).toMatchObject({
      outcome: 'promoted',
    });
  });

  test('A1 a superseded generation serves no longer than it was last verified for', async () => {
    const key = await ownServer();
    const first = await promoted(fixture, key);
    await promoted(fixture, key, { content: 'new' });
    const { rows } = await fixture.admin.query(
      'select state, superseded_by, expires <= $2 as short from genlock.generation where scan = $1',
      [first.scan.id, new Date(inHours(1))],
    );
    expect(rows).toEqual([{ state: 'ELIGIBLE', superseded_by: 2, short: true }]);
  });
});

describe('S1 generation numbers', () => {
  test('S1 a number is reserved once for each scan, also when many ask at a time', async () => {
    const key = await ownServer();
    const scan = await provenScan(fixture, key);
    const numbers = await Promise.all([1, 2, 3, 4].map(() => fixture.store.reserveGeneration(ACME, scan.id)));
    expect(new Set(numbers)).toEqual(new Set([1]));
    const other = await provenScan(fixture, key);
    expect(await fixture.store.reserveGeneration(ACME, other.id)).toBe(2);
  });

  test('S1 a sealed artifact is never replaced', async () => {
    const key = await ownServer();
    const scan = await sealedScan(fixture, key);
    const bytes = new TextEncoder().encode('other');
    await fixture.store.saveArtifact(ACME, scan.id, { digest: digest('other'), bytes, expires: inHours(1) });
    expect(await fixture.store.generationOf(ACME, scan.id)).toMatchObject({
      snapshot: digest(`artifact of ${scan.id}`),
    });
  });
});

describe('S7 freshness', () => {
  test('S7 an unchanged refresh renews freshness and revision of the active generation, without a new one', async () => {
    const key = await ownServer();
    const { scan } = await promoted(fixture, key, { counter: 3 });
    const fence = await fenceOf(key.server);
    const refresh = await provenScan(fixture, key, { counter: 5 });
    const until = inHours(2);
    const renewed = { outcome: 'renewed', generation: 1, freshUntil: until };
    expect(await fixture.store.renewFreshness(ACME, refresh.id, until)).toEqual(renewed);
    expect(await fixture.store.active(key)).toMatchObject({
      generation: 1,
      scan: scan.id,
      revision: revision(5),
    });
    expect(await count('freshness', 'server = $1 and generation = 1', [key.server])).toBe(2);
    expect(await fenceOf(key.server)).toBe(fence);
    // A retry that did not hear of the commit gets the same answer, whatever time it brings.
    expect(await fixture.store.renewFreshness(ACME, refresh.id, inHours(9))).toEqual(renewed);
  });

  test('S7 a candidate of before a renewal has lost: it cannot take the revision back', async () => {
    const key = await ownServer();
    await promoted(fixture, key, { counter: 3 });
    const [old, late] = [
      await sealedScan(fixture, key, { counter: 4, content: 'other' }),
      await provenScan(fixture, key, { counter: 4 }),
    ];
    const refresh = await provenScan(fixture, key, { counter: 5 });
    await fixture.store.renewFreshness(ACME, refresh.id, inHours(2));
    expect(await fixture.store.promote(ACME, old.id, inHours(1), receipt('catalog'))).toMatchObject({
      outcome: 'lost',
    });
    expect(await fixture.store.renewFreshness(ACME, late.id, inHours(3))).toMatchObject({ outcome: 'lost' });
    expect(await fixture.store.active(key)).toMatchObject({ revision: revision(5) });
  });

  test('S7 nothing is renewed by a scan that is not proven, has ended, or has other content', async () => {
    const key = await ownServer();
    await promoted(fixture, key);
    const unproven = await provenScan(fixture, key, { proven: false });
    const ended = await provenScan(fixture, key);
    await fixture.store.endScan(ACME, ended.id, { state: 'INCOMPLETE', reason: 'CANCELLED', evidence: {} });
    for (const { id } of [unproven, ended]) {
      expect(await fixture.store.renewFreshness(ACME, id, inHours(2))).toEqual({
        outcome: 'fenced',
        what: 'candidate',
      });
    }
    const other = await provenScan(fixture, key, { content: 'other' });
    expect(await fixture.store.renewFreshness(ACME, other.id, inHours(2))).toEqual({
      outcome: 'lost',
      activeGeneration: 1,
    });
  });

  test('S7 P1 a new policy epoch since the promotion fences a renewal', async () => {
    const key = await ownServer();
    await promoted(fixture, key);
    const epoch = (await fixture.operator.readPolicyBundle(ACME, null))?.epoch ?? 0;
    await fixture.operator.publishPolicy(ACME, epoch, { text: '{}', digest: digest('{}') }, 'me', receipt());
    const refresh = await provenScan(fixture, key);
    expect(await fixture.store.renewFreshness(ACME, refresh.id, inHours(2))).toMatchObject({
      outcome: 'fenced',
    });
  });
});
