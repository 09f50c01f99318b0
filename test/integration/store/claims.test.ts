/** The fence of pages: (segment, attempt) orders all claims of a scan, and only its newest holder adds to it (D6). */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { epochMs } from '../../../src/domain/ids.js';
import { DEFAULT_TRUST } from '../../../src/domain/server.js';
import { EDGES, hasEdge } from '../../../src/domain/transitions.js';
import {
  ACME,
  claimed,
  claimOf,
  digest,
  keyOf,
  pageOf,
  provenScan,
  RAW,
  receipt,
  registration,
  useStore,
} from './storeFixture.js';

const fixture = useStore();
const key = keyOf();
const at = (scan: string, segment: number, attempt: number) => ({ scan, segment, attempt });

describe('D6 claims', () => {
  test('D6 a newer attempt or segment takes a scan over, an older or equal one gets nothing', async () => {
    const claim = claimOf(key);
    await claimed(fixture, claim);
    expect(await fixture.store.claimScan(claim)).toBeNull();
    expect(await fixture.store.claimScan({ ...claim, attempt: 3, worker: 'w3' })).toMatchObject({
      id: claim.id,
    });
    expect(await fixture.store.claimScan({ ...claim, attempt: 2 })).toBeNull();
    expect(await fixture.store.claimScan({ ...claim, segment: 1, attempt: 1 })).toMatchObject({
      id: claim.id,
    });
    expect(await fixture.store.claimScan({ ...claim, attempt: 99 })).toBeNull();
  });

  test('D6 an attempt that was taken over adds no page', async () => {
    const claim = claimOf(key);
    await claimed(fixture, claim);
    expect(await fixture.store.storePage(ACME, at(claim.id, 0, 1), pageOf(0, ['a']), RAW)).toBe(true);
    await claimed(fixture, { ...claim, attempt: 2, worker: 'w2' });
    expect(await fixture.store.storePage(ACME, at(claim.id, 0, 1), pageOf(1, ['b']), RAW)).toBe(false);
    expect(
      await fixture.store.storePage(ACME, at(claim.id, 0, 2), pageOf(1, ['b'], { worker: 'w2' }), RAW),
    ).toBe(true);
    const pages = await fixture.store.pages(ACME, claim.id);
    expect(pages.map(({ n, worker }) => [n, worker])).toEqual([
      [0, 'w1'],
      [1, 'w2'],
    ]);
  });

  test('D6 a scan that has ended takes neither pages nor claims, and keeps its first end', async () => {
    const claim = claimOf(key);
    await claimed(fixture, claim);
    await fixture.store.endScan(ACME, claim.id, { state: 'INCOMPLETE', reason: 'CANCELLED', evidence: {} });
    await fixture.store.endScan(ACME, claim.id, { state: 'INCOMPLETE', reason: 'UNREACHABLE', evidence: {} });
    expect(await fixture.store.storePage(ACME, at(claim.id, 0, 1), pageOf(0, ['a']), RAW)).toBe(false);
    expect(await fixture.store.claimScan({ ...claim, attempt: 2 })).toBeNull();
    expect(await fixture.operator.readDiscovery(ACME, claim.id)).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'CANCELLED',
      pages: 0,
    });
  });

  test('D6 a page that is stored during an open takeover waits for it, and is not there', async () => {
    const claim = claimOf(key);
    await claimed(fixture, claim);
    const taker = await fixture.worker.connect();
    let settled = false;
    try {
      await taker.query('begin');
      const next = { ...claim, server: key.server, audience: key.audience, attempt: 2 };
      const facts = { workflow_id: claim.workflowId, run_id: claim.runId, ...next };
      expect((await taker.query('select id from claim_scan($1, $2)', [ACME, facts])).rowCount).toBe(1);
      const stored = fixture.store.storePage(ACME, at(claim.id, 0, 1), pageOf(0, ['a']), RAW).finally(() => {
        settled = true;
      });
      const waits =
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%store_page(%'";
      while (!settled && (await fixture.admin.query(waits)).rowCount === 0);
      await taker.query('commit');
      expect(await stored).toBe(false);
      expect(await fixture.store.pages(ACME, claim.id)).toEqual([]);
    } finally {
      taker.release();
    }
  });

  test('P1 a scan remembers the policy epoch and trust under which it began, also when it is taken over', async () => {
    const claim = claimOf(key);
    const first = await claimed(fixture, claim);
    const bundle = { text: '{}', digest: digest('{}') };
    expect(await fixture.operator.publishPolicy(ACME, first.policyEpoch, bundle, 'me', receipt())).toBe(
      first.policyEpoch + 1,
    );
    expect(
      await fixture.operator.registerServer(
        ACME,
        registration({ trust: { ...DEFAULT_TRUST, allowPrivateAddresses: true } }),
        receipt(),
      ),
    ).toEqual({ outcome: 'changed', trustVersion: 2 });
    const again = await claimed(fixture, { ...claim, attempt: 2 });
    expect([again.policyEpoch, again.trustVersion, again.startedAt]).toEqual([
      first.policyEpoch,
      first.trustVersion,
      first.startedAt,
    ]);
  });

  test('D6 a page comes back as it was stored: cursors, null or absent, and bytes', async () => {
    const claim = claimOf(key);
    await claimed(fixture, claim);
    const pages = [
      pageOf(0, ['a'], { nextCursor: '' }),
      pageOf(1, [], { requestCursor: '', nextCursor: 'x', revision: null }),
      pageOf(2, ['__proto__'], {
        requestCursor: 'x',
        nullCursor: true,
        revision: { binding: 'SNAPSHOT_TOKEN', value: { token: 't' } },
      }),
    ];
    for (const page of pages) await fixture.store.storePage(ACME, at(claim.id, 0, 1), page, RAW);
    expect(await fixture.store.pages(ACME, claim.id)).toEqual(pages);
    expect(Buffer.from(await fixture.store.pageBytes(ACME, claim.id, 1)).toString()).toBe('page');
  });

  test('S6 an audience that the server does not have, or a server that is not there, is never scanned', async () => {
    expect(await fixture.store.claimScan(claimOf({ ...key, audience: 'strangers' as never }))).toBeNull();
    expect(await fixture.store.claimScan(claimOf({ ...key, server: 'nowhere' as never }))).toBeNull();
  });
});

