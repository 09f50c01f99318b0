/** D5 D8 D9: what is held for a person, accepted by one, and promoted by the next scan; with receipts for both. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { CatalogError } from '../../../src/domain/errors.js';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { epochMs, parseTenantId } from '../../../src/domain/ids.js';
import type { CatalogReceipt, OperatorReceipt, ReceiptBody } from '../../../src/domain/receipt.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { digestJson } from '../../../src/proof/digest.js';
import { createTemporalControl } from '../../../src/temporal/control.js';
import { type Accepted, acceptHeld } from '../../../src/usecases/acceptHeld.js';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import { selfSignedCertificate } from '../../fixtures/selfSignedCertificate.js';
import { at, type BentList, serveList, tools } from './bentLists.js';
import { type Outcome, ownKey, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

/** A registered server whose list the test changes. */
const bentServer = async (first: BentList) => {
  const state = { list: first };
  const server = await stack.bent({ list: serveList(() => state.list) });
  const key = ownKey();
  await stack.register(key, server.url);
  expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
  return { key, state };
};

const accept = ({ tenant }: Pick<DiscoveryKey, 'tenant'>, discovery: string): Promise<Accepted> =>
  acceptHeld(
    {
      store: stack.operator,
      control: createTemporalControl(stack.client, {
        taskQueue: stack.taskQueue,
        namespace: 'unused: no link is asked for',
        uiUrl: null,
      }),
      keys: stack.keys,
      now: () => epochMs(Date.now()),
      newId: randomUUID,
    },
    { tenant, subject: 'olga', requestId: 'q' },
    { discovery, reason: 'meant so' },
  );
const refusal = (promise: Promise<unknown>): Promise<Pick<CatalogError, 'code' | 'reason' | 'details'>> =>
  promise.then(
    () => Promise.reject(new Error('was accepted')),
    (error: CatalogError) => error,
  );

/** The discovery that an acceptance has started. */
const startedBy = async (key: DiscoveryKey): Promise<Outcome> => {
  const { runId } = await stack.client.workflow.getHandle(discoveryWorkflowId(key)).describe();
  return stack.outcomeOf(key, runId);
};
const heldFor = async (key: DiscoveryKey, reason: string): Promise<Outcome> => {
  const outcome = await stack.discover(key);
  expect(outcome).toMatchObject({ state: 'QUARANTINED', reason });
  return outcome;
};
const receiptOf = async <R extends ReceiptBody>(key: DiscoveryKey, id: string | null): Promise<R> => {
  const [row] = await stack.operator.receipts(key.tenant, { id: id ?? '', limit: 1 });
  return (await verifyReceipt(row?.jws ?? '', stack.keys.publicJwks())).body as R;
};
const acceptanceOf = async (key: DiscoveryKey, id: string) =>
  (await stack.operator.listAcceptances(key.tenant)).find((one) => one.id === id);

/** The next scan was promoted by exactly these, and each is used up. */
const expectPromotedBy = async (key: DiscoveryKey, ids: readonly string[]): Promise<void> => {
  const outcome = await startedBy(key);
  expect(outcome).toMatchObject({ state: 'ELIGIBLE', generation: expect.any(Number) });
  const receipt = await receiptOf<CatalogReceipt>(key, outcome.receipt);
  expect(receipt).toMatchObject({ kind: 'catalog', discovery: outcome.scan });
  expect(receipt.acceptances.toSorted()).toEqual([...ids].sort());
  for (const id of ids)
    expect(await acceptanceOf(key, id)).toMatchObject({ usedBy: outcome.scan, open: false });
};

