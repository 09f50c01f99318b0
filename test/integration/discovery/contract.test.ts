/** What a complete list is worth: faults of a tool, faults of the set, and what may follow the active generation. */
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../../src/domain/generation.js';
import { parseAudienceClass, parseServerName } from '../../../src/domain/ids.js';
import { verifySnapshot } from '../../../src/proof/verifySnapshot.js';
import { selfSignedCertificate, type TestCertificate } from '../../fixtures/selfSignedCertificate.js';
import { at, type BentList, serveList, tool, tools } from './bentLists.js';
import { ownKey, type Registered, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

/** A registered server whose list the test changes. */
const bentServer = async (first: BentList, more: Registered & { readonly tls?: TestCertificate } = {}) => {
  const state = { list: first };
  const { tls, ...registered } = more;
  const server = await stack.bent({
    list: serveList(() => state.list),
    ...(tls === undefined ? {} : { tls }),
  });
  const key = ownKey();
  await stack.register(key, server.url, registered);
  return { key, state, server };
};
const artifactOf = async (key: DiscoveryKey, generation: number) => {
  const artifact = await stack.operator.readArtifact(key.tenant, key.server, key.audience, generation);
  if (artifact === null) throw new Error('no artifact');
  return verifySnapshot(artifact.bytes, artifact.digest);
};
/** A second scan is held for an operator, and what was active stays. */
const expectHeld = async (key: DiscoveryKey, reason: string, evidence: object): Promise<void> => {
  const active = await stack.store.active(key);
  const outcome = await stack.discover(key);
  expect(outcome).toMatchObject({ state: 'QUARANTINED', reason, failed: true, evidence });
  expect(await stack.attributesOf(key, outcome.runId)).toMatchObject({
    GenlockState: 'QUARANTINED',
    GenlockReason: reason,
  });
  expect(await stack.operator.readDiscovery(key.tenant, outcome.scan)).toMatchObject({
    state: 'QUARANTINED',
    reason,
    evidence,
  });
  expect(await stack.store.active(key)).toEqual(active);
};
const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };

describe('V2 V3 faults of a tool', () => {
  test.concurrent('V2 a draft-07 tool is quarantined and sealed with its mark, unless the registration lists the dialect', async () => {
    const list = { pages: [[tool('plain'), tool('old', { inputSchema: DRAFT_07 })]], revision: at(1) };
    const { key, server } = await bentServer(list);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1, tools: 2 });
    const first = await artifactOf(key, 1);
    expect(first.tools.map(({ name, verdict }) => [name, verdict.status])).toEqual([
      ['old', 'QUARANTINED'],
      ['plain', expect.not.stringContaining('QUARANTINED')],
    ]);

    // The same content under another trust configuration is a new generation.
    await stack.register(key, server.url, { contract: { dialects: ['draft-07'] } });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    const second = await artifactOf(key, 2);
    const old = second.tools.find(({ name }) => name === 'old');
    expect(old?.verdict.status).not.toBe('QUARANTINED');
    expect(old?.inputSchema?.dialect).toContain('draft-07');
    expect(second.contentRoot).toBe(first.contentRoot);
  });

  test.concurrent('V2 the findings of a quarantined tool are readable in its discovery', async () => {
    const { key } = await bentServer({
      pages: [[tool('plain'), tool('old', { inputSchema: DRAFT_07 })]],
      revision: at(1),
    });
    const { scan } = await stack.discover(key);
    const detail = await stack.operator.readDiscovery(key.tenant, scan);
    expect(detail?.toolFindings).toEqual([
      expect.objectContaining({
        name: 'old',
        status: 'QUARANTINED',
        findings: expect.arrayContaining([expect.anything()]),
      }),
    ]);
  });

  test.concurrent('ALL_TOOLS_QUARANTINED: where no tool is left, nothing is promoted', async () => {
    const { key } = await bentServer({
      pages: [[tool('a', { inputSchema: DRAFT_07 }), tool('b', { inputSchema: 7 })]],
      revision: at(1),
    });
    await expectHeld(key, 'ALL_TOOLS_QUARANTINED', { tools: 2, first: 'a' });
    expect(await stack.store.active(key)).toBeNull();
  });

  test.concurrent('TOOL_FAULT: one bad tool stops the catalog where the registration says so', async () => {
    const { key } = await bentServer(
      {
        pages: [[tool('a'), tool('b', { inputSchema: { $ref: 'https://example.invalid/schema' } })]],
        revision: at(1),
      },
      { contract: { onToolFault: 'quarantine-catalog' } },
    );
    await expectHeld(key, 'TOOL_FAULT', { tools: 2, quarantined: 1, first: 'b' });
  });

  test.concurrent('V7 tools named like members of every object are tools like others', async () => {
    const { key } = await bentServer({
      pages: [[tool('__proto__'), tool('constructor')], [tool('toString')]],
      revision: at(1),
    });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', tools: 3 });
    expect((await artifactOf(key, 1)).tools.map(({ name }) => name)).toEqual([
      '__proto__',
      'constructor',
      'toString',
    ]);
  });
});

