/**
 * The fault: a server answers with another TLS key. What was announced takes over in one transaction, for every audience;
 * what was not is quarantined, and what served goes on only while it is fresh (D8, P5).
 */
import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { epochMs, parseAudienceClass } from '../../src/domain/ids.js';
import type { CatalogReceipt } from '../../src/domain/receipt.js';
import { verifyReceipt } from '../../src/keys/receipt.js';
import { spkiDigest } from '../../src/sources/tlsEvidence.js';
import { acceptHeld } from '../../src/usecases/acceptHeld.js';
import { selfSignedCertificate, type TestCertificate } from '../fixtures/selfSignedCertificate.js';
import { at, type BentList, serveList, tools } from '../integration/discovery/bentLists.js';
import { AUDIENCE, ownKey, type Registered, until } from '../integration/discovery/discoveryStack.js';
import { useFaults } from './expectations.js';

const stack = useFaults();
const OTHERS = parseAudienceClass('suppliers.policy-1');
const pinOf = ({ cert }: TestCertificate) => spkiDigest(new X509Certificate(cert).raw);
const unasked = () => Promise.reject(new Error('a refused acceptance starts nothing'));
const oldAndNext = () => [selfSignedCertificate('old'), selfSignedCertificate('next')] as const;

interface Rotating {
  readonly key: DiscoveryKey;
  readonly other: DiscoveryKey;
  readonly old: TestCertificate;
  readonly next: TestCertificate;
  readonly state: { list: BentList };
  /** Shows the other key from the next connection on. */
  rotate(): void;
  readonly server: Awaited<ReturnType<typeof stack.bent>>;
  readonly more: Registered;
  change(trust: Registered['trust']): Promise<void>;
}

/** A server of two audiences whose first generation was read under the old key. */
const rotating = async (
  trust: (old: TestCertificate, next: TestCertificate) => Registered['trust'] = () => ({}),
): Promise<Rotating> => {
  const [old, next] = oldAndNext();
  const state: { list: BentList } = { list: { pages: [tools(3)], revision: at(7) } };
  const server = await stack.bent({
    tls: old,
    list: (bent) => {
      bent.response.setHeader('connection', 'close');
      return serveList(() => state.list)(bent);
    },
  });
  const key = ownKey();
  const other = { ...key, audience: OTHERS };
  stack.secrets.set('GENLOCK_CREDENTIAL_ACME_STAFF', 'token-of-the-staff');
  const credential = { kind: 'reference', reference: 'env:GENLOCK_CREDENTIAL_ACME_STAFF' } as const;
  const more = {
    trust: { tlsCaPem: `${old.cert}${next.cert}`, ...trust(old, next) },
    audiences: { [AUDIENCE]: credential, [OTHERS]: credential },
  };
  await stack.register(key, server.url, more);
  for (const one of [key, other]) expect(await stack.discover(one)).toMatchObject({ state: 'ELIGIBLE' });
  const change = (changed: Registered['trust']) =>
    stack.register(key, server.url, { ...more, trust: { ...more.trust, ...changed } });
  const rotate = () => server.useCertificate(next);
  return { key, other, old, next, state, server, rotate, more, change };
};

const receiptOf = async (key: DiscoveryKey, id: string | null): Promise<CatalogReceipt> => {
  const [row] = await stack.operator.receipts(key.tenant, { id: id ?? '', limit: 1 });
  return (await verifyReceipt(row?.jws ?? '', stack.keys.publicJwks())).body as CatalogReceipt;
};

describe('D8 a key that was announced beforehand', () => {
  test('D8 the candidate is accepted, the pointers of the old identity close with it, the receipt says so, and the other audience is read anew', async () => {
    const { key, other, rotate } = await rotating((old, next) => ({ spkiPins: [pinOf(old), pinOf(next)] }));
    const before = await stack.store.active(key);
    const othersBefore = await stack.store.active(other);
    rotate();
    const outcome = await stack.discover(key);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    const now = await stack.store.active(key);
    expect(now?.identity).not.toBe(before?.identity);
    // Rows of one transaction bear its id: the pointer that was opened, and both that were closed.
    const versions = await stack.admin.query(
      `select count(distinct xmin::text)::int as transactions, count(*)::int as pointers
         from genlock.active_pointer where server = $1 and (closed_at is not null or scan = $2)`,
      [key.server, now?.scan],
    );
    expect(versions.rows).toEqual([{ transactions: 1, pointers: 3 }]);
    expect(await receiptOf(key, outcome.receipt)).toMatchObject({
      server: `${key.server}@${now?.identity}`,
      replacedIdentity: `${key.server}@${before?.identity}`,
      previousGeneration: 1,
    });
    // Nobody asked for it: the promotion itself starts a discovery of each audience that it has closed.
    await until(async () => (await stack.store.active(other)) !== null);
    expect(await stack.store.active(other)).toMatchObject({
      identity: now?.identity,
      generation: 2,
      version: (othersBefore?.version ?? 0) + 1,
    });
  });

  test('D8 an identity that the trust configuration lists takes over as well', async () => {
    const { key, rotate, change } = await rotating();
    rotate();
    const held = await stack.discover(key);
    expect(held).toMatchObject({ state: 'QUARANTINED', reason: 'IDENTITY_CHANGED' });
    const { proposed } = held.evidence as {
      proposed: NonNullable<Awaited<ReturnType<typeof stack.store.active>>>['identity'];
    };
    await change({ acceptedIdentities: [proposed] });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
    expect(await stack.store.active(key)).toMatchObject({ identity: proposed });
  });
});

