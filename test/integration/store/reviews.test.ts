/** V6 in the store: what is open follows from pointer and approvals, and one function decides, under the fence. */
import { describe, expect, test } from 'vitest';
import {
  parseAudienceClass,
  parseNamespace,
  parseServerName,
  type ServerName,
  type TenantId,
} from '../../../src/domain/ids.js';
import { createAdmissionStore } from '../../../src/store/postgres/admissionStore.js';
import type { Review, ReviewDecision } from '../../../src/store/reviewStore.js';
import { promoteTools, tool } from '../api/promoteTools.js';
import { ACME, GLOBEX, receipt, registration, useStore } from './storeFixture.js';

const fixture = useStore();
const MANAGERS = parseAudienceClass('managers');
const VIEWERS = parseAudienceClass('viewers');
let servers = 0;
const ownServer = async (tenant: TenantId = ACME) => {
  const name = parseServerName(`reviewed-${++servers}`);
  await fixture.operator.registerServer(
    tenant,
    registration({ name, namespace: parseNamespace(name) }),
    receipt(),
  );
  let counter = 0;
  const promote = (
    description: string,
    audience: string = MANAGERS,
    names: readonly string[] = ['reserve'],
  ) =>
    promoteTools(fixture.store, {
      tenant,
      server: name,
      audience,
      counter: ++counter,
      tools: names.map((one) => tool(one, { description })),
      classes: { reserve: 'WRITE' },
    });
  return { name, promote };
};
const openOf = async (server: ServerName, tenant: TenantId = ACME): Promise<readonly Review[]> =>
  (await fixture.operator.listReviews(tenant, { server, limit: 100 })).filter(({ open }) => open);
const onlyOpen = async (server: ServerName): Promise<Review> => {
  const [review] = await openOf(server);
  if (review === undefined) throw new Error('nothing is open');
  return review;
};
const decide = (review: Review, state: ReviewDecision['state'], tenant: TenantId = ACME) =>
  fixture.operator.decideReview(tenant, review, { state, reason: 'r', by: 'olga' }, receipt());
const fenceAndReviews = async (server: ServerName, audience = MANAGERS) => {
  const view = await createAdmissionStore(fixture.api).view(ACME, server, audience);
  return { fence: view.serverFence, reviews: view.active?.reviews };
};
const receipts = async (): Promise<number> =>
  (await fixture.admin.query('select count(*)::int as n from genlock.receipt')).rows[0]?.n;

describe('V6 a decision', () => {
  test('V6 R1 moves the fence and the number that tools are kept under, with one receipt; one that fails moves nothing', async () => {
    const { name, promote } = await ownServer();
    await promote('A');
    await promote('B');
    const review = await onlyOpen(name);
    const [before, count] = [await fenceAndReviews(name), await receipts()];
    expect(await decide(review, 'accepted')).toBe('accepted');
    const after = await fenceAndReviews(name);
    expect(after.fence).not.toBe(before.fence);
    expect(after.reviews).toBe((before.reviews ?? 0) + 1);
    expect(await receipts()).toBe(count + 1);
    expect(await decide(review, 'accepted')).toBe('alreadyDecided');
    expect(await decide(review, 'refused')).toBe('alreadyAccepted');
    expect(await fenceAndReviews(name)).toEqual(after);
    expect(await receipts()).toBe(count + 1);
  });

  test('V6 of many at a time one stands', async () => {
    const { name, promote } = await ownServer();
    await promote('A');
    await promote('B');
    const review = await onlyOpen(name);
    const answers = await Promise.all([1, 2, 3, 4].map(() => decide(review, 'accepted')));
    expect(answers.sort()).toEqual(['accepted', 'alreadyDecided', 'alreadyDecided', 'alreadyDecided']);
  });

  test('V6 binds the very change that its reader saw', async () => {
    const { name, promote } = await ownServer();
    await promote('A');
    await promote('B');
    const seen = await onlyOpen(name);
    await promote('C');
    expect(await decide(seen, 'accepted')).toBe('superseded');
    const now = await onlyOpen(name);
    expect(await decide({ ...now, after: seen.after }, 'accepted')).toBe('superseded');
    expect(await decide({ ...now, before: now.after }, 'accepted')).toBe('superseded');
    expect(await fixture.operator.openReviewOf(ACME, seen)).toBe(now.id);
    expect(await fixture.operator.openReviewOf(GLOBEX, seen)).toBeNull();
    expect((await openOf(name)).map(({ state }) => state)).toEqual(['pending']);
  });

  test('S4 is of its tenant only, and an acceptance is of the descriptor, in whatever audience', async () => {
    const { name, promote } = await ownServer();
    for (const audience of [MANAGERS, VIEWERS]) await promote('A', audience);
    for (const audience of [MANAGERS, VIEWERS]) await promote('B', audience);
    const open = await openOf(name);
    expect(open.map(({ audience }) => audience)).toEqual([MANAGERS, VIEWERS]);
    const [managers] = open;
    const viewersBefore = (await fenceAndReviews(name, VIEWERS)).reviews ?? 0;
    if (managers === undefined) throw new Error('nothing is open');
    expect(await decide(managers, 'accepted', GLOBEX)).toBe('superseded');
    expect(await fixture.operator.readReview(GLOBEX, managers.id)).toBeNull();
    expect(await decide(managers, 'accepted')).toBe('accepted');
    expect(await openOf(name)).toEqual([]);
    expect((await fenceAndReviews(name, VIEWERS)).reviews).toBe(viewersBefore + 1);
  });

  test('V6 what was decided stays in the list, by state, a slice at a time', async () => {
    const { name, promote } = await ownServer();
    const names = ['a', 'b', 'c', 'd'];
    await promote('A', MANAGERS, names);
    await promote('B', MANAGERS, names);
    const [first, second] = await openOf(name);
    if (first === undefined || second === undefined) throw new Error('nothing is open');
    await decide(first, 'accepted');
    await decide(second, 'refused');
    const list = (filter: object) =>
      fixture.operator.listReviews(ACME, { server: name, limit: 100, ...filter });
    const shown = (await list({})).map((one) => [one.name, one.state, one.open]);
    expect(shown).toEqual([
      ['a', 'accepted', false],
      ['b', 'refused', true],
      ['c', 'pending', true],
      ['d', 'pending', true],
    ]);
    expect((await list({ state: 'pending' })).map((one) => one.name)).toEqual(['c', 'd']);
    const [two] = (await list({ limit: 2 })).slice(-1);
    expect((await list({ after: two, limit: 1 })).map((one) => one.name)).toEqual(['c']);
  });
});

