/** Admission end to end on real Postgres: allowed, refused, replayed, revoked, and with the fence moved under it. */
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GenlockProblem, type PlanNode } from '../../../src/client/client.js';
import { parseServerName } from '../../../src/domain/ids.js';
import type { AdmissionReceipt } from '../../../src/domain/receipt.js';
import { verifyLease } from '../../../src/keys/lease.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { digestJson } from '../../../src/proof/digest.js';
import { type ApiFixture, LEASE_AUDIENCE, type Person, startApi } from '../api/apiFixture.js';
import { bundle, CLASSES } from '../api/examplePolicy.js';
import { endScan, promoteTools, tool } from '../api/promoteTools.js';

let api: ApiFixture;
let operator: Person;
let manager: Person;
let generation: Awaited<ReturnType<typeof promoteTools>>;
const args = { warehouse: 'north', sku: 'A1', quantity: 2 };

const register = (name: string, tenant = operator) =>
  tenant.client.registerServer({
    name,
    namespace: name,
    source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
    audiences: { 'warehouse.policy-1': 'none' },
    refreshSeconds: 0,
  });

beforeAll(async () => {
  api = await startApi();
  operator = await api.person('olga', ['genlock-operator']);
  manager = await api.person('alice', ['stock-manager']);
  await operator.client.publishPolicy(bundle());
  await register('inventory');
  generation = await promoteTools(api.scans, {
    tenant: api.tenant,
    tools: ['reserve', 'count', 'dispose', 'lost'].map((name) => tool(name)),
    classes: CLASSES,
  });
});
afterAll(() => api.stop());
beforeEach(() => {
  api.betweenViewAndCommit.act = null;
  api.clock.shift = 0;
});

const nodeOf = (name: string, more: Partial<PlanNode> = {}): PlanNode => ({
  server: 'inventory',
  tool: generation.tools[name]?.id ?? '',
  descriptor: generation.tools[name]?.descriptor ?? '',
  generation: generation.generation,
  arguments: args,
  ...more,
});
const problemOf = async (promise: Promise<unknown>): Promise<GenlockProblem> => {
  const error = await promise.then(
    () => new Error('was allowed'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof GenlockProblem)) throw error;
  return error;
};
const receiptOf = async (jws: string) =>
  (await verifyReceipt(jws, api.keys.publicJwks())).body as AdmissionReceipt;

describe('an allowed call', () => {
  test('L1 R1 lease and receipt agree with each other and with what was asked, and verify under the public keys', async () => {
    const admitted = await manager.client.admit(nodeOf('reserve'));
    const jwks = await manager.client.jwks();
    const lease = await verifyLease(admitted.lease.token, jwks, {
      issuer: api.url,
      audience: LEASE_AUDIENCE,
      now: Date.now() as never,
    });
    const { body } = await verifyReceipt(admitted.receipt.jws, jwks);
    expect(lease).toMatchObject({
      jti: admitted.lease.jti,
      sub: 'alice',
      tenant: api.tenant,
      tool: 'inventory.reserve@1',
      descriptor: generation.tools['reserve']?.descriptor,
      generation: 1,
      policyEpoch: 1,
      resource: 'inventory/north/A1',
      args: digestJson(args),
      effectClass: 'RESERVATION',
      cnf: { jkt: manager.key.jkt },
    });
    expect(lease.exp - lease.iat).toBeLessThanOrEqual(10);
    expect(body).toMatchObject({
      id: admitted.receipt.id,
      kind: 'admission',
      decision: 'ALLOWED',
      tenant: api.tenant,
      subject: 'alice',
      server: lease.server,
      audienceClass: 'warehouse.policy-1',
      catalogGeneration: 1,
      planGeneration: 1,
      policyEpoch: 1,
      fence: lease.fence,
      tool: lease.tool,
      descriptor: lease.descriptor,
      args: lease.args,
      resource: lease.resource,
      lease: lease.jti,
      policies: ['managers'],
      credential: 'none',
    });
    expect(await manager.client.receipt(admitted.receipt.id)).toMatchObject({
      jws: admitted.receipt.jws,
      lease: lease.jti,
      decision: 'ALLOWED',
    });
  });

  test('A1 the order of members and an absent argument object mean nothing to the digest', async () => {
    const one = await manager.client.admit(nodeOf('reserve'));
    const two = await manager.client.admit(
      nodeOf('reserve', { arguments: { quantity: 2, sku: 'A1', warehouse: 'north' } }),
    );
    expect(two.argumentsDigest).toBe(one.argumentsDigest);
  });

  test('many at once: each gets its own lease, in shared commits', async () => {
    const people = await Promise.all([...Array(8)].map((_, i) => api.person(`p${i}`, ['stock-manager'])));
    const admitted = await Promise.all(
      people.flatMap(({ client }) => [...Array(5)].map(() => client.admit(nodeOf('reserve')))),
    );
    expect(new Set(admitted.map(({ lease }) => lease.jti)).size).toBe(40);
    const text = await (await fetch(`${api.url}/metrics`)).text();
    const commits = Number(/genlock_commit_batch_rows_count (\d+)/.exec(text)?.[1]);
    const rows = Number(/genlock_commit_batch_rows_sum (\d+)/.exec(text)?.[1]);
    expect(rows).toBeGreaterThan(commits);
  });
});