describe('D8 a key that nobody announced', () => {
  test('D8 P5 the candidate is quarantined, and what served goes on for as long as it was verified, for both audiences', async () => {
    const { key, other, rotate, state } = await rotating();
    const begun = [key, other].map(async (one) => ({ key: one, before: await stack.standing(one) }));
    rotate();
    state.list = { pages: [tools(4)], revision: at(8) };
    for (const { key: one, before } of await Promise.all(begun)) {
      expect(await stack.discover(one)).toMatchObject({
        state: 'QUARANTINED',
        reason: 'IDENTITY_CHANGED',
        evidence: { accepted: (await stack.store.active(one))?.identity },
      });
      // The very rows of before: pointer, freshness and its end. Admission holds calls to that end (A1, S7).
      expect(await stack.standing(one)).toEqual(before);
    }
  });

  test('D8 where keys are pinned the handshake is refused: quarantined with both keys, and no byte of a request sent', async () => {
    const { key, old, next, rotate, server } = await rotating((pinned) => ({ spkiPins: [pinOf(pinned)] }));
    const before = await stack.standing(key);
    const seen = server.seen.length;
    rotate();
    const held = await stack.discover(key);
    expect(held).toMatchObject({
      state: 'QUARANTINED',
      reason: 'IDENTITY_CHANGED',
      evidence: { pinned: [pinOf(old)], spki: pinOf(next), at: 'handshake' },
    });
    expect(server.seen).toHaveLength(seen);
    expect(await stack.standing(key)).toEqual(before);
    // It has shown no list that a person could accept: the pins have the say.
    await expect(
      acceptHeld(
        {
          store: stack.operator,
          control: { startDiscovery: unasked, hint: unasked } as never,
          keys: stack.keys,
          now: () => epochMs(Date.now()),
          newId: () => 'never-stored',
        },
        { tenant: key.tenant, subject: 'olga', requestId: 'q' },
        { discovery: held.scan, reason: 'meant so' },
      ),
    ).rejects.toMatchObject({ code: 'CONFLICT', reason: 'NOT_ACCEPTABLE' });
  });

  test('D8 the first scan for another audience is held to the identity that answers for the server', async () => {
    const { key, rotate, more, server } = await rotating();
    const third = { ...key, audience: parseAudienceClass('auditors.policy-1') };
    await stack.register(key, server.url, {
      ...more,
      audiences: { ...more.audiences, [third.audience]: { kind: 'none' } },
    });
    rotate();
    expect(await stack.discover(third)).toMatchObject({ state: 'QUARANTINED', reason: 'IDENTITY_CHANGED' });
  });
});

describe('D8 a key that is swapped in mid-scan', () => {
  test.each([
    ['between two pages', 1],
    ['before the tail', 2],
  ])(
    'D8 %s: IDENTITY_TORN, before anything is sent to it, also where both keys are pinned',
    async (_, pages) => {
      const [old, next] = oldAndNext();
      const list = { pages: [tools(2, 'a'), tools(2, 'b')], revision: at(7) };
      const server = await stack.bent({
        tls: old,
        list: (bent) => {
          bent.response.setHeader('connection', 'close');
          if (bent.before === pages - 1) server.useCertificate(next);
          return serveList(() => list)(bent);
        },
      });
      const key = ownKey();
      const trust = { tlsCaPem: `${old.cert}${next.cert}`, spkiPins: [pinOf(old), pinOf(next)] };
      await stack.register(key, server.url, { trust });
      expect(await stack.discover(key)).toMatchObject({
        state: 'QUARANTINED',
        reason: 'IDENTITY_TORN',
        evidence: { first: pinOf(old), now: pinOf(next), at: 'handshake' },
      });
      expect(server.seen.filter((method) => method === 'tools/list')).toHaveLength(pages);
      expect(await stack.store.active(key)).toBeNull();
    },
  );
});
