/** Mix-and-match: pages that are each genuine, and never were one list: of two revisions, two credentials, two servers. */
import { describe, expect, test } from 'vitest';
import { parseAudienceClass } from '../../src/domain/ids.js';
import { verifySnapshot } from '../../src/proof/verifySnapshot.js';
import { startDiscovery } from '../../src/temporal/discoveryControl.js';
import { deferred } from '../fixtures/bentConnections.js';
import type { ScriptedList } from '../fixtures/catalogScript.js';
import { at, type BentList, serveList } from '../integration/discovery/bentLists.js';
import { ownKey, until } from '../integration/discovery/discoveryStack.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';
import { soundnessFaults } from './soundness.js';

const stack = useFaults();

describe('D3 pages of two revisions', () => {
  test('D3 in each round: REVISION_UNSTABLE, and none of them serves', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.order({ list: NEXT });
    const evidence = { rounds: 5, last: { page: 2, first: { value: at(8) }, now: { value: at(7) } } };
    await stack.expectFault(
      begun,
      { reason: 'REVISION_UNSTABLE', evidence },
      { page: 2, stamp: { revision: at(7) }, visit: 'each' },
    );
    await stack.expectMended(begun);
  });

  test('D9 an old page under a new stamp contradicts the true list as soon as that is seen, and only a person can tell which holds', async () => {
    const begun = await stack.begin(await stack.scripted());
    const [a, b, c, d] = NEXT.pages;
    const mixed: ScriptedList = { ...NEXT, pages: [a ?? [], FIRST.pages[1] ?? [], c ?? [], d ?? []] };
    expect(b).not.toEqual(FIRST.pages[1]);
    await stack.expectMended(begun, mixed);
    const served = { ...begun, before: await stack.standing(begun.key) };
    await begun.catalog.mend(NEXT);
    await stack.expectFault(served, { reason: 'EQUIVOCATION', evidence: { proposed: { value: at(8) } } });
    await stack.expectMended(served, listAt(9, 'a', 'b', 'c', 'd'));
  });
});

/** One server that shows each token a list of its own, all of one revision. */
const perToken = async (lists: Readonly<Record<string, BentList>>) => {
  const gate = { open: deferred(), waiting: false, closedFor: '' };
  const tokens: string[] = [];
  const server = await stack.bent({
    list: async (b) => {
      const token = b.request.headers.authorization?.replace('Bearer ', '') ?? '';
      tokens.push(token);
      if (b.cursor !== undefined && token === gate.closedFor) {
        gate.waiting = true;
        await gate.open.promise;
      }
      const list = lists[token];
      if (list === undefined) return b.error(-32_603, 'no such token');
      return serveList(() => list)(b);
    },
  });
  return { server, gate, tokens };
};
const VARIABLE = 'GENLOCK_CREDENTIAL_ACME_';
const credential = (name: string) => ({ kind: 'reference', reference: `env:${VARIABLE}${name}` }) as const;
const namesOf = async (key: ReturnType<typeof ownKey>): Promise<readonly string[]> =>
  ((await stack.standing(key)).served?.page ?? []).map(({ name }) => name);