describe('D5 states in the store', () => {
  test('D5 the edges of the store are those of the pure table, and no others', async () => {
    const states = Object.keys(EDGES) as (keyof typeof EDGES)[];
    for (const from of states) {
      for (const to of states) {
        const { rows } = await fixture.admin.query('select genlock.has_edge($1, $2) as edge', [from, to]);
        expect({ from, to, edge: rows[0]?.edge }).toEqual({ from, to, edge: hasEdge(from, to) });
      }
    }
  });

  test('D6 an attempt that lost its claim moves nothing of the scan', async () => {
    const claim = claimOf(key, { id: `${randomUUID()}/0` });
    await claimed(fixture, claim);
    await claimed(fixture, { ...claim, attempt: 2 });
    const list = { contentRoot: digest('content'), tools: 1 };
    expect(await fixture.store.completeScan(ACME, at(claim.id, 0, 1), list)).toBe(false);
    const source = {
      protocol: 'mcp-2025-11-25',
      identity: digest('other'),
      evidence: {},
      revision: null,
      credentialFingerprint: null,
      credentialExpires: null,
    } as const;
    expect(await fixture.store.noteSource(ACME, at(claim.id, 0, 1), source)).toBe(false);
    expect(await fixture.store.readScan(ACME, claim.id)).toMatchObject({ identity: null, contentRoot: null });
  });

  test('D5 a proven scan is not taken back, and its tail time only goes on', async () => {
    const { id } = await provenScan(fixture, key);
    const before = await fixture.store.readScan(ACME, id);
    const proof = { pageRoot: digest('page root'), tailAt: epochMs(0) };
    expect(await fixture.store.proveScan(ACME, id, proof)).toBe(true);
    expect(await fixture.store.proveScan(ACME, id, { ...proof, pageRoot: digest('another') })).toBe(false);
    expect(await fixture.store.readScan(ACME, id)).toEqual(before);
  });
});

describe('text that a source chose', () => {
  test('V7 U+0000 and half a surrogate pair in evidence are stored, written out', async () => {
    const claim = claimOf(key, { id: `${randomUUID()}/0` });
    await claimed(fixture, claim);
    const evidence = { 'key\u0000': 'a\u0000b', half: '\ud800!', whole: '😀', deep: [{ x: '\udc00' }] };
    await fixture.store.noteSource(
      ACME,
      { scan: claim.id, segment: claim.segment, attempt: claim.attempt },
      {
        protocol: 'mcp-2025-11-25',
        identity: pageOf(0, []).identity,
        evidence: { serverInfo: { name: '\u0000\ud83d' } },
        revision: null,
        credentialFingerprint: null,
        credentialExpires: null,
      },
    );
    await fixture.store.endScan(ACME, claim.id, { state: 'INCOMPLETE', reason: 'NOT_MCP', evidence });
    expect(await fixture.operator.readDiscovery(ACME, claim.id)).toMatchObject({
      evidence: { 'key\\u{0}': 'a\\u{0}b', half: '\\u{d800}!', whole: '😀', deep: [{ x: '\\u{dc00}' }] },
      sourceEvidence: { serverInfo: { name: '\\u{0}\\u{d83d}' } },
    });
  });
});