describe('D5 D9 held, accepted, promoted', () => {
  const lists = { pages: [tools(10)], revision: at(7) };
  test.concurrent.each<[reason: string, what: string, list: BentList]>([
    ['SHRUNK', 'fewer tools', { pages: [tools(2)], revision: at(8) }],
    ['SHRUNK', 'no tools at all', { pages: [[]], revision: at(8) }],
    ['ROLLBACK', 'another list', { pages: [tools(11)], revision: at(6) }],
    ['ROLLBACK', 'the active list', { pages: [tools(10)], revision: at(6) }],
    ['NEW_INCARNATION', 'a counter', { pages: [tools(11)], revision: at(1, 'anew') }],
    ['NEW_INCARNATION', 'a token', { pages: [tools(11)], token: 'opaque' }],
    ['FAST_FORWARD', 'from which later revisions go on', { pages: [tools(11)], revision: at(5_000_000_000) }],
  ])('%s: %s', async (reason, _, list) => {
    const { key, state } = await bentServer(lists);
    state.list = list;
    const held = await heldFor(key, reason);
    const accepted = await accept(key, held.scan);
    expect(accepted).toMatchObject({ kind: reason, server: key.server, audience: key.audience, by: 'olga' });
    expect(accepted.discoveries).toMatchObject([{ server: key.server, failed: null }]);
    const { receipt, discoveries: __, ...record } = accepted;
    expect(await receiptOf<OperatorReceipt>(key, receipt)).toMatchObject({
      kind: 'operator',
      act: 'ACCEPT',
      subject: 'olga',
      server: key.server,
      audienceClass: key.audience,
      target: accepted.id,
      record: digestJson(record as never),
    });
    await expectPromotedBy(key, [accepted.id]);
    expect(await stack.operator.readDiscovery(key.tenant, held.scan)).toMatchObject({
      state: 'QUARANTINED',
      reason,
    });
    // What is served now is what later scans are compared with.
    expect(await stack.discover(key)).toMatchObject({ reason: 'UNCHANGED' });
    state.list = { ...list, pages: [...list.pages, tools(20, 'more')], ...later(list) };
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
  });
  const later = ({ revision, token }: BentList): Pick<BentList, 'revision' | 'token'> =>
    token !== undefined
      ? { token: `${String(token)}, and on` }
      : { revision: { ...(revision as object), counter: (revision as { counter: number }).counter + 1 } };

  test.concurrent('D8 IDENTITY_CHANGED: another endpoint takes over, and the old pointer closes', async () => {
    const certificate = selfSignedCertificate();
    const trust = { tlsCaPem: certificate.cert };
    const serve = (list: BentList) => stack.bent({ list: serveList(() => list), tls: certificate });
    const key = ownKey();
    await stack.register(key, (await serve({ pages: [tools(3)], revision: at(7) })).url, { trust });
    await stack.discover(key);
    const before = await stack.store.active(key);
    await stack.register(key, (await serve({ pages: [tools(3)], revision: at(1) })).url, { trust });
    const held = await heldFor(key, 'IDENTITY_CHANGED');
    const accepted = await accept(key, held.scan);
    await expectPromotedBy(key, [accepted.id]);
    expect(accepted.identity).not.toBe(before?.identity);
    expect(await stack.store.active(key)).toMatchObject({ generation: 2, identity: accepted.identity });
  });

  test.concurrent('a list that is held twice needs two acceptances, and its receipt names both', async () => {
    const { key, state } = await bentServer(lists);
    state.list = { pages: [tools(2)], revision: at(1, 'anew') };
    const first = await accept(key, (await heldFor(key, 'NEW_INCARNATION')).scan);
    const second = await startedBy(key);
    expect(second).toMatchObject({ state: 'QUARANTINED', reason: 'SHRUNK' });
    const more = await accept(key, second.scan);
    await expectPromotedBy(key, [first.id, more.id]);
  });

  test('R1 a promotion that rests on none says so', async () => {
    const { key } = await bentServer(lists);
    const { scan } = (await stack.store.active(key)) ?? { scan: '' };
    const receipts = await stack.operator.receipts(key.tenant, { kind: 'catalog', limit: 1_000 });
    const bodies = await Promise.all(receipts.map(({ id }) => receiptOf<CatalogReceipt>(key, id)));
    expect(bodies.find(({ discovery }) => discovery === scan)?.acceptances).toEqual([]);
  });
});