describe('S6 pages of two credentials', () => {
  const one = listAt(8, 'shared', 'one');
  const two = listAt(8, 'shared', 'two');

  test('S6 a token that is another one at the tail ends the round: the next list is of one token, whole', async () => {
    const { server, gate, tokens } = await perToken({
      'token-one': one as BentList,
      'token-two': two as BentList,
    });
    gate.closedFor = 'token-one';
    stack.secrets.set(`${VARIABLE}ROTATED`, 'token-one');
    const key = ownKey();
    await stack.register(key, server.url, { audiences: { [key.audience]: credential('ROTATED') } });
    const { runId } = await startDiscovery(stack.client, stack.taskQueue, key);
    await until(() => gate.waiting);
    stack.secrets.set(`${VARIABLE}ROTATED`, 'token-two');
    gate.open.resolve();
    expect(await stack.outcomeOf(key, runId)).toMatchObject({ state: 'ELIGIBLE', generation: 1, tools: 4 });
    expect(await stack.roundsOf(key)).toEqual([
      [0, 'CHANGED_DURING_SCAN'],
      [1, 'PROMOTED'],
    ]);
    expect(await namesOf(key)).toEqual(['shared_0', 'shared_1', 'two_0', 'two_1']);
    // Nothing was asked with the one token on account of pages of the other.
    expect(tokens).toEqual(['token-one', 'token-one', 'token-two', 'token-two', 'token-two']);
    expect(await soundnessFaults(stack, key.server)).toEqual([]);
  });

  test('S6 two audiences of one server and revision: each has the list of its own credential, and nothing of the other', async () => {
    const { server } = await perToken({ 'token-one': one as BentList, 'token-two': two as BentList });
    stack.secrets.set(`${VARIABLE}FIRST`, 'token-one');
    stack.secrets.set(`${VARIABLE}SECOND`, 'token-two');
    const key = ownKey();
    const other = { ...key, audience: parseAudienceClass('warehouse-viewer.policy-1') };
    await stack.register(key, server.url, {
      audiences: { [key.audience]: credential('FIRST'), [other.audience]: credential('SECOND') },
    });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
    expect(await stack.discover(other)).toMatchObject({ state: 'ELIGIBLE' });
    expect(await namesOf(key)).toEqual(['one_0', 'one_1', 'shared_0', 'shared_1']);
    expect(await namesOf(other)).toEqual(['shared_0', 'shared_1', 'two_0', 'two_1']);
  });
});

describe('D8 pages of another server', () => {
  test("S1 D8 a server that repeats another one's pages to the byte has a list of its own, under its own identity and names", async () => {
    const honest = await stack.begin(await stack.scripted(NEXT));
    const copier = await stack.begin(await stack.scripted(NEXT));
    await stack.expectUntouched(honest);
    const [own, copied] = [await stack.standing(honest.key), await stack.standing(copier.key)];
    expect(copied.served?.contentRoot).toBe(own.served?.contentRoot);
    expect(copied.served?.identity).not.toBe(own.served?.identity);
    const ids = (standing: typeof own) => standing.served?.page.map(({ id }) => id) ?? [];
    expect(ids(own)).toHaveLength(8);
    expect(ids(own).filter((id) => ids(copied).includes(id))).toEqual([]);
    // Neither artifact passes for the other's.
    const artifactOf = async ({ tenant, server, audience }: typeof honest.key) => {
      const artifact = await stack.operator.readArtifact(tenant, server, audience, 1);
      if (artifact === null) throw new Error('no artifact');
      return artifact;
    };
    const [a, b] = [await artifactOf(honest.key), await artifactOf(copier.key)];
    expect(verifySnapshot(a.bytes, a.digest).server).not.toBe(verifySnapshot(b.bytes, b.digest).server);
    expect(() => verifySnapshot(a.bytes, b.digest)).toThrow();
  });

  test('D8 one that takes the place of the other is held for its identity, with the very list that serves', async () => {
    const tls = await stack.scripted(FIRST, { tls: true });
    const trust = { trust: { tlsCaPem: tls.tlsCaPem ?? '' } };
    const begun = await stack.begin(tls, trust);
    tls.swapKey();
    await stack.expectFault(begun, { reason: 'IDENTITY_CHANGED', evidence: {} });
    tls.swapKey();
    await stack.expectMended(begun);
  });

  test('D8 a page of one key among pages of another is IDENTITY_TORN', async () => {
    const tls = await stack.scripted(FIRST, { tls: true });
    const begun = await stack.begin(tls, { trust: { tlsCaPem: tls.tlsCaPem ?? '' } });
    await tls.mend(NEXT);
    await stack.expectFault(begun, { reason: 'IDENTITY_TORN', evidence: {} }, { page: 1, swapKey: true });
    tls.swapKey();
    await stack.expectMended(begun, listAt(9, 'a', 'b', 'c', 'd'));
  });
});
