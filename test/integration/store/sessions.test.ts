/** The session of a scan in the store: kept under the claim, for no longer than pages are missing, and for workers alone (D6). */
import { describe, expect, test } from 'vitest';
import { parseAudienceClass } from '../../../src/domain/ids.js';
import { ACME, claimed, claimOf, digest, GLOBEX, keyOf, useStore } from './storeFixture.js';

const fixture = useStore();
const key = keyOf();
const begun = async (more: Parameters<typeof claimOf>[1] = {}, of = key) => {
  const claim = claimOf(of, more);
  await claimed(fixture, claim);
  return { claim, first: { scan: claim.id, segment: 0, attempt: 1 } };
};
const session = (scan: string) => fixture.store.readSession(ACME, scan);

describe('D6 the session of a scan', () => {
  test('D6 is kept by who holds the claim, and replaced by who takes the scan over', async () => {
    const { claim, first } = await begun();
    expect(await session(claim.id)).toBeNull();
    expect(await fixture.store.keepSession(ACME, first, 'one')).toBe(true);
    await claimed(fixture, { ...claim, attempt: 2 });
    expect(await fixture.store.keepSession(ACME, first, 'of a worker that was frozen')).toBe(false);
    expect(await session(claim.id)).toBe('one');
    expect(await fixture.store.keepSession(ACME, { ...first, attempt: 2 }, 'two')).toBe(true);
    expect(await session(claim.id)).toBe('two');
    expect(await fixture.store.keepSession(GLOBEX, { ...first, attempt: 2 }, 'of another tenant')).toBe(
      false,
    );
    expect(await fixture.store.readSession(GLOBEX, claim.id)).toBeNull();
  });

  test('D6 is gone with the last page, and none is kept after it', async () => {
    const { claim, first } = await begun();
    await fixture.store.keepSession(ACME, first, 'sealed');
    const list = { contentRoot: digest('list'), tools: 1 };
    expect(await fixture.store.completeScan(ACME, first, list)).toBe(true);
    expect(await session(claim.id)).toBeNull();
    expect(await fixture.store.keepSession(ACME, first, 'late')).toBe(false);
  });

  test('D6 is gone with the end of the scan, and none is kept after it', async () => {
    const { claim, first } = await begun();
    await fixture.store.keepSession(ACME, first, 'sealed');
    await fixture.store.endScan(ACME, claim.id, { state: 'INCOMPLETE', reason: 'CANCELLED', evidence: {} });
    expect(await session(claim.id)).toBeNull();
    expect(await fixture.store.keepSession(ACME, first, 'late')).toBe(false);
  });

  test('D6 of a scan that was broken off is gone with the next scan of that list, and of no other', async () => {
    const { claim, first } = await begun();
    await fixture.store.keepSession(ACME, first, 'sealed');
    await begun({}, keyOf(ACME, parseAudienceClass('viewers')));
    await begun({}, keyOf(GLOBEX));
    expect(await session(claim.id)).toBe('sealed');
    await begun();
    expect(await session(claim.id)).toBeNull();
  });

  test('D6 is read by the worker alone, and written by nobody but through its claim', async () => {
    const tried = async (pool: typeof fixture.worker, text: string): Promise<string> => {
      const client = await pool.connect();
      try {
        await client.query("begin; select set_config('genlock.tenant', 'acme', true)");
        return await client.query(text).then(
          () => 'done',
          (error: { code: string }) => error.code,
        );
      } finally {
        await client.query('rollback');
        client.release();
      }
    };
    const select = 'select * from genlock.scan_session';
    expect(await tried(fixture.operatorPool, select)).toBe('42501');
    expect(await tried(fixture.api, select)).toBe('42501');
    expect(await tried(fixture.worker, select)).toBe('done');
    for (const write of [
      "insert into genlock.scan_session values ('acme', 'x', 'y')",
      "update genlock.scan_session set sealed = 'y'",
      'delete from genlock.scan_session',
    ])
      expect([write, await tried(fixture.worker, write)]).toEqual([write, '42501']);
  });
});
