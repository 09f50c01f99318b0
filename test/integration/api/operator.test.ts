/** The operator's routes: servers, discoveries, policies, revocations; each act with its receipt. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GenlockProblem, type ServerRegistration } from '../../../src/client/client.js';
import type { JsonObject } from '../../../src/domain/json.js';
import type { OperatorReceipt } from '../../../src/domain/receipt.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { digestJson } from '../../../src/proof/digest.js';
import { type ApiFixture, AUDIENCE, type Person, startApi } from './apiFixture.js';
import { bundle } from './examplePolicy.js';
import { endScan, promoteTools, tool } from './promoteTools.js';

let api: ApiFixture;
let operator: Person;
/** How the variables of the fixture's tenant begin. */
let own: string;

beforeAll(async () => {
  api = await startApi();
  operator = await api.person('olga', ['genlock-operator']);
  own = `GENLOCK_CREDENTIAL_${api.tenant.toUpperCase().replace('-', '__')}_`;
});
afterAll(() => api.stop());

const registration = (name: string, more: Partial<ServerRegistration> = {}): ServerRegistration => ({
  name,
  namespace: name,
  source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
  audiences: { [AUDIENCE]: 'none' },
  refreshSeconds: 0,
  ...more,
});
const refusal = async (promise: Promise<unknown>): Promise<GenlockProblem> => {
  const error = await promise.then(
    () => new Error('was answered'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof GenlockProblem)) throw error;
  return error;
};
const actOf = async (id: string | null): Promise<OperatorReceipt> => {
  const { jws } = await operator.client.receipt(id ?? '');
  return (await verifyReceipt(jws, api.keys.publicJwks())).body as OperatorReceipt;
};