describe('a refused call', () => {
  test.each<[string, string, () => Partial<PlanNode> & { readonly name?: string }]>([
    ['NOT_FOUND', 'NO_SUCH_SERVER', () => ({ server: 'nowhere' })],
    ['NOT_FOUND', 'NO_SUCH_TOOL', () => ({ tool: 'inventory.never@1' })],
    ['STALE_CATALOG', 'GENERATION_UNKNOWN', () => ({ generation: 99 })],
    ['STALE_CATALOG', 'DESCRIPTOR_CHANGED', () => ({ descriptor: `sha256:${'0'.repeat(64)}` })],
    ['POLICY_DENIED', 'UNCLASSIFIED_EFFECT', () => ({ name: 'lost' })],
    ['CONFIRMATION_REQUIRED', 'NOT_CONFIRMED', () => ({ name: 'dispose' })],
    ['CONFIRMATION_REQUIRED', 'NOT_CONFIRMED', () => ({ name: 'dispose', mode: 'confirmed' })],
    ['PARAMS_INVALID', 'SCHEMA_MISMATCH', () => ({ arguments: { warehouse: 'north' } })],
    ['PARAMS_INVALID', 'NOT_AN_OBJECT', () => ({ arguments: [1] })],
    ['PARAMS_INVALID', 'NOT_AN_OBJECT', () => ({ arguments: null })],
    ['PARAMS_INVALID', 'RESOURCE_UNRESOLVED', () => ({ arguments: { warehouse: '', sku: 'A1' } })],
  ])('R1 %s/%s leaves a receipt that says so', async (code, reason, more) => {
    const { name = 'reserve', ...changed } = more();
    const problem = await problemOf(manager.client.admit({ ...nodeOf(name), ...changed }));
    expect([problem.code, problem.reason]).toEqual([code, reason]);
    const body = await receiptOf(problem.receipt?.jws ?? '');
    expect(body).toMatchObject({ decision: 'REFUSED', code, reason, lease: null, subject: 'alice' });
    expect(await manager.client.receipt(body.id)).toMatchObject({ code, reason });
    expect(api.log.at(-1)).toMatchObject({
      message: 'call refused',
      fields: { code, reason, receipt: body.id },
    });
  });

  test('V7 a number that would be rounded is refused with its place, and its digest is not made up', async () => {
    const send = async (text: string) => {
      const url = `${api.url}/v1/admissions`;
      const proof = await manager.key.prove({ method: 'POST', url, accessToken: manager.token });
      const node = JSON.stringify(
        nodeOf('reserve', { arguments: { warehouse: 'n', sku: 'A', quantity: 7 } }),
      );
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${manager.token}`,
          dpop: proof,
          'content-type': 'application/json',
        },
        body: node.replace(':7}', `:${text}}`),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const rounded = await send('9007199254740993');
    expect(rounded.status).toBe(422);
    expect(rounded.body).toMatchObject({
      code: 'PARAMS_INVALID',
      reason: 'UNSAFE_NUMBER',
      details: { errors: [{ pointer: '/quantity' }] },
    });
    const receipt = await receiptOf((rounded.body['receipt'] as { jws: string }).jws);
    expect(receipt.args).toBeNull();
    expect((await send('7,"quantity":8')).body).toMatchObject({
      code: 'BAD_REQUEST',
      reason: 'INVALID_JSON',
    });
    expect((await send('9007199254740992')).status).toBe(201);
  });

  test('A3 without an active generation the latest scan says why', async () => {
    await register('silent');
    const node = nodeOf('reserve', { server: 'silent' });
    const why = async () => {
      const { code, reason } = await problemOf(manager.client.admit(node));
      return `${code}/${reason}`;
    };
    expect(await why()).toBe('INCOMPLETE_DISCOVERY/NO_ACTIVE_GENERATION');
    const of = { tenant: api.tenant, server: 'silent' };
    await endScan(api.scans, { ...of, state: 'INCOMPLETE', reason: 'UNREACHABLE' });
    expect(await why()).toBe('INCOMPLETE_DISCOVERY/LATEST_SCAN_INCOMPLETE');
    await endScan(api.scans, { ...of, state: 'QUARANTINED', reason: 'ROLLBACK' });
    expect(await why()).toBe('INCOMPLETE_DISCOVERY/LATEST_SCAN_QUARANTINED');
    await endScan(api.scans, { ...of, state: 'UNVERSIONED_OBSERVATION', reason: 'NO_REVISION' });
    expect(await why()).toBe('UNVERSIONED_SOURCE/NO_REVISION');
  });

  test('S7 past its freshness the generation admits nothing', async () => {
    await manager.client.admit(nodeOf('reserve'));
    const late = await api.person('alice', ['stock-manager'], { ttlSeconds: 7_200 });
    api.clock.shift = 3_601_000;
    const url = `${api.url}/v1/admissions`;
    const proof = await late.key.prove({
      method: 'POST',
      url,
      accessToken: late.token,
      now: Date.now() + api.clock.shift,
    });
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${late.token}`, dpop: proof, 'content-type': 'application/json' },
      body: JSON.stringify(nodeOf('reserve')),
    });
    expect(await response.json()).toMatchObject({ code: 'STALE_CATALOG', reason: 'GENERATION_EXPIRED' });
  });

  test('S4 a role that no audience rule maps has no audience', async () => {
    const nobody = await api.person('nina', ['tourist']);
    expect(await problemOf(nobody.client.admit(nodeOf('reserve')))).toMatchObject({
      code: 'POLICY_DENIED',
      reason: 'NO_AUDIENCE',
      receipt: { id: expect.any(String) },
    });
  });
});

