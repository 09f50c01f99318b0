/**
 * Gathers the facts of one call and lets the pure function decide (A1–A6). Nothing is written here: what comes out
 * holds only under the fence of its view, which the commit compares.
 */
import {
  type ArgumentsOutcome,
  type Decision,
  type DecisionFacts,
  decide,
  type PlanNode,
  type PolicyFacts,
  refused,
} from '../domain/decision.js';
import {
  type AudienceClass,
  type Digest,
  type EpochMs,
  type ServerName,
  type TenantId,
  type ToolId,
  toolName,
} from '../domain/ids.js';
import type { VerifiedCaller } from '../keys/callerToken.js';
import type { Classification, CompiledPolicy } from '../policy/port.js';
import type { ActiveTool, AdmissionStore, AdmissionView } from '../store/admissionStore.js';
import type { ArgumentCheck, CallArguments } from './checkArguments.js';
import type { Policies } from './policies.js';
import { type CallerScope, createScopeReader, type ScopeReader } from './resolveScope.js';
import { createTenantCache } from './tenantCache.js';

export interface Call {
  readonly caller: VerifiedCaller;
  readonly server: ServerName;
  readonly node: PlanNode;
  /** The epoch that the plan was made under, where it says so; else that of the generation it names. */
  readonly policyEpoch: number | null;
  readonly mode: 'autonomous' | 'confirmed';
  readonly args: CallArguments;
  /** null where the arguments have no exact form. */
  readonly argsDigest: Digest | null;
}

export interface Judged {
  readonly view: AdmissionView;
  readonly audience: AudienceClass | null;
  readonly tool: ActiveTool | null;
  readonly decision: Decision;
  readonly cached: boolean;
}

export type JudgeCall = (call: Call, fresh: boolean) => Promise<Judged>;

export interface JudgeDeps {
  readonly store: Pick<AdmissionStore, 'view' | 'tool' | 'toolId'>;
  readonly policies: Policies;
  readonly checkArguments: ArgumentCheck;
  readonly now: () => EpochMs;
  readonly requireBoundTokens: boolean;
}

const TOOLS_KEPT = 5_000;

export const createJudge = (deps: JudgeDeps): JudgeCall => {
  const scopes = createScopeReader(deps.store, deps.policies);
  const readTool = toolReader(deps.store);

  return async (call, fresh) => {
    const { caller, node } = call;
    const { scope, tool } = await resolve(scopes, readTool, call, fresh);
    const { view, policy, audience } = scope;
    const classification = policy?.classify(node.tool) ?? null;
    const facts: Omit<DecisionFacts, 'checkArguments'> = {
      now: deps.now(),
      node,
      mode: call.mode,
      caller: { subject: caller.subject, audience, bound: caller.jkt !== null },
      requireBoundTokens: deps.requireBoundTokens,
      policyEpoch: view.policyEpoch,
      server: view.server,
      active: view.active,
      retained: view.retained,
      newestGeneration: view.newestGeneration,
      latestScan: view.latestScan,
      revocations: view.revocations,
      tool,
      currentId: tool === null ? await currentId(deps.store, call, scope) : null,
      policy: await policyFacts(deps.policies, call, scope, tool, classification),
    };
    const check = async () =>
      tool === null ? UNCHECKED : deps.checkArguments(caller.tenant, tool, call.args, classification);
    return { view, audience, tool, decision: await decideLazily(facts, check), cached: scope.cached };
  };
};

const UNCHECKED: ArgumentsOutcome = { ok: false, refusal: refused('NOT_FOUND', 'NO_SUCH_TOOL') };

/** The check of the arguments may wait for a thread, so it is made only once the decision has asked for it. */
const decideLazily = async (
  facts: Omit<DecisionFacts, 'checkArguments'>,
  check: () => Promise<ArgumentsOutcome>,
): Promise<Decision> => {
  let asked = false;
  const decision = decide({
    ...facts,
    checkArguments: () => {
      asked = true;
      return UNCHECKED;
    },
  });
  if (!asked) return decision;
  const outcome = await check();
  return decide({ ...facts, checkArguments: () => outcome });
};

