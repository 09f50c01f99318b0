/** The operator's other routes: discoveries, policies, revocations; each act with its receipt. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.js';
import { digestJson } from '../../../src/proof/digest.js';
import { AUDIENCE } from './apiFixture.js';
import { bundle } from './examplePolicy.js';
import { actOf, api, operator, refusal, registration, useOperator } from './operatorFixture.js';
import { endScan, promoteTools, tool } from './promoteTools.js';

useOperator();

describe('discoveries', () => {
  test('D5 one that ended tells its reason, what that means, what to do, and its evidence', async () => {
    await operator.client.registerServer(registration('broken'));
    const id = await endScan(api.scans, {
      tenant: api.tenant,
      server: 'broken',
      state: 'INCOMPLETE',
      reason: 'DUPLICATE_KEY',
      evidence: { page: 3, pointer: '/result/tools/4', offset: 812 },
    });
    const detail = await operator.client.discovery(id);
    expect(detail).toMatchObject({
      id,
      state: 'INCOMPLETE',
      reason: 'DUPLICATE_KEY',
      meaning: expect.stringContaining('same key twice'),
      next: expect.stringContaining('mend'),
      evidence: { page: 3, pointer: '/result/tools/4', offset: 812 },
      pageChain: [],
      ui: expect.stringContaining('/workflows/discovery'),
    });
    const listed = await operator.client.discoveries({ server: 'broken' });
    expect(listed.map((one) => [one.id, one.reason, one.next])).toEqual([[id, 'DUPLICATE_KEY', detail.next]]);
    expect((await operator.client.discoveries({ server: 'nowhere' })).length).toBe(0);
  });

  test('D4 the tools of an unversioned one are shown to operators, in list order over its pages, and to nobody else', async () => {
    await operator.client.registerServer(registration('loose'));
    const [first, second, third] = [tool('zulu'), tool('alpha'), tool('mike')];
    const id = await endScan(api.scans, {
      tenant: api.tenant,
      server: 'loose',
      state: 'UNVERSIONED_OBSERVATION',
      reason: 'NO_REVISION',
      pages: [[first, second], [third]],
    });
    const shown = (one: JsonObject, position: number) => ({
      position,
      name: one['name'],
      descriptor: digestJson(one),
      verdict: null,
      codes: [],
    });
    expect(await operator.client.discoveredTools(id)).toEqual({
      tools: [shown(first, 0), shown(second, 1), shown(third, 2)],
      next: null,
    });
    const slice = await operator.client.discoveredTools(id, { limit: 2 });
    expect(slice).toEqual({ tools: [shown(first, 0), shown(second, 1)], next: 1 });
    expect(await operator.client.discoveredTools(id, { after: 1, limit: 1 })).toEqual({
      tools: [shown(third, 2)],
      next: null,
    });
    expect(await refusal(operator.client.discoveredTools('never/0'))).toMatchObject({
      reason: 'NO_SUCH_DISCOVERY',
    });
    const stranger = await api.person('gwen', ['genlock-operator'], { tenant: api.otherTenant });
    expect(await refusal(stranger.client.discoveredTools(id))).toMatchObject({ reason: 'NO_SUCH_DISCOVERY' });
  });

  test('the tools of one that was judged show their verdicts', async () => {
    await operator.client.registerServer(registration('judged'));
    const broken = tool('broken', { inputSchema: { type: 'string' } });
    const { scan } = await promoteTools(api.scans, {
      tenant: api.tenant,
      server: 'judged',
      tools: [tool('good'), broken],
    });
    const { tools } = await operator.client.discoveredTools(scan);
    expect(tools.map(({ name, verdict, codes }) => [name, verdict, codes])).toEqual([
      ['good', 'OK', []],
      ['broken', 'QUARANTINED', ['ROOT_NOT_OBJECT']],
    ]);
    expect((await operator.client.discovery(scan)).catalogFindings).toEqual([]);
  });

  test('one is started for each audience, or for the one that is named', async () => {
    await operator.client.registerServer(registration('pair', { audiences: { a: 'none', b: 'none' } }));
    const all = await operator.client.startDiscovery('pair');
    expect(all.map(({ audience, failed }) => [audience, failed])).toEqual([
      ['a', null],
      ['b', null],
    ]);
    expect((await operator.client.startDiscovery('pair', 'b')).map(({ audience }) => audience)).toEqual([
      'b',
    ]);
    expect(await refusal(operator.client.startDiscovery('pair', 'c'))).toMatchObject({
      code: 'BAD_REQUEST',
      details: { audiences: ['a', 'b'] },
    });
    expect(await refusal(operator.client.startDiscovery('never'))).toMatchObject({
      reason: 'NO_SUCH_SERVER',
    });
    expect(await refusal(operator.client.cancelDiscovery('never/0'))).toMatchObject({
      reason: 'NO_SUCH_DISCOVERY',
    });
  });
});

describe('policies', () => {
  test('P1 an epoch is published once; who saw an older one in force is told so', async () => {
    const alone = await api.person('petra', ['genlock-operator'], { tenant: api.otherTenant });
    expect(await refusal(alone.client.policy())).toMatchObject({
      code: 'POLICY_DENIED',
      reason: 'NO_POLICY',
    });
    const first = await alone.client.publishPolicy(bundle(), 0);
    expect(first).toMatchObject({ epoch: 1, rebinding: [] });
    expect(await refusal(alone.client.publishPolicy(bundle(), 0))).toMatchObject({
      code: 'CONFLICT',
      reason: 'EPOCH_EXISTS',
      details: { expectedEpoch: 0, currentEpoch: 1 },
    });
    const { epoch, digest } = await alone.client.policy();
    expect({ epoch, digest }).toEqual({ epoch: 1, digest: first.digest });
  });

  test('P1 publishing starts a discovery for every audience of every server', async () => {
    await operator.client.registerServer(registration('nowhere'));
    const audiences = { [AUDIENCE]: 'none', 'viewer.policy-1': 'none' };
    await operator.client.registerServer(registration('twofold', { audiences }));
    const { rebinding, receipt, epoch } = await operator.client.publishPolicy(bundle());
    expect(rebinding).toContainEqual(
      expect.objectContaining({ server: 'nowhere', audience: AUDIENCE, failed: null }),
    );
    expect(rebinding.filter(({ server }) => server === 'twofold')).toHaveLength(2);
    expect(await actOf(receipt)).toMatchObject({ act: 'PUBLISH_POLICY', policyEpoch: epoch });
  });

  test('a bundle with errors names every one of them and publishes nothing', async () => {
    const before = await operator.client.policy();
    const wrong = { ...bundle(['inventory.ghost@1']), colour: 'red' };
    expect(await refusal(operator.client.publishPolicy(wrong))).toMatchObject({
      code: 'BAD_REQUEST',
      reason: 'INVALID_BUNDLE',
      details: { errors: [expect.objectContaining({ pointer: expect.any(String) })] },
    });
    expect((await operator.client.policy()).epoch).toBe(before.epoch);
  });
});

describe('revocations', () => {
  test('each leaves a receipt, is listed, and is lifted once', async () => {
    await operator.client.registerServer(registration('store'));
    const revocation = await operator.client.revoke({
      kind: 'tool-name',
      server: 'store',
      target: 'sell',
      reason: 'recall 7',
    });
    expect(await actOf(revocation.receipt)).toMatchObject({
      act: 'REVOKE',
      target: revocation.id,
      server: 'store',
    });
    expect((await operator.client.revocations())[0]).toMatchObject({
      id: revocation.id,
      by: 'olga',
      liftedAt: null,
    });
    const lifted = await operator.client.liftRevocation(revocation.id);
    expect(await actOf(lifted.receipt)).toMatchObject({ act: 'LIFT_REVOCATION', target: revocation.id });
    expect((await operator.client.revocations())[0]?.liftedAt).toMatch(/Z$/);
    expect(await refusal(operator.client.liftRevocation(revocation.id))).toMatchObject({
      reason: 'ALREADY_LIFTED',
    });
  });

  test.each([
    [{ kind: 'server', server: 'never' }, 'NOT_FOUND/NO_SUCH_SERVER'],
    [{ kind: 'tool-id', server: 'store', target: 'not an id' }, 'BAD_REQUEST/INVALID_NAME'],
    [{ kind: 'tool-id', server: 'store', target: 'sell' }, 'BAD_REQUEST/INVALID_NAME'],
    [{ kind: 'tool-id', server: 'store', target: 'shop.sell@1' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'tool-id', server: 'never', target: 'never.sell@1' }, 'NOT_FOUND/NO_SUCH_SERVER'],
    [{ kind: 'tool-name', server: 'never', target: 'sell' }, 'NOT_FOUND/NO_SUCH_SERVER'],
    [{ kind: 'tool-name', server: 'store', target: 'store.sell@1' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'tool-name', target: 'sell' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'tool-name', server: 'store' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'subject', server: 'store', target: 'alice' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'server', server: 'store', target: 'shop' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'lease' as 'subject', target: 'j-1' }, 'BAD_REQUEST/INVALID_BODY'],
  ] as const)('%j is refused with %s', async (request, expected) => {
    const { code, reason } = await refusal(operator.client.revoke({ ...request, reason: 'a test' }));
    expect(`${code}/${reason}`).toBe(expected);
  });
});

describe('L3 a revocation tells how many active tools it matches', () => {
  beforeAll(async () => {
    await operator.client.registerServer(
      registration('counted', { audiences: { [AUDIENCE]: 'none', more: 'none', empty: 'none' } }),
    );
    const of = { tenant: api.tenant, server: 'counted' };
    await promoteTools(api.scans, { ...of, tools: [tool('sell'), tool('buy')] });
    await promoteTools(api.scans, { ...of, audience: 'more', tools: [tool('sell')] });
  });

  test.each([
    [{ kind: 'tool-name', server: 'counted', target: 'sell' }, 2],
    [{ kind: 'tool-name', server: 'counted', target: 'buy' }, 1],
    [{ kind: 'tool-name', server: 'counted', target: 'sel' }, 0],
    [{ kind: 'tool-id', server: 'counted', target: 'counted.buy@1' }, 1],
    [{ kind: 'tool-id', server: 'counted', target: 'counted.buy@2' }, 0],
    [{ kind: 'server', server: 'counted' }, 3],
    [{ kind: 'subject', target: 'nobody' }, null],
  ] as const)('%j matches %j', async (request, matches) => {
    expect(await operator.client.revoke({ ...request, reason: 'a test' })).toMatchObject({ matches });
  });
});

test('every operator route refuses a caller without the role', async () => {
  const { client } = await api.person('alice', ['stock-manager']);
  const asked: (() => Promise<unknown>)[] = [
    () => client.registerServer(registration('mine')),
    () => client.servers(),
    () => client.server('nowhere'),
    () => client.closeServer('nowhere', 'x'),
    () => client.openServer('nowhere'),
    () => client.startDiscovery('nowhere'),
    () => client.discoveries(),
    () => client.discovery('x'),
    () => client.discoveredTools('x'),
    () => client.cancelDiscovery('x'),
    () => client.publishPolicy(bundle()),
    () => client.policy(),
    () => client.revoke({ kind: 'subject', target: 'olga', reason: 'x' }),
    () => client.revocations(),
    () => client.liftRevocation('x'),
  ];
  for (const ask of asked)
    expect(await refusal(ask())).toMatchObject({
      status: 403,
      code: 'POLICY_DENIED',
      reason: 'ROLE_MISSING',
    });
});