describe('proof of possession', () => {
  const post = async (proof: string | undefined, body: unknown, person = manager) => {
    const response = await fetch(`${api.url}/v1/admissions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${person.token}`,
        'content-type': 'application/json',
        ...(proof !== undefined && { dpop: proof }),
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const proofOf = (person = manager) =>
    person.key.prove({ method: 'POST', url: `${api.url}/v1/admissions`, accessToken: person.token });

  test('RFC 9449 a proof is good once, also for two requests at the same moment', async () => {
    const proof = await proofOf();
    const answers = await Promise.all([...Array(6)].map(() => post(proof, nodeOf('reserve'))));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
      expect(status).toBe(401);
      expect(body).toMatchObject({
        code: 'PROOF_INVALID',
        reason: 'REPLAYED',
        receipt: { id: expect.any(String) },
      });
    }
    const after = await post(proof, nodeOf('count'));
    expect(after.body).toMatchObject({ code: 'PROOF_INVALID', reason: 'REPLAYED' });
  });

  test('a proof that went with a refusal is used up as well', async () => {
    const proof = await proofOf();
    expect((await post(proof, nodeOf('lost'))).status).toBe(403);
    expect((await post(proof, nodeOf('reserve'))).body).toMatchObject({ reason: 'REPLAYED' });
  });

  test('one proof covers a whole plan over two servers, once', async () => {
    const plan = {
      nodes: [nodeOf('reserve'), nodeOf('lost'), nodeOf('count'), nodeOf('reserve', { server: 'else' })],
    };
    const proof = await proofOf();
    const first = await post(proof, plan);
    expect(first.status).toBe(200);
    expect((first.body['nodes'] as { decision: string }[]).map(({ decision }) => decision)).toEqual([
      'ALLOWED',
      'REFUSED',
      'ALLOWED',
      'REFUSED',
    ]);
    const again = await post(proof, plan);
    expect(again.status).toBe(401);
    expect(again.body).toMatchObject({ code: 'PROOF_INVALID', reason: 'REPLAYED' });
    const receipts = again.body['receipts'] as { jws: string }[];
    expect(receipts).toHaveLength(4);
    for (const { jws } of receipts)
      expect(await receiptOf(jws)).toMatchObject({ reason: 'REPLAYED', lease: null, decision: 'REFUSED' });
  });

  test('a missing, a foreign and a misdirected proof each have their reason and a receipt', async () => {
    const eve = await api.person('eve', ['stock-manager']);
    const elsewhere = await manager.key.prove({
      method: 'POST',
      url: `${api.url}/v1/receipts`,
      accessToken: manager.token,
    });
    for (const [proof, reason] of [
      [undefined, 'MISSING'],
      [await proofOf(eve), 'WRONG_TOKEN'],
      [elsewhere, 'WRONG_TARGET'],
      ['x.y.z', 'MALFORMED'],
    ] as const) {
      const { status, body } = await post(proof, nodeOf('reserve'));
      expect([status, body['reason']]).toEqual([401, reason]);
      expect(await receiptOf((body['receipt'] as { jws: string }).jws)).toMatchObject({
        code: 'PROOF_INVALID',
        reason,
      });
    }
  });

  test('a proof or a tool id that cannot be stored is refused as such', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const jwk = await exportJWK(publicKey);
    const genuine = decodeJwt(await proofOf());
    const proof = await new SignJWT({ ...genuine, jti: 'a\u0000b' })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .sign(privateKey);
    const answer = await post(proof, nodeOf('reserve'));
    expect(answer.body).toMatchObject({
      code: 'PROOF_INVALID',
      reason: 'MALFORMED',
      details: { claim: 'jti' },
    });
    const odd = await post(await proofOf(), nodeOf('reserve', { tool: 'inventory.a\u0000b@1' }));
    expect(odd.body).toMatchObject({ code: 'BAD_REQUEST', reason: 'INVALID_BODY' });
    const args = nodeOf('reserve', { arguments: { warehouse: 'a\u0000b', sku: 'A1' } });
    const { status, body } = await post(await proofOf(), args);
    expect([status, body['resource']]).toEqual([201, 'inventory/a%00b/A1']);
  });

  test('L1 a bound token is worth nothing under another key, on any route', async () => {
    const bound = await api.person('bob', ['stock-manager'], { bound: true });
    const thief = await api.person('eve', ['stock-manager']);
    expect((await bound.client.admit(nodeOf('reserve'))).decision).toBe('ALLOWED');
    expect((await bound.client.catalogs()).length).toBe(1);
    const stolen = await thief.key.prove({
      method: 'POST',
      url: `${api.url}/v1/admissions`,
      accessToken: bound.token,
    });
    expect((await post(stolen, nodeOf('reserve'), bound)).body).toMatchObject({ reason: 'KEY_MISMATCH' });
    const bare = await fetch(`${api.url}/v1/catalogs`, { headers: { authorization: `DPoP ${bound.token}` } });
    expect(await bare.json()).toMatchObject({ code: 'PROOF_INVALID', reason: 'MISSING' });
    expect(bare.headers.get('www-authenticate')).toContain('invalid_dpop_proof');
  });
});

