/** Registering servers and changing them, each act with its receipt. */
import { describe, expect, test } from 'vitest';
import type { ServerRegistration } from '../../../src/client/client.js';
import { AUDIENCE } from './apiFixture.js';
import { actOf, api, operator, own, refusal, registration, useOperator } from './operatorFixture.js';

useOperator();

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
