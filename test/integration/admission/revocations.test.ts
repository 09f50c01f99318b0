/** What is withdrawn between plan and call: revocations, policy epochs, generations. */
import { describe, expect, test } from 'vitest';
import type { PlanNode } from '../../../src/client/client.js';
import { parseServerName } from '../../../src/domain/ids.js';
import { bundle, CLASSES } from '../api/examplePolicy.js';
import { promoteTools, tool } from '../api/promoteTools.js';
import {
  api,
  args,
  manager,
  nodeOf,
  operator,
  problemOf,
  receiptOf,
  register,
  useAdmission,
} from './admissionFixture.js';

useAdmission();

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
