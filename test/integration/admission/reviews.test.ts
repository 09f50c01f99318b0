/** V6: a changed text or hint of a tool that may have effects stops that tool until a reviewer accepted it, and no other. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { PlanNode } from '../../../src/client/client.js';
import type { EffectClass } from '../../../src/domain/descriptor.js';
import type { JsonObject } from '../../../src/domain/json.js';
import type { OperatorReceipt } from '../../../src/domain/receipt.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { bundle } from '../api/examplePolicy.js';
import { promoteTools, tool } from '../api/promoteTools.js';
import {
  api,
  args,
  manager,
  operator,
  problemOf,
  receiptOf,
  register,
  useAdmission,
} from './admissionFixture.js';

useAdmission();

const SERVERS = [
  'worded',
  'hinted',
  'refusing',
  'returning',
  'reading',
  'renaming',
  'ordered',
  'numbered',
  'growing',
];
type Classes = Readonly<Record<string, Exclude<EffectClass, 'UNKNOWN'>>>;
const CLASSES: Classes = { reserve: 'RESERVATION', ship: 'WRITE', count: 'READ' };

const publish = async (classes: Classes = CLASSES): Promise<void> => {
  const plain = bundle();
  const ids = SERVERS.flatMap((server) =>
    Object.entries(classes).map(([name, effectClass]) => [`${server}.${name}@1`, effectClass] as const),
  );
  const tools = Object.fromEntries(
    ids.map(([id, effectClass]) => [id, { effectClass, resource: 'stock/{/sku}' }]),
  );
  const permits = [{ id: 'all', roles: ['stock-manager'], tools: ids.map(([id]) => id) }];
  await operator.client.publishPolicy({ ...plain, tools: { ...plain.tools, ...tools }, permits });
};
beforeAll(() => publish());

/** Generations of one server, one after another. */
const serverOf = async (server: string) => {
  await register(server);
  let counter = 0;
  return async (tools: readonly JsonObject[], classes: Readonly<Record<string, EffectClass>> = CLASSES) => {
    counter += 1;
    const found = await promoteTools(api.scans, { tenant: api.tenant, server, tools, classes, counter });
    return (name: string): PlanNode => ({
      server,
      tool: found.tools[name]?.id ?? '',
      descriptor: found.tools[name]?.descriptor ?? '',
      generation: found.generation,
      arguments: args,
    });
  };
};
const reworded = (name: string, description = 'Does otherwise') => tool(name, { description });
const openReviews = async (server: string) =>
  (await operator.client.reviews({ server })).reviews.filter(({ open }) => open);
const openReview = async (server: string) => {
  const [review, ...others] = await openReviews(server);
  if (review === undefined || others.length > 0) throw new Error(`${others.length} other reviews are open`);
  return review;
};
const admitted = async (node: PlanNode) => (await manager.client.admit(node)).decision;