describe('V6 what counts as approved', () => {
  const wordsOf = async ({ id }: Review) => {
    const detail = await fixture.operator.readReview(ACME, id);
    return [detail?.before, detail?.after].map((text) => JSON.parse(text ?? '{}').description);
  };

  test('V6 while nobody accepted one, no text of an id passes once there were two, the first one neither', async () => {
    const { name, promote } = await ownServer();
    for (const text of ['A', 'B', 'A']) await promote(text);
    const toA = await onlyOpen(name);
    expect(await wordsOf(toA)).toEqual(['B', 'A']);
    await promote('C');
    await promote('A');
    expect(await wordsOf(await onlyOpen(name))).toEqual(['C', 'A']);
    await decide(await onlyOpen(name), 'accepted');
    expect(await openOf(name)).toEqual([]);
    await promote('B');
    expect(await wordsOf(await onlyOpen(name))).toEqual(['A', 'B']);
    await promote('A');
    expect(await openOf(name)).toEqual([]);
  });

  test('V6 S2 another text of the same id in another audience needs a review, and so does what is there', async () => {
    const { name, promote } = await ownServer();
    await promote('A', MANAGERS);
    const before = await fenceAndReviews(name);
    await promote('B', VIEWERS);
    // What was kept of the managers' tool is not gone by any more.
    expect((await fenceAndReviews(name)).reviews).toBe((before.reviews ?? 0) + 1);
    const [managers, viewers, ...others] = await openOf(name);
    if (managers === undefined || viewers === undefined) throw new Error('two are to be open');
    expect([managers.tool, viewers.tool, others]).toEqual([`${name}.reserve@1`, `${name}.reserve@1`, []]);
    expect([managers.audience, await wordsOf(managers)]).toEqual([MANAGERS, ['B', 'A']]);
    expect([viewers.audience, await wordsOf(viewers)]).toEqual([VIEWERS, ['A', 'B']]);

    await decide(managers, 'accepted');
    const [left, ...rest] = await openOf(name);
    if (left === undefined) throw new Error('the other one is to be open');
    expect([left.audience, await wordsOf(left), rest]).toEqual([VIEWERS, ['A', 'B'], []]);
    await decide(left, 'accepted');
    expect(await openOf(name)).toEqual([]);
    // Each of the two is the last one that was accepted for an audience: either may be served to both.
    await promote('B', MANAGERS);
    expect(await openOf(name)).toEqual([]);
    await promote('C', VIEWERS);
    expect(await wordsOf(await onlyOpen(name))).toEqual(['B', 'C']);
  });

  test('V6 an audience that comes later starts from what was accepted for another one, and the same text needs nothing', async () => {
    const { name, promote } = await ownServer();
    await promote('A', MANAGERS);
    await promote('B', MANAGERS);
    await decide(await onlyOpen(name), 'accepted');
    await promote('B', VIEWERS);
    expect(await openOf(name)).toEqual([]);
    await promote('A', VIEWERS);
    const review = await onlyOpen(name);
    expect([review.audience, await wordsOf(review)]).toEqual([VIEWERS, ['B', 'A']]);
  });

  test('V6 a candidate that was not promoted approves nothing and opens nothing', async () => {
    const { name, promote } = await ownServer();
    await promote('A');
    await expect(
      promoteTools(
        { ...fixture.store, promote: async () => ({ outcome: 'lost', activeGeneration: 1 }) },
        {
          tenant: ACME,
          server: name,
          audience: MANAGERS,
          counter: 9,
          tools: [tool('reserve', { description: 'B' })],
        },
      ),
    ).rejects.toThrow('not promoted');
    expect(await openOf(name)).toEqual([]);
    await promote('C');
    const review = await onlyOpen(name);
    const detail = await fixture.operator.readReview(ACME, review.id);
    expect([detail?.before, detail?.after]).toEqual([
      expect.stringContaining('"A"'),
      expect.stringContaining('"C"'),
    ]);
  });
});