describe('V5 hints', () => {
  test("V5 a hint that disagrees with the operator's class is sealed as a finding, and gives no class", async () => {
    const pages = [[tool('reserve', { annotations: { readOnlyHint: true } })]];
    const server = await stack.bent({ list: serveList(() => ({ pages, revision: at(1) })) });
    // The classification names this server's namespace; the audience keeps the discovery apart from other files'.
    const key = { ...ownKey(parseAudienceClass('hints.policy-1')), server: parseServerName('inventory') };
    await stack.publishPolicy();
    await stack.register(key, server.url);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', reason: 'PROMOTED' });
    const [reserve] = (await artifactOf(key, 1)).tools;
    expect(reserve).toMatchObject({
      effectClass: 'RESERVATION',
      mayHaveSideEffects: true,
      verdict: { status: 'OK', findings: [{ code: 'ANNOTATION_DISAGREES', severity: 'lint' }] },
    });
  });
});

describe('faults of the set', () => {
  test.concurrent('V1 DUPLICATE_NAME: one name with two schemas', async () => {
    const { key, state } = await bentServer({ pages: [tools(3)], revision: at(1) });
    await stack.discover(key);
    state.list = { pages: [tools(3), [tool('tool_1', { description: 'another one' })]], revision: at(2) };
    await expectHeld(key, 'DUPLICATE_NAME', { page: 1, name: 'tool_1' });
  });

  test.concurrent('SHRUNK: a list that loses more than its share is held, one that loses less is not', async () => {
    const { key, state } = await bentServer({ pages: [tools(10)], revision: at(1) });
    await stack.discover(key);
    state.list = { pages: [tools(6)], revision: at(2) };
    await expectHeld(key, 'SHRUNK', {
      active: 10,
      removed: 4,
      allowedShare: 0.3,
      examples: ['tool_6', 'tool_7', 'tool_8', 'tool_9'],
    });
    state.list = { pages: [tools(7)], revision: at(3) };
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', tools: 7 });
  });

  test.concurrent('SHRUNK: an empty list is held, too', async () => {
    const { key, state } = await bentServer({ pages: [tools(1)], revision: at(1) });
    await stack.discover(key);
    state.list = { pages: [[]], revision: at(2) };
    await expectHeld(key, 'SHRUNK', { active: 1, removed: 1 });
  });
});

