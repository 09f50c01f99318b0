/** What the tests of the operator's routes start from. */
import { afterAll, beforeAll } from 'vitest';
import { GenlockProblem, type ServerRegistration } from '../../../src/client/client.js';
import type { OperatorReceipt } from '../../../src/domain/receipt.js';
import { verifyReceipt } from '../../../src/keys/receipt.js';
import { type ApiFixture, AUDIENCE, type Person, startApi } from './apiFixture.js';

// Read by the test files through their imports, which follow what `useOperator` sets.
export let api: ApiFixture;
export let operator: Person;
/** How the variables of the fixture's tenant begin. */
export let own: string;

/** Set up before the file's tests and stopped after them. */
export const useOperator = (): void => {
  beforeAll(async () => {
    api = await startApi();
    operator = await api.person('olga', ['genlock-operator']);
    own = `GENLOCK_CREDENTIAL_${api.tenant.toUpperCase().replace('-', '__')}_`;
  });
  afterAll(() => api.stop());
};

export const registration = (name: string, more: Partial<ServerRegistration> = {}): ServerRegistration => ({
  name,
  namespace: name,
  source: { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' },
  audiences: { [AUDIENCE]: 'none' },
  refreshSeconds: 0,
  ...more,
});
export const refusal = async (promise: Promise<unknown>): Promise<GenlockProblem> => {
  const error = await promise.then(
    () => new Error('was answered'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof GenlockProblem)) throw error;
  return error;
};
export const actOf = async (id: string | null): Promise<OperatorReceipt> => {
  const { jws } = await operator.client.receipt(id ?? '');
  return (await verifyReceipt(jws, api.keys.publicJwks())).body as OperatorReceipt;
};