describe('the fence', () => {
  test('L3 a revocation between view and commit refuses, and nothing of the decision before it stays', async () => {
    await manager.client.admit(nodeOf('count'));
    const before = (await manager.client.receipts({ limit: 200 })).length;
    let id = '';
    api.betweenViewAndCommit.act = async () => {
      api.betweenViewAndCommit.act = null;
      ({ id } = await operator.client.revoke({
        kind: 'tool-name',
        server: 'inventory',
        target: 'count',
        reason: 'a test',
      }));
    };
    const problem = await problemOf(manager.client.admit(nodeOf('count')));
    expect(problem).toMatchObject({ code: 'POLICY_REVOKED', reason: 'REVOKED_TOOL', status: 403 });
    expect((await manager.client.receipts({ limit: 200 })).length).toBe(before + 1);
    await operator.client.liftRevocation(id);
    expect((await manager.client.admit(nodeOf('count'))).decision).toBe('ALLOWED');
  });

  test('a fence that moves under every try ends as BUSY, and no lease is left', async () => {
    let moves = 0;
    api.betweenViewAndCommit.act = async () => {
      moves += 1;
      await operator.client.closeServer('inventory', 'a test');
      await operator.client.openServer('inventory');
    };
    const problem = await problemOf(manager.client.admit(nodeOf('reserve')));
    expect(problem).toMatchObject({
      code: 'BUSY',
      reason: 'FENCE_MOVED',
      status: 503,
      retry: true,
      receipt: null,
    });
    expect(moves).toBe(3);
  });

  test('a fence that moved once costs one more try', async () => {
    api.betweenViewAndCommit.act = async () => {
      api.betweenViewAndCommit.act = null;
      await operator.client.closeServer('inventory', 'a test');
      await operator.client.openServer('inventory');
    };
    expect((await manager.client.admit(nodeOf('reserve'))).decision).toBe('ALLOWED');
  });
});