describe('D9 what may follow', () => {
  test.concurrent('D9 a counter that went back is a ROLLBACK, one further on follows', async () => {
    const { key, state } = await bentServer({ pages: [tools(3)], revision: at(7) });
    await stack.discover(key);
    state.list = { pages: [tools(4)], revision: at(6) };
    await expectHeld(key, 'ROLLBACK', {
      accepted: { value: { counter: 7 } },
      proposed: { value: { counter: 6 } },
    });
    state.list = { pages: [tools(4)], revision: at(8) };
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
  });

  test.concurrent('D9 a counter that an unchanged refresh has seen cannot be taken back', async () => {
    const { key, state } = await bentServer({ pages: [tools(3)], revision: at(1) });
    await stack.discover(key);
    state.list = { pages: [tools(3)], revision: at(5) };
    expect(await stack.discover(key)).toMatchObject({ reason: 'UNCHANGED' });
    state.list = { pages: [tools(4)], revision: at(3) };
    await expectHeld(key, 'ROLLBACK', { accepted: { value: { counter: 5 } } });
  });

  test.concurrent('D9 the same revision with other content is an EQUIVOCATION, for counters and for tokens', async () => {
    for (const stamp of [{ revision: at(7) }, { token: 'snapshot-1' }]) {
      const { key, state } = await bentServer({ pages: [tools(3)], ...stamp });
      expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
      state.list = { pages: [tools(3, 'other')], ...stamp };
      await expectHeld(key, 'EQUIVOCATION', {});
    }
  });

  test.concurrent('D9 S6 another credential of the audience may see another list at the same revision', async () => {
    const { key, state, server } = await bentServer({ pages: [tools(3)], revision: at(7) });
    await stack.discover(key);
    stack.secrets.set('GENLOCK_CREDENTIAL_ACME_OTHER', 'another-token');
    const reference = { kind: 'reference', reference: 'env:GENLOCK_CREDENTIAL_ACME_OTHER' } as const;
    await stack.register(key, server.url, { audiences: { [key.audience]: reference } });
    state.list = { pages: [tools(4)], revision: at(7) };
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 2, tools: 4 });
    state.list = { pages: [tools(5)], revision: at(7) };
    await expectHeld(key, 'EQUIVOCATION', {});
  });

  test.concurrent('D9 another incarnation and an absurd jump are held', async () => {
    const { key, state } = await bentServer({ pages: [tools(3)], revision: at(7) });
    await stack.discover(key);
    state.list = { pages: [tools(4)], revision: at(8, 'restored') };
    await expectHeld(key, 'NEW_INCARNATION', {});
    state.list = { pages: [tools(4)], revision: 8 };
    await expectHeld(key, 'NEW_INCARNATION', { proposed: { value: { incarnation: '', counter: 8 } } });
    state.list = { pages: [tools(4)], revision: at(Number.MAX_SAFE_INTEGER) };
    await expectHeld(key, 'FAST_FORWARD', {});
  });
});

describe('D8 identity', () => {
  const moveTo = async (key: DiscoveryKey, list: BentList, more: Registered, tls: TestCertificate) => {
    const server = await stack.bent({ list: serveList(() => list), tls });
    await stack.register(key, server.url, more);
    return server;
  };

  test.concurrent('D8 another endpoint is held until its identity is announced; then the old pointer closes with the new one', async () => {
    const certificate = selfSignedCertificate();
    const trust = { tlsCaPem: certificate.cert };
    const { key } = await bentServer({ pages: [tools(3)], revision: at(7) }, { tls: certificate, trust });
    await stack.discover(key);
    const before = await stack.store.active(key);

    const list = { pages: [tools(3)], revision: at(1, 'elsewhere') };
    const moved = await moveTo(key, list, { trust }, certificate);
    const held = await stack.discover(key);
    expect(held).toMatchObject({
      state: 'QUARANTINED',
      reason: 'IDENTITY_CHANGED',
      evidence: { accepted: before?.identity },
    });
    const announced = (held.evidence as { proposed: NonNullable<typeof before>['identity'] }).proposed;
    await stack.register(key, moved.url, { trust: { ...trust, acceptedIdentities: [announced] } });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    const { rows } = await stack.admin.query(
      'select identity, generation, closed_at is null as open from genlock.active_pointer where server = $1 order by generation',
      [key.server],
    );
    expect(rows).toEqual([
      { identity: before?.identity, generation: 1, open: false },
      { identity: announced, generation: 2, open: true },
    ]);
  });

  test.concurrent('D8 a new certificate key at the same endpoint is held, and follows where the trust configuration pins it', async () => {
    const [old, next] = [selfSignedCertificate('old'), selfSignedCertificate('next')];
    const trust = { tlsCaPem: `${old.cert}${next.cert}` };
    const state = { list: { pages: [tools(3)], revision: at(7) } };
    const first = await stack.bent({ list: serveList(() => state.list), tls: old });
    const key = ownKey();
    await stack.register(key, first.url, { trust });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE' });
    await first.close();

    const rotated = await stack.bent({ list: serveList(() => state.list), tls: next, port: first.port });
    expect(rotated.url).toBe(first.url);
    const held = await stack.discover(key);
    expect(held).toMatchObject({ state: 'QUARANTINED', reason: 'IDENTITY_CHANGED' });
    const detail = await stack.operator.readDiscovery(key.tenant, held.scan);
    const spki = detail?.sourceEvidence?.['spki'] as never;
    await stack.register(key, rotated.url, { trust: { ...trust, spkiPins: [spki] } });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
  });
});
