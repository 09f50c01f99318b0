/** What the admission tests start from: an operator, a stock manager, and a promoted generation of four tools. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { GenlockProblem, type PlanNode } from '../../../src/client/client.js';
import type { AdmissionReceipt } from '../../../src/domain/receipt.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { type ApiFixture, type Person, startApi } from '../api/apiFixture.js';
import { bundle, CLASSES } from '../api/examplePolicy.js';
import { promoteTools, tool } from '../api/promoteTools.js';

// Read by the test files through their imports, which follow what `useAdmission` sets.
export let api: ApiFixture;
export let operator: Person;
export let manager: Person;
export let generation: Awaited<ReturnType<typeof promoteTools>>;
export const args = { warehouse: 'north', sku: 'A1', quantity: 2 };

export const register = (name: string, tenant = operator) =>
  tenant.client.registerServer({
    name,
    namespace: name,
    source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
    audiences: { 'warehouse.policy-1': 'none' },
    refreshSeconds: 0,
  });

/** Set up before the file's tests and stopped after them. */
export const useAdmission = (): void => {
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
};

export const nodeOf = (name: string, more: Partial<PlanNode> = {}): PlanNode => ({
  server: 'inventory',
  tool: generation.tools[name]?.id ?? '',
  descriptor: generation.tools[name]?.descriptor ?? '',
  generation: generation.generation,
  arguments: args,
  ...more,
});
export const problemOf = async (promise: Promise<unknown>): Promise<GenlockProblem> => {
  const error = await promise.then(
    () => new Error('was allowed'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof GenlockProblem)) throw error;
  return error;
};
export const receiptOf = async (jws: string) =>
  (await verifyReceipt(jws, api.keys.publicJwks())).body as AdmissionReceipt;