describe('revocations and epochs', () => {
  test.each([
    [{ kind: 'tool-id', server: 'inventory', target: 'inventory.reserve@1' }, 'REVOKED_TOOL'],
    [{ kind: 'server', server: 'inventory' }, 'REVOKED_SERVER'],
    [{ kind: 'subject', target: 'alice' }, 'REVOKED_SUBJECT'],
  ] as const)('L3 %j holds from its answer on and until it is lifted', async (what, reason) => {
    await manager.client.admit(nodeOf('reserve'));
    const { id } = await operator.client.revoke({ ...what, reason: 'a test' });
    expect(await problemOf(manager.client.admit(nodeOf('reserve')))).toMatchObject({
      code: 'POLICY_REVOKED',
      reason,
    });
    await operator.client.liftRevocation(id);
    expect((await manager.client.admit(nodeOf('reserve'))).decision).toBe('ALLOWED');
  });

  test('a closed server admits nothing', async () => {
    await operator.client.closeServer('inventory', 'maintenance');
    expect(await problemOf(manager.client.admit(nodeOf('reserve')))).toMatchObject({
      code: 'SERVER_CLOSED',
      details: { closed: 'maintenance' },
    });
    await operator.client.openServer('inventory');
  });

  test('W2 P1 a withdrawn permit is POLICY_REVOKED at once; a new epoch stops effects until it is bound', async () => {
    await register('stock');
    const of = { tenant: api.tenant, server: 'stock', tools: [tool('reserve'), tool('count')] };
    const policy = (tools: readonly string[]) => {
      const plain = bundle(tools);
      return {
        ...plain,
        tools: {
          ...plain.tools,
          'stock.reserve@1': { effectClass: 'RESERVATION', resource: 'stock/{/sku}' },
          'stock.count@1': { effectClass: 'READ', resource: '*' },
        },
      };
    };
    const { epoch } = await operator.client.publishPolicy(policy(['stock.reserve@1', 'stock.count@1']));
    const bound = await promoteTools(api.scans, { ...of, classes: CLASSES });
    const node = (name: string): PlanNode => ({
      server: 'stock',
      tool: `stock.${name}@1`,
      generation: bound.generation,
      descriptor: bound.tools[name]?.descriptor ?? '',
      arguments: args,
    });
    expect((await manager.client.admit(node('reserve'))).decision).toBe('ALLOWED');

    await operator.client.publishPolicy(policy(['stock.count@1', 'stock.reserve@1']), epoch);
    expect(await problemOf(manager.client.admit(node('reserve')))).toMatchObject({
      code: 'STALE_CATALOG',
      reason: 'EPOCH_REBINDING',
    });
    expect((await manager.client.admit(node('count'))).decision).toBe('ALLOWED');

    await operator.client.publishPolicy(policy(['stock.count@1']));
    expect(await problemOf(manager.client.admit(node('reserve')))).toMatchObject({
      code: 'POLICY_REVOKED',
      reason: 'PERMIT_WITHDRAWN',
    });
    // A plan that was made under today's policy was never allowed it.
    expect(
      await problemOf(manager.client.admit({ ...node('reserve'), policyEpoch: epoch + 2 })),
    ).toMatchObject({ code: 'POLICY_DENIED', reason: 'NO_PERMIT' });
    await operator.client.publishPolicy(bundle());
  });

  test('W3 A1 an older plan: the same descriptor is compatible, a changed contract is not', async () => {
    await register('depot');
    const classes = { reserve: 'READ', count: 'READ' } as const;
    const of = { tenant: api.tenant, server: 'depot', classes };
    const plain = bundle();
    await operator.client.publishPolicy({
      ...plain,
      tools: {
        ...plain.tools,
        'depot.reserve@1': { effectClass: 'READ', resource: '*' },
        'depot.count@1': { effectClass: 'READ', resource: '*' },
      },
      permits: [{ id: 'p', roles: ['stock-manager'], tools: ['depot.reserve@1', 'depot.count@1'] }],
    });
    const first = await promoteTools(api.scans, { ...of, tools: [tool('reserve'), tool('count')] });
    const node = (name: string): PlanNode => ({
      server: 'depot',
      tool: `depot.${name}@1`,
      generation: first.generation,
      descriptor: first.tools[name]?.descriptor ?? '',
      arguments: args,
    });
    await manager.client.admit(node('reserve'));
    const changed = tool('reserve', { inputSchema: { type: 'object', required: ['order'] } });
    const second = await promoteTools(api.scans, { ...of, tools: [changed, tool('count')], counter: 2 });

    expect(await problemOf(manager.client.admit(node('reserve')))).toMatchObject({
      code: 'STALE_CATALOG',
      reason: 'DESCRIPTOR_CHANGED',
      details: { activeGeneration: second.generation },
    });
    const compatible = await manager.client.admit(node('count'));
    expect(compatible.generation).toBe(second.generation);
    expect(await receiptOf(compatible.receipt.jws)).toMatchObject({
      catalogGeneration: second.generation,
      planGeneration: first.generation,
    });

    const reworded = tool('count', { description: 'Counts otherwise' });
    await promoteTools(api.scans, { ...of, tools: [changed, reworded], counter: 3 });
    expect(await problemOf(manager.client.admit(node('count')))).toMatchObject({
      code: 'STALE_CATALOG',
      reason: 'DESCRIPTOR_CHANGED',
    });
    await operator.client.publishPolicy(bundle());
  });

  test('A1 S7 a superseded generation is compatible only as long as it was last verified for', async () => {
    await register('shelf');
    const of = { tenant: api.tenant, server: 'shelf', tools: [tool('reserve')] };
    const short = await promoteTools(api.scans, { ...of, freshFor: 60_000 });
    await promoteTools(api.scans, { ...of, tools: [tool('reserve'), tool('count')], counter: 2 });
    const view = await api.admissions.view(
      api.tenant,
      parseServerName('shelf'),
      'warehouse.policy-1' as never,
    );
    const [old, active] = view.retained;
    expect(old?.generation).toBe(short.generation);
    expect(old?.expires).toBeLessThan(Date.now() + 61_000);
    expect(active?.expires).toBeGreaterThan(Date.now() + 3_600_000);
  });
});
