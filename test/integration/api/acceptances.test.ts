/** The operator's routes for what discovery has held (D5); what a scan makes of it is tested with discovery. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GenlockClient, GenlockProblem } from '../../../src/client/client.js';
import type { EndReason } from '../../../src/domain/endReasons.js';
import type { OperatorReceipt } from '../../../src/domain/receipt.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { sha256Bytes } from '../../../src/proof/digest.js';
import { type ApiFixture, AUDIENCE, type Person, startApi } from './apiFixture.js';
import { heldScan, REVISION } from './heldScan.js';
import { IDENTITY } from './promoteTools.js';

let api: ApiFixture;
let operator: Person;
beforeAll(async () => {
  api = await startApi();
  operator = await api.person('olga', ['genlock-operator']);
});
afterAll(() => api.stop());

const refusal = async (promise: Promise<unknown>): Promise<GenlockProblem> => {
  const error = await promise.then(
    () => new Error('was answered'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof GenlockProblem)) throw error;
  return error;
};
const register = async (name: string): Promise<void> => {
  await operator.client.registerServer({
    name,
    namespace: name,
    source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
    audiences: { [AUDIENCE]: 'none' },
    refreshSeconds: 0,
  });
};
const held = (server: string, reason: EndReason, whole?: boolean): Promise<string> =>
  heldScan(api.scans, { tenant: api.tenant, server, reason, whole });

describe('D5 acceptances', () => {
  test('D5 R1 an acceptance tells what it binds, starts a discovery, is listed, and has a receipt', async () => {
    await register('held');
    const discovery = await held('held', 'SHRUNK');
    const accepted = await operator.client.accept(discovery, 'the old tools are gone');
    expect(accepted).toEqual({
      id: expect.any(String),
      discovery,
      server: 'held',
      audience: AUDIENCE,
      kind: 'SHRUNK',
      identity: IDENTITY,
      revision: REVISION,
      contentRoot: sha256Bytes('list'),
      reason: 'the old tools are gone',
      by: 'olga',
      receipt: expect.any(String),
      discoveries: [expect.objectContaining({ server: 'held', audience: AUDIENCE, failed: null })],
    });
    const { discoveries: _, ...record } = accepted;
    expect(await operator.client.acceptances()).toEqual([
      { ...record, acceptedAt: expect.any(String), usedBy: null, open: true },
    ]);
    const { jws } = await operator.client.receipt(accepted.receipt);
    const { body } = await verifyReceipt(jws, api.keys.publicJwks());
    expect(body as OperatorReceipt).toMatchObject({
      act: 'ACCEPT',
      subject: 'olga',
      server: 'held',
      audienceClass: AUDIENCE,
      target: accepted.id,
    });
    expect(await operator.client.discovery(discovery)).toMatchObject({
      state: 'QUARANTINED',
      next: expect.stringContaining('/v1/acceptances'),
    });
    expect(await refusal(operator.client.accept(discovery, 'again'))).toMatchObject({
      status: 409,
      code: 'CONFLICT',
      reason: 'ALREADY_ACCEPTED',
    });
  });

  test('D5 what no person can accept, and what a newer hold has superseded, is refused with the reason', async () => {
    await register('refused');
    const first = await held('refused', 'ROLLBACK');
    const later: string[] = [];
    for (const [reason, whole] of [
      ['EQUIVOCATION', true],
      ['TOOL_FAULT', true],
      ['SHRUNK', false],
    ] as const) {
      later.push(await held('refused', reason, whole));
      expect(await refusal(operator.client.accept(later.at(-1) ?? '', 'x'))).toMatchObject({
        status: 409,
        code: 'CONFLICT',
        reason: 'NOT_ACCEPTABLE',
        details: { state: 'QUARANTINED', reason },
      });
    }
    expect(await refusal(operator.client.accept(first, 'x'))).toMatchObject({
      code: 'CONFLICT',
      reason: 'HELD_SUPERSEDED',
      details: { discovery: first, newest: later.at(-1) },
    });
    expect(await refusal(operator.client.accept('nowhere/0', 'x'))).toMatchObject({
      status: 404,
      reason: 'NO_SUCH_DISCOVERY',
    });
    expect(await refusal(operator.client.accept(first, ''))).toMatchObject({ reason: 'INVALID_BODY' });
  });

  test('S4 only an operator of the tenant accepts or sees acceptances', async () => {
    await register('walled');
    const discovery = await held('walled', 'SHRUNK');
    const other = await api.person('otto', ['genlock-operator'], { tenant: api.otherTenant });
    expect(await refusal(other.client.accept(discovery, 'x'))).toMatchObject({
      status: 404,
      reason: 'NO_SUCH_DISCOVERY',
    });
    expect(await other.client.acceptances()).toEqual([]);
    const agent = await api.person('agent', []);
    const asks: ((client: GenlockClient) => Promise<unknown>)[] = [
      (client) => client.accept(discovery, 'x'),
      (client) => client.acceptances(),
    ];
    for (const ask of asks)
      expect(await refusal(ask(agent.client))).toMatchObject({
        status: 403,
        code: 'POLICY_DENIED',
        reason: 'ROLE_MISSING',
      });
    expect((await operator.client.acceptances()).map((one) => one.discovery)).not.toContain(discovery);
  });
});