describe('V6 held', () => {
  test('V6 R1 a changed description stops that tool and no other; accepting it frees the tool at once', async () => {
    const promote = await serverOf('worded');
    const first = await promote([tool('reserve'), tool('ship')]);
    expect(await admitted(first('reserve'))).toBe('ALLOWED');
    expect(await openReviews('worded')).toEqual([]);

    const node = await promote([reworded('reserve'), tool('ship')]);
    const refusal = await problemOf(manager.client.admit(node('reserve')));
    const review = await openReview('worded');
    expect(refusal).toMatchObject({
      status: 409,
      code: 'REVIEW_REQUIRED',
      reason: 'TEXT_CHANGED',
      details: { review: review.id, changed: ['text'] },
    });
    const receipts = await operator.client.receipts({ subject: 'alice', limit: 1 });
    expect(await receiptOf(receipts[0]?.jws ?? '')).toMatchObject({
      code: 'REVIEW_REQUIRED',
      reason: 'TEXT_CHANGED',
      tool: 'worded.reserve@1',
      descriptor: node('reserve').descriptor,
    });
    expect(await admitted(node('ship'))).toBe('ALLOWED');
    const held = { id: review.id, state: 'pending', changed: ['text'] };
    expect(await manager.client.tool('worded', 'worded.reserve@1')).toMatchObject({ review: held });
    const catalog = await manager.client.catalog('worded');
    expect(catalog?.tools.map(({ name, review: shown }) => [name, shown])).toEqual([
      ['reserve', held],
      ['ship', undefined],
    ]);

    const decided = await operator.client.decideReview(review.id, 'accept', 'the new words are right');
    expect(await admitted(node('reserve'))).toBe('ALLOWED');
    expect((await manager.client.tool('worded', 'worded.reserve@1')).review).toBeUndefined();
    const { jws } = await operator.client.receipt(decided.receipt);
    expect((await verifyReceipt(jws, api.keys.publicJwks())).body as OperatorReceipt).toMatchObject({
      act: 'ACCEPT_REVIEW',
      target: review.id,
      subject: 'olga',
      server: 'worded',
    });
    expect(await problemOf(operator.client.decideReview(review.id, 'accept', 'again'))).toMatchObject({
      status: 409,
      code: 'CONFLICT',
      reason: 'ALREADY_REVIEWED',
    });
    const tooLate = await problemOf(operator.client.decideReview(review.id, 'refuse', 'on second thought'));
    expect(tooLate).toMatchObject({ status: 409, code: 'CONFLICT', reason: 'REVIEW_ACCEPTED' });
    expect(tooLate.next).toContain('POST /v1/revocations');
    const { kind, server, target } = tooLate.details as Record<'kind' | 'server' | 'target', string>;
    await operator.client.revoke({ kind: kind as 'tool-id', server, target, reason: 'r' });
    expect(await problemOf(manager.client.admit(node('reserve')))).toMatchObject({ reason: 'REVOKED_TOOL' });
  });

  test('V6 V5 changed annotations are hints, and stop it as well', async () => {
    const promote = await serverOf('hinted');
    await promote([tool('reserve')]);
    const node = await promote([tool('reserve', { annotations: { destructiveHint: true } })]);
    expect(await problemOf(manager.client.admit(node('reserve')))).toMatchObject({
      code: 'REVIEW_REQUIRED',
      reason: 'HINTS_CHANGED',
    });
  });

  test('V6 a refused change stays refused over later generations, until it is accepted or gone', async () => {
    const promote = await serverOf('refusing');
    await promote([tool('reserve')]);
    await promote([reworded('reserve')]);
    const { id } = await openReview('refusing');
    await operator.client.decideReview(id, 'refuse', 'it tells the model to pay');
    expect(await problemOf(operator.client.decideReview(id, 'refuse', 'again'))).toMatchObject({
      reason: 'ALREADY_REVIEWED',
    });
    const node = await promote([reworded('reserve'), tool('ship')]);
    expect(await problemOf(manager.client.admit(node('reserve')))).toMatchObject({
      code: 'REVIEW_REQUIRED',
      reason: 'REVIEW_REFUSED',
    });
    expect(await operator.client.reviews({ server: 'refusing', state: 'pending' })).toMatchObject({
      reviews: [],
    });
    await operator.client.decideReview(id, 'accept', 'on second thought');
    expect(await admitted(node('reserve'))).toBe('ALLOWED');
  });

  // That A was there first does not let it pass: nobody has accepted it, and who wrote the permit may have read B.
  test('V6 A-B-A stays held; after B was accepted, A is too; each change of a change is another review', async () => {
    const promote = await serverOf('returning');
    await promote([tool('reserve')]);
    await promote([reworded('reserve')]);
    const toB = await openReview('returning');
    const first = await promote([tool('reserve')]);
    const toFirst = await openReview('returning');
    expect([toFirst.before, toFirst.after]).toEqual([toB.after, toB.before]);
    expect(await problemOf(manager.client.admit(first('reserve')))).toMatchObject({
      code: 'REVIEW_REQUIRED',
      details: { review: toFirst.id },
    });
    expect(await problemOf(operator.client.decideReview(toB.id, 'accept', 'late'))).toMatchObject({
      status: 404,
      reason: 'NO_SUCH_REVIEW',
    });

    await promote([reworded('reserve', 'C')]);
    const toC = await openReview('returning');
    expect(toC.before).toBe(toB.before);
    await operator.client.decideReview(toC.id, 'refuse', 'no');
    await promote([reworded('reserve')]);
    const fromC = await openReview('returning');
    expect([fromC.before, fromC.after]).toEqual([toC.after, toB.after]);
    expect(await problemOf(operator.client.decideReview(toC.id, 'accept', 'late'))).toMatchObject({
      reason: 'REVIEW_SUPERSEDED',
      details: { review: toC.id, newest: fromC.id },
    });
    await operator.client.decideReview(fromC.id, 'accept', 'fine');
    const back = await promote([tool('reserve')]);
    const toA = await openReview('returning');
    expect([toA.before, toA.after]).toEqual([toB.after, toB.before]);
    expect(toA.id).not.toBe(toFirst.id);
    expect(await problemOf(manager.client.admit(back('reserve')))).toMatchObject({ code: 'REVIEW_REQUIRED' });
    await operator.client.decideReview(toA.id, 'accept', 'fine too');
    await promote([reworded('reserve')]);
    const again = await openReview('returning');
    expect([again.before, again.after, again.state]).toEqual([toB.before, toB.after, 'pending']);
    expect(again.id).not.toBe(toB.id);
  });
});