describe('registering', () => {
  test('an unreachable server registers, its discovery is started, and a receipt tells who did it', async () => {
    const done = await operator.client.registerServer(registration('nowhere'));
    expect(done).toMatchObject({
      outcome: 'registered',
      server: {
        name: 'nowhere',
        audiences: { [AUDIENCE]: 'none' },
        limits: { pages: 1_000, tools: 20_000, pageBytes: 16_777_216, scanBytes: 268_435_456 },
        trustVersion: 1,
        closedReason: null,
      },
      discoveries: [{ server: 'nowhere', audience: AUDIENCE, failed: null }],
    });
    expect(done.discoveries[0]?.workflowId).toBe(`discovery:${api.tenant}:nowhere:${AUDIENCE}`);
    expect(done.discoveries[0]?.ui).toContain('http://127.0.0.1:8233/namespaces/');
    expect(await actOf(done.receipt)).toMatchObject({
      act: 'REGISTER_SERVER',
      subject: 'olga',
      server: 'nowhere',
      target: 'nowhere',
      record: expect.stringMatching(/^sha256:/),
    });
  });

  test('the same again changes nothing; other settings raise the trust version', async () => {
    await operator.client.registerServer(registration('twice', { limits: { pages: 7 } }));
    const same = await operator.client.registerServer(registration('twice', { limits: { pages: 7 } }));
    expect(same).toMatchObject({ outcome: 'unchanged', receipt: null, server: { trustVersion: 1 } });
    const other = await operator.client.registerServer(
      registration('twice', { trust: { allowPrivateAddresses: true } }),
    );
    expect(other).toMatchObject({
      outcome: 'changed',
      server: { trustVersion: 2, limits: { pages: 1_000 }, trust: { allowPrivateAddresses: true } },
    });
    expect(await operator.client.server('twice')).toEqual(other.server);
  });

  test('R1 the receipt tells a change of trust from a change of settings', async () => {
    const register = async (more: Partial<ServerRegistration>) => {
      const { receipt, server } = await operator.client.registerServer(registration('told', more));
      return [(await actOf(receipt)).act, server.trustVersion];
    };
    expect(await register({})).toEqual(['REGISTER_SERVER', 1]);
    expect(await register({ limits: { pages: 7 } })).toEqual(['CHANGE_SETTINGS', 1]);
    expect(await register({ refreshSeconds: 60, freshness: { maxAge: 60_000 } })).toEqual([
      'CHANGE_SETTINGS',
      1,
    ]);
    expect(await register({ trust: { allowPrivateAddresses: true } })).toEqual(['CHANGE_TRUST', 2]);
    expect(await register({ contract: { shrinkShare: 0.9 } })).toEqual(['CHANGE_TRUST', 3]);
    expect(await register({ audiences: { [AUDIENCE]: 'none', more: 'none' } })).toEqual(['CHANGE_TRUST', 4]);
  });

  test('R1 two changes at a time: the receipt of the second never speaks of a trust that has moved', async () => {
    await operator.client.registerServer(registration('raced'));
    const answers = await Promise.allSettled(
      [0.1, 0.2, 0.3, 0.4].map((shrinkShare) =>
        operator.client.registerServer(registration('raced', { contract: { shrinkShare } })),
      ),
    );
    const versions = answers.flatMap((one) =>
      one.status === 'fulfilled' ? [one.value.server.trustVersion] : [],
    );
    const lost = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(versions.toSorted()).toEqual(versions.map((_, index) => index + 2));
    for (const problem of lost)
      expect(problem).toMatchObject({ code: 'CONFLICT', reason: 'CHANGED_MEANWHILE' });
  });

  test('S6 a credential is a reference; a value is refused and repeated nowhere', async () => {
    const secret = 'sk-live-4242424242424242';
    const source = (more: object) => ({ kind: 'mcp-stdio', command: 'node', ...more }) as never;
    const wrong: Partial<ServerRegistration>[] = [
      { audiences: { [AUDIENCE]: secret } },
      { audiences: { [AUDIENCE]: `Bearer ${secret}` } },
      { source: { kind: 'mcp-http', url: `http://user:${secret}@127.0.0.1/mcp` } },
      { source: { kind: 'mcp-http', url: `http://127.0.0.1/mcp?api_key=${secret}` } },
      { source: source({ env: { API_TOKEN: secret } }) },
      { source: source({ args: [`--api-key=${secret}`] }) },
    ];
    for (const more of wrong) {
      const problem = await refusal(operator.client.registerServer(registration('secretive', more)));
      expect([problem.code, problem.reason]).toEqual(['BAD_REQUEST', 'CREDENTIAL_VALUE']);
      expect(JSON.stringify(problem)).not.toContain(secret);
    }
    expect(JSON.stringify(api.log)).not.toContain(secret);
    const held = await operator.client.registerServer(
      registration('careful', {
        audiences: { [AUDIENCE]: `env:${own}TOKEN` },
        source: source({ env: { API_TOKEN: 'file:careful/token', LEVEL: 'debug' } }),
      }),
    );
    expect(held.server.audiences).toEqual({ [AUDIENCE]: `env:${own}TOKEN` });
  });

  test('S6 a reference to what the administrator did not make for this tenant is refused', async () => {
    const stdio = (env: object) => ({ kind: 'mcp-stdio', command: 'node', args: [], env }) as never;
    const outside: Partial<ServerRegistration>[] = [
      ...['env:GENLOCK_WORKER_DATABASE_URL', 'env:GENLOCK_CREDENTIAL_OTHER_TOKEN', 'file:/etc/hostname'].map(
        (reference) => ({ audiences: { [AUDIENCE]: reference } }),
      ),
      { audiences: { [AUDIENCE]: 'file:../other/token' } },
      { source: stdio({ API_TOKEN: 'env:GENLOCK_WORKER_DATABASE_URL' }) },
      { source: stdio({ LEVEL: 'file:/etc/hostname' }) },
    ];
    for (const more of outside) {
      const problem = await refusal(operator.client.registerServer(registration('curious', more)));
      expect([problem.code, problem.reason]).toEqual(['BAD_REQUEST', 'CREDENTIAL_SPACE']);
      expect(JSON.stringify(problem.details)).toContain(own);
    }
    expect(await refusal(operator.client.server('curious'))).toMatchObject({ reason: 'NO_SUCH_SERVER' });
  });

  test.each<[string, Partial<ServerRegistration> | { readonly [member: string]: unknown }, string, string]>([
    ['a dot in the namespace', { namespace: 'a.b' }, 'BAD_REQUEST', 'INVALID_NAME'],
    ['no audience', { audiences: {} }, 'BAD_REQUEST', 'INVALID_BODY'],
    [
      'a token for an audience',
      { audiences: { [`a${'b'.repeat(50)}`]: 'none' } },
      'BAD_REQUEST',
      'INVALID_NAME',
    ],
    ['an unknown member', { colour: 'red' }, 'BAD_REQUEST', 'INVALID_BODY'],
    ['a limit of nothing', { limits: { pages: 0 } }, 'BAD_REQUEST', 'INVALID_BODY'],
    [
      'another scheme',
      { source: { kind: 'mcp-http', url: 'file:///etc/passwd' } },
      'BAD_REQUEST',
      'INVALID_BODY',
    ],
    ['a namespace that is taken', { namespace: 'nowhere' }, 'CONFLICT', 'NAMESPACE_TAKEN'],
    [
      '21 audiences',
      { audiences: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a${n}`, 'none'])) },
      'BAD_REQUEST',
      'INVALID_BODY',
    ],
    [
      '101 variables',
      {
        source: {
          kind: 'mcp-stdio',
          command: 'node',
          env: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`A${n}`, '1'])),
        },
      },
      'BAD_REQUEST',
      'INVALID_BODY',
    ],
    [
      'a pin of any length',
      { trust: { spkiPins: [`sha256:${'0'.repeat(200)}`] } },
      'BAD_REQUEST',
      'INVALID_BODY',
    ],
  ])('%s is refused', async (_, more, code, reason) => {
    const body = { ...registration('wrong'), ...more } as ServerRegistration;
    expect(await refusal(operator.client.registerServer(body))).toMatchObject({ code, reason });
    expect(await refusal(operator.client.server('wrong'))).toMatchObject({ reason: 'NO_SUCH_SERVER' });
  });

  test.each(['no-slash', '/~2', '/a~', ''])(
    'D3 the pointer %j names no member and is refused',
    async (pointer) => {
      for (const member of ['revisionPointer', 'tokenPointer'])
        expect(
          await refusal(
            operator.client.registerServer(registration('wrong', { trust: { [member]: pointer } })),
          ),
        ).toMatchObject({
          code: 'BAD_REQUEST',
          reason: 'INVALID_BODY',
          details: { errors: [{ member: `trust.${member}` }] },
        });
    },
  );

  test('20 audiences are registered, and a pointer with every escape', async () => {
    const audiences = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`a${n}`, 'none']));
    const { server } = await operator.client.registerServer(
      registration('wide', { audiences, trust: { revisionPointer: '/_meta/a~0b~1c' } }),
    );
    expect(Object.keys(server.audiences)).toHaveLength(20);
    expect(server.trust['revisionPointer']).toBe('/_meta/a~0b~1c');
  });

  test('an audience and a namespace stay', async () => {
    await operator.client.registerServer(registration('steady', { audiences: { a: 'none', b: 'none' } }));
    expect(
      await refusal(operator.client.registerServer(registration('steady', { audiences: { a: 'none' } }))),
    ).toMatchObject({ code: 'CONFLICT', reason: 'SERVER_EXISTS', details: { audiences: ['b'] } });
    expect(
      await refusal(
        operator.client.registerServer(
          registration('steady', { namespace: 'other', audiences: { a: 'none', b: 'none' } }),
        ),
      ),
    ).toMatchObject({ code: 'CONFLICT', reason: 'SERVER_EXISTS' });
  });

  test('closing and opening leave receipts', async () => {
    await operator.client.registerServer(registration('shop'));
    expect(await actOf((await operator.client.closeServer('shop', 'maintenance')).receipt)).toMatchObject({
      act: 'CLOSE_SERVER',
      server: 'shop',
    });
    expect((await operator.client.server('shop')).closedReason).toBe('maintenance');
    expect(await actOf((await operator.client.openServer('shop')).receipt)).toMatchObject({
      act: 'OPEN_SERVER',
    });
    expect((await operator.client.server('shop')).closedReason).toBeNull();
    expect(await refusal(operator.client.closeServer('never', 'x'))).toMatchObject({
      reason: 'NO_SUCH_SERVER',
    });
  });
});

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
    expect(tools.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['good', 'OK'],
      ['broken', 'QUARANTINED'],
    ]);
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
    const { rebinding, receipt, epoch } = await operator.client.publishPolicy(bundle());
    expect(rebinding).toContainEqual(
      expect.objectContaining({ server: 'nowhere', audience: AUDIENCE, failed: null }),
    );
    expect(rebinding.filter(({ server }) => server === 'pair')).toHaveLength(2);
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