describe('D5 what an acceptance does not allow', () => {
  const ten = { pages: [tools(10)], revision: at(7) };

  test.concurrent('D5 it is used once: the same loss, or the same rollback, is held again', async () => {
    for (const [reason, list] of [
      ['SHRUNK', { pages: [tools(2)], revision: at(8) }],
      ['ROLLBACK', { pages: [tools(11)], revision: at(6) }],
    ] as const) {
      const { key, state } = await bentServer(ten);
      state.list = list;
      const held = await heldFor(key, reason);
      const { id } = await accept(key, held.scan);
      await expectPromotedBy(key, [id]);
      state.list = { pages: [tools(10)], revision: at(9) };
      expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
      state.list = reason === 'SHRUNK' ? { ...list, revision: at(10) } : list;
      const again = await heldFor(key, reason);
      expect(await refusal(accept(key, held.scan))).toMatchObject({ reason: 'ALREADY_ACCEPTED' });
      const next = await accept(key, again.scan);
      await expectPromotedBy(key, [next.id]);
    }
  });

  test.concurrent('D5 another content, another identity of a list and a lower revision are held again', async () => {
    for (const [reason, first, other] of [
      ['SHRUNK', { pages: [tools(2)], revision: at(8) }, { pages: [tools(3)], revision: at(9) }],
      ['ROLLBACK', { pages: [tools(11)], revision: at(6) }, { pages: [tools(11)], revision: at(5) }],
      ['ROLLBACK', { pages: [tools(11)], revision: at(6) }, { pages: [tools(12)], revision: at(6) }],
      [
        'NEW_INCARNATION',
        { pages: [tools(11)], revision: at(1, 'b') },
        { pages: [tools(11)], revision: at(2, 'c') },
      ],
    ] as const) {
      const { key, state } = await bentServer(ten);
      state.list = first;
      const held = await heldFor(key, reason);
      state.list = other;
      const { id } = await accept(key, held.scan);
      expect(await startedBy(key)).toMatchObject({ state: 'QUARANTINED', reason });
      expect(await acceptanceOf(key, id)).toMatchObject({ usedBy: null, open: true });
      expect(await stack.store.active(key)).toMatchObject({ generation: 1 });
    }
  });

  test.concurrent('D5 it ends when another list is promoted in between', async () => {
    const { key, state } = await bentServer(ten);
    state.list = { pages: [tools(2)], revision: at(8) };
    const held = await heldFor(key, 'SHRUNK');
    state.list = { pages: [tools(12)], revision: at(9) };
    const { id } = await accept(key, held.scan);
    expect(await startedBy(key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect(await acceptanceOf(key, id)).toMatchObject({ usedBy: null, open: false });
    state.list = { pages: [tools(2)], revision: at(10) };
    await heldFor(key, 'SHRUNK');
  });

  test.concurrent('D5 an acceptance of one audience counts for no other', async () => {
    const { key, state } = await bentServer(ten);
    const other = { ...ownKey(), server: key.server, audience: `${key.audience}-b` as typeof key.audience };
    const server = await stack.operator.readServer(key.tenant, key.server);
    if (server === null || server.source.kind !== 'mcp-http') throw new Error('registered');
    const audiences = { [key.audience]: { kind: 'none' }, [other.audience]: { kind: 'none' } } as const;
    await stack.register(key, server.source.url, { audiences });
    for (const one of [key, other]) expect(await stack.discover(one)).toMatchObject({ state: 'ELIGIBLE' });
    state.list = { pages: [tools(2)], revision: at(8) };
    const { id } = await accept(key, (await heldFor(key, 'SHRUNK')).scan);
    await expectPromotedBy(key, [id]);
    await heldFor(other, 'SHRUNK');
  });

  test.concurrent('D5 only the newest held one is accepted, once, and beside the catalog that it was judged by', async () => {
    const { key, state } = await bentServer(ten);
    state.list = { pages: [tools(2)], revision: at(8) };
    const first = await heldFor(key, 'SHRUNK');
    state.list = { pages: [tools(3)], revision: at(9) };
    const second = await heldFor(key, 'SHRUNK');
    expect(await refusal(accept(key, first.scan))).toMatchObject({
      code: 'CONFLICT',
      reason: 'HELD_SUPERSEDED',
      details: { discovery: first.scan, newest: second.scan },
    });
    state.list = { pages: [tools(11)], revision: at(10) };
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
    expect(await refusal(accept(key, second.scan))).toMatchObject({
      code: 'CONFLICT',
      reason: 'HELD_SUPERSEDED',
    });
    state.list = { pages: [tools(2)], revision: at(11) };
    const third = await heldFor(key, 'SHRUNK');
    state.list = { pages: [tools(4)], revision: at(12) };
    await accept(key, third.scan);
    expect(await refusal(accept(key, third.scan))).toMatchObject({ reason: 'ALREADY_ACCEPTED' });
    await startedBy(key);
  });

  test.concurrent('D5 what is no question to a person is not acceptable, nor is what is not held', async () => {
    const { key, state } = await bentServer(ten);
    const { scan } = (await stack.store.active(key)) ?? { scan: '' };
    expect(await refusal(accept(key, scan))).toMatchObject({
      code: 'CONFLICT',
      reason: 'NOT_ACCEPTABLE',
      details: { state: 'ELIGIBLE', reason: 'PROMOTED' },
    });
    state.list = { pages: [tools(10, 'other')], revision: at(7) };
    expect(await refusal(accept(key, (await heldFor(key, 'EQUIVOCATION')).scan))).toMatchObject({
      code: 'CONFLICT',
      reason: 'NOT_ACCEPTABLE',
      details: { state: 'QUARANTINED', reason: 'EQUIVOCATION' },
    });
    expect(await stack.operator.listAcceptances(key.tenant)).not.toContainEqual(
      expect.objectContaining({ server: key.server }),
    );
  });

  test.concurrent("S4 another tenant's discovery is not found, and its acceptances are not listed", async () => {
    const { key, state } = await bentServer(ten);
    state.list = { pages: [tools(2)], revision: at(8) };
    const held = await heldFor(key, 'SHRUNK');
    const globex = { tenant: parseTenantId('globex') };
    expect(await refusal(accept(globex, held.scan))).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'NO_SUCH_DISCOVERY',
    });
    const { id } = await accept(key, held.scan);
    expect(await stack.operator.listAcceptances(globex.tenant)).toEqual([]);
    await expectPromotedBy(key, [id]);
  });
});