describe('V6 not held', () => {
  test('V6 V5 a READ tool goes on; classified as WRITE later, its unreviewed change stops it', async () => {
    const promote = await serverOf('reading');
    await promote([tool('count')]);
    const node = await promote([reworded('count')]);
    expect(await admitted(node('count'))).toBe('ALLOWED');
    expect(await openReviews('reading')).toEqual([]);
    expect((await manager.client.tool('reading', 'reading.count@1')).review).toBeUndefined();

    const writes = { ...CLASSES, count: 'WRITE' } as const;
    await publish(writes);
    expect(await problemOf(manager.client.admit(node('count')))).toMatchObject({ reason: 'EPOCH_REBINDING' });
    const bound = await promote([reworded('count')], writes);
    expect(await problemOf(manager.client.admit(bound('count')))).toMatchObject({
      code: 'REVIEW_REQUIRED',
      reason: 'TEXT_CHANGED',
    });
    await publish();
    const readAgain = await promote([reworded('count')]);
    expect(await admitted(readAgain('count'))).toBe('ALLOWED');
    expect(await openReviews('reading')).toEqual([]);
  });

  test('V6 A5 a rename is a new tool: nothing of the old one is permitted or approved under it', async () => {
    const promote = await serverOf('renaming');
    const old = await promote([tool('reserve')]);
    const node = await promote([tool('book', { description: 'Does reserve' })], { book: 'RESERVATION' });
    expect(await problemOf(manager.client.admit(node('book')))).toMatchObject({ code: 'POLICY_DENIED' });
    expect(await problemOf(manager.client.admit(old('reserve')))).toMatchObject({
      code: 'STALE_CATALOG',
      reason: 'TOOL_REMOVED',
    });
    expect(await openReviews('renaming')).toEqual([]);
  });

  test('V6 A5 tools that appear later are listed and not permitted; the one that was there goes on', async () => {
    const promote = await serverOf('growing');
    await promote([tool('reserve')]);
    const later = Array.from({ length: 89 }, (_, n) => `t${n}`);
    const node = await promote([tool('reserve'), ...later.map((name) => tool(name))]);
    expect(await admitted(node('reserve'))).toBe('ALLOWED');
    for (const name of ['t0', 't88'])
      expect(await problemOf(manager.client.admit(node(name)))).toMatchObject({ code: 'POLICY_DENIED' });
    expect((await manager.client.catalog('growing'))?.toolCount).toBe(90);
    expect(await openReviews('growing')).toEqual([]);
  });

  test('V6 S5 another order of members or tools changes nothing', async () => {
    const promote = await serverOf('ordered');
    await promote([tool('reserve'), tool('ship')]);
    const turned = Object.fromEntries(Object.entries(tool('reserve')).reverse());
    const node = await promote([tool('ship'), turned]);
    expect(await admitted(node('reserve'))).toBe('ALLOWED');
    expect(await openReviews('ordered')).toEqual([]);
  });

  test('V6 S2 a changed contract is another id, which policy has to name, and the text of which it starts with', async () => {
    const promote = await serverOf('numbered');
    await promote([tool('reserve')]);
    const changed = { inputSchema: { type: 'object' }, description: 'Other words too' };
    const node = await promote([tool('reserve', changed)]);
    expect(node('reserve').tool).toBe('numbered.reserve@2');
    expect(await openReviews('numbered')).toEqual([]);
    expect(await problemOf(manager.client.admit(node('reserve')))).toMatchObject({ code: 'POLICY_DENIED' });
    await promote([tool('reserve', { ...changed, description: 'Words again' })]);
    expect((await openReview('numbered')).tool).toBe('numbered.reserve@2');
  });
});
