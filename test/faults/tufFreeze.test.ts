/** Indefinite freeze: somebody keeps the source at one list, or keeps it from answering. */
import { beforeAll, describe, expect, test } from 'vitest';
import { durationMs } from '../../src/domain/ids.js';
import { at } from '../integration/discovery/bentLists.js';
import { FIRST, listAt, NEXT, useFaults } from './expectations.js';
import { useCaller } from './standpoints.js';

const stack = useFaults();
const admitAt = useCaller(stack);
/** What a caller is told of these tools while their generation serves. */
const SERVES = 'POLICY_DENIED/UNCLASSIFIED_EFFECT';
const EXPIRED = 'STALE_CATALOG/GENERATION_EXPIRED';
const DAY = durationMs(24 * 60 * 60_000);

beforeAll(async () => {
  await stack.publishPolicy();
});

describe('S7 P5 freeze', () => {
  test('S7 P5 a source that never answers renews nothing: the list serves while it is fresh, and then admits nothing', async () => {
    const catalog = await stack.scripted();
    const { key } = await stack.begin(catalog);
    await stack.register(key, catalog.source, { limits: { pageTime: durationMs(1_000) } });
    const frozen = { key, catalog, before: await stack.standing(key) };
    const freshUntil = frozen.before.served?.freshUntil ?? 0;
    for (let refresh = 0; refresh < 2; refresh++)
      await stack.expectFault(
        frozen,
        { reason: 'PAGE_TIMEOUT', evidence: { limitMs: 1_000, page: 0 } },
        { page: 0, stall: true, visit: 'each' },
      );
    expect(await admitAt(key, freshUntil - 1)).toBe(SERVES);
    expect(await admitAt(key, freshUntil)).toBe(EXPIRED);
    await catalog.mend();
    await stack.register(key, catalog.source);
    expect(await stack.discover(key)).toMatchObject({ reason: 'UNCHANGED', generation: 1 });
    expect(await admitAt(key, freshUntil)).toBe(SERVES);
  });

  test('S7 a source that shows one list for ever is believed no longer than the hard limit of its snapshot', async () => {
    const catalog = await stack.scripted();
    const freshness = { maxAge: durationMs(30 * DAY), snapshotMaxAge: DAY };
    const { key, before } = await stack.begin(catalog, { freshness });
    const hardLimit = before.served?.freshUntil ?? 0;
    expect(hardLimit).toBeLessThanOrEqual(Date.now() + DAY);
    for (let refresh = 0; refresh < 3; refresh++)
      expect(await stack.discover(key)).toMatchObject({
        state: 'RETIRED',
        reason: 'UNCHANGED',
        generation: 1,
      });
    const after = await stack.standing(key);
    expect(after.freshness).toHaveLength(4);
    // Each refresh was proven, and none of them lengthens what was sealed.
    expect(after.served?.freshUntil).toBe(hardLimit);
    expect(await admitAt(key, hardLimit - 1)).toBe(SERVES);
    expect(await admitAt(key, hardLimit)).toBe(EXPIRED);
  });

  test('S7 D9 a source that is kept at a list of before renews nothing either', async () => {
    const first = await stack.begin(await stack.scripted());
    await stack.expectMended(first);
    const frozen = { ...first, before: await stack.standing(first.key) };
    const freshUntil = frozen.before.served?.freshUntil ?? 0;
    await first.catalog.mend(FIRST);
    for (let refresh = 0; refresh < 3; refresh++)
      await stack.expectFault(frozen, {
        reason: 'ROLLBACK',
        evidence: { accepted: { value: NEXT.revision }, proposed: { value: at(7) } },
      });
    expect(await admitAt(first.key, freshUntil)).toBe(EXPIRED);
    await stack.expectMended(frozen, listAt(9, 'a', 'b', 'c', 'd'));
  });

  test('S7 a pages-only freeze: a first page that is new and a tail that is old bind nothing, and renew nothing', async () => {
    const begun = await stack.begin(await stack.scripted());
    await begun.catalog.order({ list: NEXT });
    const tails = [1, 3, 5, 7, 9].map((visit) => ({ page: 0, visit, stamp: { revision: at(7) } }));
    await stack.expectFault(
      begun,
      {
        reason: 'REVISION_UNSTABLE',
        evidence: { rounds: 5, last: { at: 'tail', first: { value: at(8) }, now: { value: at(7) } } },
      },
      ...tails,
    );
    await stack.expectMended(begun);
  });
});
