/** Two people beside a fault: an operator who accepts what is held, and a caller who wants to use what serves. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { type Digest, epochMs } from '../../src/domain/ids.js';
import type { CatalogReceipt, OperatorReceipt, ReceiptBody } from '../../src/domain/receipt.js';
import { verifyReceipt } from '../../src/keys/receipt.js';
import { parseBundle } from '../../src/policy/bundle.js';
import { compilePolicy } from '../../src/policy/compilePolicy.js';
import { createTemporalControl } from '../../src/temporal/control.js';
import { acceptHeld } from '../../src/usecases/acceptHeld.js';
import { createArgumentCheck } from '../../src/usecases/checkArguments.js';
import { createJudge } from '../../src/usecases/judgeCall.js';
import { createPolicies } from '../../src/usecases/policies.js';
import type { ArgumentThreads } from '../../src/validation/argumentThreads.js';
import { discoveryWorkflowId } from '../../src/workflows/contract.js';
import type { Outcome } from '../integration/discovery/discoveryStack.js';
import { startThreads } from '../support/argumentThreads.js';
import type { FaultStack } from './expectations.js';

const receiptOf = async <R extends ReceiptBody>(stack: FaultStack, key: DiscoveryKey, id: string | null) => {
  const [row] = await stack.operator.receipts(key.tenant, { id: id ?? '', limit: 1 });
  return (await verifyReceipt(row?.jws ?? '', stack.keys.publicJwks())).body as R;
};

/**
 * An operator accepts what a scan was held for, with a receipt; the scan that this starts is promoted, and its receipt
 * names the acceptance.
 */
export const expectAccepted = async (
  stack: FaultStack,
  key: DiscoveryKey,
  held: Outcome,
): Promise<Outcome> => {
  const accepted = await acceptHeld(
    {
      store: stack.operator,
      control: createTemporalControl(stack.client, {
        taskQueue: stack.taskQueue,
        namespace: 'unused: no link is asked for',
        uiUrl: null,
      }),
      keys: stack.keys,
      now: () => epochMs(Date.now()),
      newId: randomUUID,
    },
    { tenant: key.tenant, subject: 'olga', requestId: 'q' },
    { discovery: held.scan, reason: 'looked at' },
  );
  expect(await receiptOf<OperatorReceipt>(stack, key, accepted.receipt)).toMatchObject({
    kind: 'operator',
    act: 'ACCEPT',
    subject: 'olga',
    target: accepted.id,
  });
  const { runId } = await stack.client.workflow.getHandle(discoveryWorkflowId(key)).describe();
  const outcome = await stack.outcomeOf(key, runId);
  expect(outcome).toMatchObject({ state: 'ELIGIBLE', reason: 'PROMOTED' });
  expect(await receiptOf<CatalogReceipt>(stack, key, outcome.receipt)).toMatchObject({
    kind: 'catalog',
    discovery: outcome.scan,
    acceptances: [accepted.id],
  });
  return outcome;
};

/** Admission of the first tool that serves, as at a time: `CODE/REASON`. The policy names none of these tools. */
export const useCaller = (stack: FaultStack) => {
  let argumentThreads: ArgumentThreads;
  beforeAll(async () => {
    argumentThreads = await startThreads({ threads: 1 });
  });
  afterAll(() => argumentThreads.close());
  return async ({ tenant, server, audience }: DiscoveryKey, now: number): Promise<string> => {
    const served = await stack.api.catalog(tenant, server, audience, { after: '', limit: 1 });
    const [tool] = served?.page ?? [];
    if (served == null || tool === undefined) throw new Error('nothing serves');
    const judge = createJudge({
      store: stack.api,
      policies: createPolicies(stack.api, {
        compile: (text, epoch) => compilePolicy(parseBundle(JSON.parse(text)), epoch),
      }),
      checkArguments: createArgumentCheck(argumentThreads),
      now: () => epochMs(now),
      requireBoundTokens: false,
    });
    const { decision } = await judge(
      {
        caller: {
          tenant,
          subject: 'mara',
          roles: ['stock-manager'],
          claims: { roles: ['stock-manager'] },
          tokenDigest: 'unused' as Digest,
          jkt: null,
          expiresAt: epochMs(now + 1),
        },
        server,
        node: { generation: served.generation, tool: tool.id, descriptor: tool.descriptor },
        policyEpoch: null,
        mode: 'autonomous',
        args: { value: {}, inexact: [] },
        argsDigest: null,
      },
      true,
    );
    return decision.decision === 'refused' ? `${decision.code}/${decision.reason}` : decision.decision;
  };
};