type ReadTool = (tenant: TenantId, scope: CallerScope, call: Call) => Promise<ActiveTool | null | 'moved'>;

/** Scope and tool of one generation and one state of its reviews: where either moved between the two reads, both are read again. */
const resolve = async (
  scopes: ScopeReader,
  readTool: ReadTool,
  call: Call,
  fresh: boolean,
): Promise<{ readonly scope: CallerScope; readonly tool: ActiveTool | null }> => {
  const scope = await scopes.resolve(call.caller, call.server, fresh);
  const tool = await readTool(call.caller.tenant, scope, call);
  if (tool !== 'moved') return { scope, tool };
  const again = await scopes.resolve(call.caller, call.server, true);
  const found = await readTool(call.caller.tenant, again, call);
  // Moved once more: refused under a fence that has moved too, hence decided again.
  return { scope: again, tool: found === 'moved' ? null : found };
};

/** Asked only where the call is refused already, to say why. */
const currentId = async (
  store: JudgeDeps['store'],
  call: Call,
  scope: CallerScope,
): Promise<ToolId | null> =>
  scope.audience === null || scope.view.active === null
    ? null
    : store.toolId(call.caller.tenant, call.server, scope.audience, toolName(call.node.tool));

const toolReader = (store: JudgeDeps['store']): ReadTool => {
  const tools = createTenantCache<ActiveTool>(TOOLS_KEPT);
  return async (tenant, { view, audience }, { server, node }) => {
    if (view.active === null || audience === null) return null;
    const key = `${view.active.snapshot} ${view.active.reviews} ${node.tool}`;
    const kept = tools.get(tenant, key);
    if (kept !== undefined) return kept;
    const found = await store.tool(tenant, server, audience, node.tool);
    if (found === null) return null;
    const foundKey = `${found.snapshot} ${found.reviews} ${node.tool}`;
    tools.put(tenant, foundKey, found);
    return foundKey === key ? found : 'moved';
  };
};

const DENIED = { allowed: false, policyIds: [] };

const policyFacts = async (
  policies: Policies,
  call: Call,
  { view, policy, audience }: CallerScope,
  tool: ActiveTool | null,
  classification: Classification | null,
): Promise<PolicyFacts> => {
  const { caller, node } = call;
  const ask = (mode: 'autonomous' | 'confirmed') =>
    policy === null || audience === null || tool === null
      ? DENIED
      : policy.authorize({
          tenant: caller.tenant,
          subject: caller.subject,
          roles: caller.roles,
          audience,
          toolId: node.tool,
          effectClass: tool.effectClass,
          mode,
        });
  const autonomous = ask('autonomous');
  const withConfirmation = !autonomous.allowed && ask('confirmed').allowed;
  const bound = view.retained.find(({ generation }) => generation === node.generation);
  const planEpoch = call.policyEpoch ?? bound?.policyEpoch ?? 0;
  const before =
    !autonomous.allowed && !withConfirmation && planEpoch < view.policyEpoch
      ? await policies.ofEpoch(caller.tenant, planEpoch)
      : null;
  return {
    autonomous,
    withConfirmation,
    permittedBefore: before !== null && permitted(before, call),
    classified: classification?.effectClass ?? null,
    hasResourceRule: classification !== null && classification.resourceTemplate !== '*',
  };
};

/** A3: whether the policy that the plan was bound to allowed it, by its own rules and its own classes. */
const permitted = (policy: CompiledPolicy, { caller, node, mode }: Call): boolean => {
  const audience = policy.audienceOf(caller.claims);
  const effectClass = policy.classify(node.tool)?.effectClass;
  if (audience === null || effectClass === undefined) return false;
  const { tenant, subject, roles } = caller;
  return policy.authorize({ tenant, subject, roles, audience, toolId: node.tool, effectClass, mode }).allowed;
};
