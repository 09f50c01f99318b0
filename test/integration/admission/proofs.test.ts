/** Proof of possession at admission, and decisions whose fence moves under them. */

import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { api, manager, nodeOf, operator, problemOf, receiptOf, useAdmission } from './admissionFixture.js';

useAdmission();

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
