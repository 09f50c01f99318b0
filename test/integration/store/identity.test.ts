/** D8 one identity answers for a server: what the promotion of another one closes, and what it keeps. */
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { type Digest, parseNamespace, parseServerName } from '../../../src/domain/ids.js';
import {
  ACME,
  claimed,
  claimOf,
  digest,
  IDENTITY,
  inHours,
  keyOf,
  MANAGERS,
  promoted,
  receipt,
  registration,
  sealedScan,
  useStore,
  VIEWERS,
} from './storeFixture.js';

const fixture = useStore();
const NEXT: Digest = digest('next identity');
const THIRD: Digest = digest('third identity');

let servers = 0;
/** Two audiences of a server of its own, both active under the first identity. */
const twoAudiences = async () => {
  const name = parseServerName(`rotating-${++servers}`);
  const own = registration({ name, namespace: parseNamespace(name) });
  await fixture.operator.registerServer(ACME, own, receipt());
  const [managers, viewers] = [keyOf(ACME, MANAGERS, name), keyOf(ACME, VIEWERS, name)];
  const first = {
    managers: await promoted(fixture, managers),
    viewers: await promoted(fixture, viewers, { tools: { look: 'look v1', reserve: 'reserve v1' } }),
  };
  return { managers, viewers, first };
};
const promote = ({ id }: { readonly id: string }) =>
  fixture.store.promote(ACME, id, inHours(1), receipt('catalog'));
const pointers = async ({ server }: DiscoveryKey) => {
  const { rows } = await fixture.admin.query(
    `select audience, identity, version::int as version, closed_at is null as open from genlock.active_pointer
       where tenant = $1 and server = $2 order by audience, version`,
    [ACME, server],
  );
  return rows;
};

describe('D8 another identity takes over', () => {
  test('one transaction opens its pointer and closes those of the old one, for every audience', async () => {
    const { managers, viewers, first } = await twoAudiences();
    const other = await twoAudiences();
    const scan = await sealedScan(fixture, managers, { identity: NEXT });
    expect(scan.baseIdentity).toBe(IDENTITY);
    expect(await promote(scan)).toMatchObject({ outcome: 'promoted', closedAudiences: [VIEWERS] });
    expect(await pointers(managers)).toEqual([
      { audience: MANAGERS, identity: IDENTITY, version: 1, open: false },
      { audience: MANAGERS, identity: NEXT, version: 2, open: true },
      { audience: VIEWERS, identity: IDENTITY, version: 1, open: false },
    ]);
    expect(await fixture.store.active(viewers)).toBeNull();
    expect(await fixture.store.lastServed(viewers)).toMatchObject({ scan: first.viewers.scan.id });
    // Another server is not asked.
    expect((await pointers(other.managers)).every(({ open }) => open)).toBe(true);
    // A repeat of the activity hears the same.
    expect(await promote(scan)).toMatchObject({ outcome: 'promoted', closedAudiences: [VIEWERS] });
  });

  test('what the old identity proved serves no longer than it was last verified for', async () => {
    const { managers, first } = await twoAudiences();
    await promote(await sealedScan(fixture, managers, { identity: NEXT }));
    const { rows } = await fixture.admin.query(
      `select g.scan from genlock.generation g join genlock.active_pointer a on a.tenant = g.tenant and a.scan = g.scan
         where g.scan = any($1) and g.expires = a.fresh_until and g.superseded_at is not null and a.closed_at is not null`,
      [[first.managers.scan.id, first.viewers.scan.id]],
    );
    expect(rows).toHaveLength(2);
  });

  test('P1 a candidate of the old identity that was judged before is fenced, one of the new identity is not', async () => {
    const { managers, viewers } = await twoAudiences();
    const behind = await sealedScan(fixture, viewers, { content: 'b' });
    const along = await sealedScan(fixture, viewers, { identity: NEXT, content: 'c' });
    await promote(await sealedScan(fixture, managers, { identity: NEXT }));
    expect(await promote(behind)).toEqual({ outcome: 'fenced', what: 'identity' });
    expect(await fixture.store.active(viewers)).toBeNull();
    expect(await promote(along)).toMatchObject({ outcome: 'promoted', closedAudiences: [] });
    expect(await fixture.store.active(viewers)).toMatchObject({ identity: NEXT, version: 2 });
  });

  test('P1 of two first scans that saw two identities, the second is fenced', async () => {
    const name = parseServerName(`rotating-${++servers}`);
    await fixture.operator.registerServer(
      ACME,
      registration({ name, namespace: parseNamespace(name) }),
      receipt(),
    );
    const one = await sealedScan(fixture, keyOf(ACME, MANAGERS, name));
    const other = await sealedScan(fixture, keyOf(ACME, VIEWERS, name), { identity: NEXT });
    expect([one.baseIdentity, other.baseIdentity]).toEqual([null, null]);
    expect(await promote(one)).toMatchObject({ outcome: 'promoted' });
    expect(await promote(other)).toEqual({ outcome: 'fenced', what: 'identity' });
  });

  test('a refresh of the old identity renews nothing that was closed', async () => {
    const { managers, viewers } = await twoAudiences();
    const refresh = await sealedScan(fixture, viewers, { tools: { look: 'look v1', reserve: 'reserve v1' } });
    await promote(await sealedScan(fixture, managers, { identity: NEXT }));
    expect(await fixture.store.renewFreshness(ACME, refresh.id, inHours(2))).toMatchObject({
      outcome: 'lost',
    });
  });

  test('a closed pointer keeps its version: no version of an audience is won twice', async () => {
    const { managers, viewers } = await twoAudiences();
    // Begun before anything else of its audience, and still there at the end.
    const { rows } = await fixture.admin.query(
      `update genlock.scan set base_pointer_version = 0 where id = $1 returning id`,
      [(await sealedScan(fixture, viewers, { identity: NEXT, content: 'late' })).id],
    );
    await promote(await sealedScan(fixture, managers, { identity: NEXT }));
    expect(await promote(rows[0])).toEqual({ outcome: 'lost', activeGeneration: null });
    const next = await claimed(fixture, claimOf(viewers));
    expect(next).toMatchObject({ basePointerVersion: 1, baseIdentity: NEXT });
  });

  test('S2 another key is no other contract: an audience that was closed keeps the versions of its tools', async () => {
    const { managers, viewers } = await twoAudiences();
    await promoted(fixture, viewers, { tools: { look: 'look v2', reserve: 'reserve v1' } });
    await promote(await sealedScan(fixture, managers, { identity: NEXT }));
    const again = await sealedScan(fixture, viewers, {
      identity: NEXT,
      tools: { look: 'look v2', reserve: 'reserve v2' },
    });
    const versions = await fixture.store.sealedTools(ACME, again.id);
    expect(versions.map(({ name, contractVersion }) => [name, contractVersion])).toEqual([
      ['look', 2],
      ['reserve', 2],
    ]);
  });

  test('an identity that was accepted is known with its evidence, and no other', async () => {
    const { managers } = await twoAudiences();
    expect(await fixture.store.acceptedSource(ACME, managers.server, IDENTITY)).toEqual({
      endpoint: digest('endpoint'),
    });
    expect(await fixture.store.acceptedSource(ACME, managers.server, THIRD)).toBeNull();
  });
});
