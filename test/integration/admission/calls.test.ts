/** Admission end to end on real Postgres: what is allowed and what is refused, each with its receipt. */
import { describe, expect, test } from 'vitest';
import type { PlanNode } from '../../../src/client/client.js';
import { verifyLease } from '../../../src/keys/lease.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { digestJson } from '../../../src/proof/digest.js';
import { LEASE_AUDIENCE } from '../api/apiFixture.js';
import { endScan } from '../api/promoteTools.js';
import {
  api,
  args,
  generation,
  manager,
  nodeOf,
  problemOf,
  receiptOf,
  register,
  useAdmission,
} from './admissionFixture.js';

useAdmission();

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
