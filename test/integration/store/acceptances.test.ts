/** D5: an acceptance at the compare-and-set, where it counts once and for what it was given for. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { parseNamespace, parseServerName } from '../../../src/domain/ids.js';
import {
  ACME,
  digest,
  GLOBEX,
  IDENTITY,
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
  VIEWERS,
} from './storeFixture.js';

const fixture = useStore();
let servers = 0;
const ownServer = async (): Promise<DiscoveryKey> => {
  const name = parseServerName(`accepted-${++servers}`);
  const names = { name, namespace: parseNamespace(name) };
  await fixture.operator.registerServer(ACME, registration(names), receipt());
  return keyOf(ACME, MANAGERS, name);
};
/** A scan that is held, and what accepting it takes. */
const held = async (key: DiscoveryKey, content = 'short list') => {
  const { id } = await provenScan(fixture, key, { counter: 8, content });
  await fixture.store.endScan(key.tenant, id, { state: 'QUARANTINED', reason: 'SHRUNK', evidence: {} });
  return id;
};
const accept = (key: DiscoveryKey, discovery: string, id: string = randomUUID(), kind = 'SHRUNK') =>
  fixture.operator
    .acceptHeld(
      key.tenant,
      { id, discovery, kind: kind as 'SHRUNK', reason: 'meant so', by: 'olga' } as never,
      receipt(),
    )
    .then((outcome) => ({ id, outcome }));
const promote = ({ id }: { readonly id: string }) =>
  fixture.store.promote(ACME, id, inHours(1), receipt('catalog'));

/** Proven, resting on the given acceptances, and sealed. */
const sealedOn = async (key: DiscoveryKey, acceptances: readonly string[]) => {
  const scan = await provenScan(fixture, key, { counter: 8, content: 'short list' });
  expect(await fixture.store.restOn(ACME, scan.id, acceptances)).toBe(true);
  await fixture.store.reserveGeneration(ACME, scan.id);
  const bytes = new TextEncoder().encode(scan.id);
  await fixture.store.saveArtifact(ACME, scan.id, { digest: digest(scan.id), bytes, expires: inHours(1) });
  return scan;
};

describe('D5 what is bound', () => {
  test('D5 the facts of the held scan and the pointer of its time, whatever the program says', async () => {
    const key = await ownServer();
    await promoted(fixture, key);
    const scan = await held(key);
    const { id, outcome } = await accept(key, scan);
    expect(outcome).toBe('accepted');
    expect(await fixture.store.openAcceptances(key, 1)).toEqual([
      {
        id,
        kind: 'SHRUNK',
        identity: IDENTITY,
        revision: revision(8),
        contentRoot: digest('short list'),
      },
    ]);
    expect(await fixture.store.openAcceptances(key, 2)).toEqual([]);
    expect(await fixture.store.openAcceptances({ ...key, audience: VIEWERS }, 1)).toEqual([]);
    expect(await fixture.store.openAcceptances({ ...key, tenant: GLOBEX }, 1)).toEqual([]);
  });

  test('D5 another kind than the scan was held for, and a scan of another tenant, are not accepted', async () => {
    const key = await ownServer();
    const scan = await held(key);
    expect((await accept(key, scan, undefined, 'ROLLBACK')).outcome).toBe('notAcceptable');
    expect((await accept({ ...key, tenant: GLOBEX }, scan)).outcome).toBe('noSuchDiscovery');
    expect((await accept(key, scan)).outcome).toBe('accepted');
  });

  test('D5 R1 of two acceptances at a time one stands, with one receipt', async () => {
    const key = await ownServer();
    const scan = await held(key);
    const answers = await Promise.all([1, 2, 3, 4].map(() => accept(key, scan)));
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
      'accepted',
      'alreadyAccepted',
      'alreadyAccepted',
      'alreadyAccepted',
    ]);
    const { rows } = await fixture.admin.query(
      'select 1 from genlock.acceptance a join genlock.receipt r on r.id = a.receipt where a.discovery = $1',
      [scan],
    );
    expect(rows).toHaveLength(1);
  });
});

describe('D5 the compare-and-set', () => {
  test('D5 P1 of two candidates that rest on one acceptance, one is promoted, and it alone used it', async () => {
    const key = await ownServer();
    await promoted(fixture, key);
    const { id } = await accept(key, await held(key));
    const candidates = [await sealedOn(key, [id]), await sealedOn(key, [id])];
    const outcomes = await Promise.all(candidates.map(promote));
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['lost', 'promoted']);
    const winner = candidates[outcomes.findIndex(({ outcome }) => outcome === 'promoted')];
    const all = await fixture.operator.listAcceptances(ACME);
    expect(all.find((one) => one.id === id)).toMatchObject({ usedBy: winner?.id, open: false });
    expect(await fixture.store.openAcceptances(key, 1)).toEqual([]);
  });

  test('D5 an acceptance of another audience, of an older pointer, and none at all promote nothing', async () => {
    const key = await ownServer();
    await promoted(fixture, key);
    const { id: older } = await accept(key, await held(key));
    await promoted(fixture, key, { counter: 9, content: 'another list' });
    const viewers = { ...key, audience: VIEWERS };
    const { id: elsewhere } = await accept(viewers, await held(viewers));
    for (const id of [older, elsewhere, randomUUID()]) {
      const scan = await sealedOn(key, [id]);
      expect(await promote(scan)).toEqual({ outcome: 'fenced', what: 'acceptance' });
    }
    const all = await fixture.operator.listAcceptances(ACME);
    for (const id of [older, elsewhere])
      expect(all.find((one) => one.id === id)).toMatchObject({ usedBy: null });
    expect(await fixture.store.active(key)).toMatchObject({ generation: 2 });
  });

  test('P1 what a sealed candidate rests on does not change', async () => {
    const key = await ownServer();
    const scan = await sealedScan(fixture, key);
    expect(await fixture.store.restOn(ACME, scan.id, [randomUUID()])).toBe(false);
    expect((await fixture.store.readScan(ACME, scan.id))?.acceptances).toEqual([]);
    expect(await promote(scan)).toMatchObject({ outcome: 'promoted' });
  });
});
