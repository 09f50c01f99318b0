/** The six parts of the demo, in the order in which they build on one another. */
import { join } from 'node:path';
import type { GenlockClient } from '../../client/client.js';
import { GenlockProblem } from '../../client/problem.js';
import type { PlanNode } from '../../client/types.js';
import {
  EXAMPLE_AUDIENCE,
  everythingRegistration,
  inventoryAdmin,
  inventoryRegistration,
  startInventory,
} from '../exampleServers.js';
import { createExampleAgent, publishExamples } from '../exampleTenant.js';
import type { ReadyProcess } from '../readyProcess.js';
import type { Stack } from '../stack.js';
import { endOf } from './endOfDiscovery.js';
import { killInMidPage } from './killInMidPage.js';
import type { Narrator } from './narrator.js';
import type { DemoResult } from './result.js';
import { verifyElsewhere } from './verifyElsewhere.js';

export interface DemoSteps {
  readonly stack: Stack;
  readonly narrator: Narrator;
  readonly undo: (() => Promise<void>)[];
  readonly stateDir: string;
  readonly workers: readonly ReadyProcess[];
}

const TOOL = 'inventory.reserve@1';
const CALL = { warehouse: 'HAM-01', sku: 'BOLT-M8', quantity: 2 };

export const runSteps = async (demo: DemoSteps): Promise<Omit<DemoResult, 'seconds'>> => {
  const { stack, narrator, undo, stateDir } = demo;
  const inventory = await startInventory({ state: join(stateDir, 'inventory-mcp'), port: 0 });
  undo.push(() => inventory.stop());

  const registering = narrator.step('Policy and servers');
  const { operator, policyEpoch } = await publishExamples(stack, [
    inventoryRegistration('inventory', 'inventory', inventory.url, 0),
    everythingRegistration(0),
  ]);
  registering.done(`examples/policy is epoch ${policyEpoch}; two servers registered`);

  const scanning = narrator.step('Discovering inventory-mcp over HTTP');
  const first = await endOf(operator, 'inventory', 1, (text) => scanning.update(text));
  scanning.done(
    `${first.state}, generation ${first.generation}, ${first.tools} tools in ${first.pages} pages`,
  );
  const observing = narrator.step('Discovering server-everything over stdio');
  const observed = await endOf(operator, 'everything', 1, (text) => observing.update(text));
  observing.done(`${observed.state}, ${observed.tools} tools`);

  const agent = await createExampleAgent(stack);
  const { plan, admitted } = await admitAndVerify(stack, agent, narrator);
  const revoked = await revokeAndCall(operator, agent, plan, narrator);
  const stale = await changeAndCall(operator, agent, plan, inventory.adminUrl, narrator);
  const killed = await killInMidPage(demo, operator);

  return {
    versioned: { state: first.state, generation: first.generation, tools: first.tools, pages: first.pages },
    unversioned: { state: observed.state, tools: observed.tools },
    admitted,
    revoked,
    stale,
    killed,
  };
};

const admitAndVerify = async (
  stack: Stack,
  agent: GenlockClient,
  narrator: Narrator,
): Promise<{ readonly plan: PlanNode; readonly admitted: DemoResult['admitted'] }> => {
  const admitting = narrator.step(`Admitting ${TOOL}`);
  const tool = await agent.tool('inventory', TOOL);
  const plan: PlanNode = { server: 'inventory', tool: TOOL, ...tool.binding, arguments: CALL };
  const { lease, receipt } = await agent.admit(plan);
  const { verified, pid } = await verifyElsewhere({
    lease: lease.token,
    receipt: receipt.jws,
    jwks: await agent.jwks(),
    issuer: stack.apiUrl,
    audience: 'genlock-enforcement',
  });
  admitting.done(
    `lease ${lease.jti}, receipt ${receipt.id}, ${verified ? `verified by process ${pid}` : 'NOT verified'}`,
  );
  return { plan, admitted: { lease: lease.jti, receipt: receipt.id, verified } };
};

/** The refusal of a call; an admission here is a failure of the demo. */
const refusalOf = async (agent: GenlockClient, plan: PlanNode): Promise<GenlockProblem> => {
  try {
    const { lease } = await agent.admit(plan);
    throw new Error(`the call was admitted with lease ${lease.jti}, and should not have been`);
  } catch (error) {
    if (error instanceof GenlockProblem) return error;
    throw error;
  }
};

const revokeAndCall = async (
  operator: GenlockClient,
  agent: GenlockClient,
  plan: PlanNode,
  narrator: Narrator,
): Promise<DemoResult['revoked']> => {
  const revoking = narrator.step('The same call after a revocation');
  const { id } = await operator.revoke({
    kind: 'tool-id',
    server: 'inventory',
    target: TOOL,
    reason: 'shown in the demo',
  });
  const { code, reason } = await refusalOf(agent, plan);
  await operator.liftRevocation(id);
  revoking.done(`${code} (${reason}); then lifted`);
  return { code };
};

const changeAndCall = async (
  operator: GenlockClient,
  agent: GenlockClient,
  plan: PlanNode,
  adminUrl: string,
  narrator: Narrator,
): Promise<DemoResult['stale']> => {
  const changing = narrator.step('The old plan after the schema of reserve changed upstream');
  await inventoryAdmin(adminUrl).change({ op: 'change-reserve-schema' });
  await operator.startDiscovery('inventory', EXAMPLE_AUDIENCE);
  await endOf(operator, 'inventory', 2, (text) => changing.update(text));
  const { code, reason, details } = await refusalOf(agent, plan);
  const active = details['activeGeneration'];
  changing.done(`${code} (${reason})`);
  return { code, activeGeneration: typeof active === 'number' ? active : null };
};
