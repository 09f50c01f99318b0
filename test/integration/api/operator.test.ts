/** The operator's routes: servers, discoveries, policies, revocations; each act with its receipt. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GenlockProblem, type ServerRegistration } from '../../../src/client/client.js';
import type { OperatorReceipt } from '../../../src/domain/receipt.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { type ApiFixture, AUDIENCE, type Person, startApi } from './apiFixture.js';
import { bundle } from './examplePolicy.js';
import { endScan } from './promoteTools.js';

let api: ApiFixture;
let operator: Person;

beforeAll(async () => {
  api = await startApi();
  operator = await api.person('olga', ['genlock-operator']);
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
        audiences: { [AUDIENCE]: 'env:INVENTORY_TOKEN' },
        source: source({ env: { API_TOKEN: 'file:/run/secrets/token', LEVEL: 'debug' } }),
      }),
    );
    expect(held.server.audiences).toEqual({ [AUDIENCE]: 'env:INVENTORY_TOKEN' });
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
  ])('%s is refused', async (_, more, code, reason) => {
    const body = { ...registration('wrong'), ...more } as ServerRegistration;
    expect(await refusal(operator.client.registerServer(body))).toMatchObject({ code, reason });
    expect(await refusal(operator.client.server('wrong'))).toMatchObject({ reason: 'NO_SUCH_SERVER' });
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
    [{ kind: 'tool-name', target: 'sell' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'tool-name', server: 'store' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'subject', server: 'store', target: 'alice' }, 'BAD_REQUEST/INVALID_BODY'],
    [{ kind: 'server', server: 'store', target: 'shop' }, 'BAD_REQUEST/INVALID_BODY'],
  ] as const)('%j is refused with %s', async (request, expected) => {
    const { code, reason } = await refusal(operator.client.revoke({ ...request, reason: 'a test' }));
    expect(`${code}/${reason}`).toBe(expected);
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
