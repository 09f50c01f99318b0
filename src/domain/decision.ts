/**
 * The decision about one call (A1–A6): a function of values, without clock, I/O or randomness. Admission, the gateway
 * and the long random test all ask this one. The first check that fails gives the answer.
 */
import type { EffectClass, ToolVerdict } from './descriptor.js';
import { mayHaveSideEffects } from './descriptor.js';
import type { EndReason } from './endReasons.js';
import type { Code, Details, ReasonOf, Refusal } from './errors.js';
import type { CandidateState } from './generation.js';
import type { AudienceClass, Digest, EpochMs, ToolId } from './ids.js';
import { epochMs } from './ids.js';
import { heldBy, type OpenReview } from './review.js';

/** One call of a plan, as it was bound when the plan was made (A1). */
export interface PlanNode {
  readonly tool: ToolId;
  readonly generation: number;
  readonly descriptor: Digest;
}

/** What the frozen schema and the resource rule say of the arguments. */
export type ArgumentsOutcome =
  | { readonly ok: true; readonly resource: string }
  | { readonly ok: false; readonly refusal: Refused };

/** What the policy says of this call. */
export interface PolicyFacts {
  /** For a call by a program alone. */
  readonly autonomous: { readonly allowed: boolean; readonly policyIds: readonly string[] };
  /** Whether a person's confirmation of this very call would be enough. */
  readonly withConfirmation: boolean;
  /** Whether the policy of the epoch that the plan is bound to allowed it. Only looked at where today's does not. */
  readonly permittedBefore: boolean;
  /** Today's reviewed class of the tool; null without a classification. */
  readonly classified: EffectClass | null;
  /** Whether today's classification computes a resource that an effectful call may name. */
  readonly hasResourceRule: boolean;
}

export interface DecisionFacts {
  /** Fixed once for the whole decision. */
  readonly now: EpochMs;
  readonly node: PlanNode;
  /** 'confirmed' asks to be judged as a call that a person confirmed. */
  readonly mode: 'autonomous' | 'confirmed';
  readonly caller: {
    readonly subject: string;
    /** As the policy's audience rules prove it from the token; null where none does (S4). */
    readonly audience: AudienceClass | null;
    /** Whether the token itself is bound to the holder's key. */
    readonly bound: boolean;
  };
  /** Whether an effectful tool needs such a token. */
  readonly requireBoundTokens: boolean;
  /** 0 where no policy was ever published. */
  readonly policyEpoch: number;
  readonly server: { readonly closedReason: string | null; readonly trustVersion: number } | null;
  readonly active: {
    readonly generation: number;
    readonly policyEpoch: number;
    /** Of the registration that it was scanned under. */
    readonly trustVersion: number;
    readonly freshUntil: EpochMs;
  } | null;
  readonly retained: readonly {
    readonly generation: number;
    readonly state: 'ELIGIBLE' | 'QUARANTINED';
    readonly expires: EpochMs;
  }[];
  /** The highest number that was ever promoted for this audience. */
  readonly newestGeneration: number;
  readonly latestScan: { readonly state: CandidateState; readonly reason: EndReason | null } | null;
  readonly revocations: readonly { readonly kind: string; readonly target: string }[];
  /** What the active generation holds under the node's tool id. */
  readonly tool: {
    readonly name: string;
    readonly descriptor: Digest;
    readonly effectClass: EffectClass;
    readonly verdict: ToolVerdict;
    readonly review: OpenReview | null;
  } | null;
  /** Where that is null: the id under which it holds a tool of that name, another contract version. */
  readonly currentId: ToolId | null;
  readonly policy: PolicyFacts;
  /** Pure, and asked at most once: checking arguments is by far the dearest check, and the last. */
  readonly checkArguments: () => ArgumentsOutcome;
}

export interface Allowed {
  readonly decision: 'allowed';
  readonly resource: string;
  readonly effectClass: EffectClass;
  /** Ids of the permits that determined it. */
  readonly policyIds: readonly string[];
  /** The generation that it was judged by: the active one. */
  readonly generation: number;
  /** When what it rests on ends: freshness of the active generation, and of the one that the plan names. */
  readonly expires: EpochMs;
}

export type Refused = { readonly decision: 'refused'; readonly details: Details } & Refusal;
export type Decision = Allowed | Refused;

/** A refusal as a value; the pair is checked against the closed table. */
export const refused = <C extends Code>(code: C, reason: ReasonOf<C>, details: Details = {}): Refused =>
  ({ decision: 'refused', code, reason, details }) as Refused;

/** A1–A6, in the order of the checks: the first one that fails is the answer. */
export const decide = (facts: DecisionFacts): Decision => {
  const refusal = refuseScope(facts) ?? refuseGeneration(facts);
  if (refusal !== null) return refusal;
  const { active, tool, node } = facts;
  // Both were checked above; said again here for the compiler, and refusing is the safe reading.
  if (active === null) return refused('INCOMPLETE_DISCOVERY', 'NO_ACTIVE_GENERATION');
  if (tool === null) return missingTool(facts, active.generation);

  const stopped =
    refuseTool(facts, tool, active.generation) ?? refuseRevoked(facts, tool.name) ?? refuseUnreviewed(tool);
  if (stopped !== null) return stopped;
  // Exposure (rollout) is decided here, between revocation and policy. Every active tool is exposed.
  const denied = refuseEffect(facts, tool.effectClass, active);
  if (denied !== null) return denied;

  const checked = facts.checkArguments();
  if (!checked.ok) return checked.refusal;
  const bound = facts.retained.find(({ generation }) => generation === node.generation);
  return {
    decision: 'allowed',
    resource: checked.resource,
    effectClass: tool.effectClass,
    policyIds: facts.policy.autonomous.policyIds,
    generation: active.generation,
    expires: epochMs(Math.min(active.freshUntil, bound?.expires ?? active.freshUntil)),
  };
};

/** Caller's tenant and audience, then the server. Another tenant's server was not found in the caller's. */
const refuseScope = ({ server, policyEpoch, caller, policy }: DecisionFacts): Refused | null => {
  if (server === null) return refused('NOT_FOUND', 'NO_SUCH_SERVER');
  if (policyEpoch === 0) return refused('POLICY_DENIED', 'NO_POLICY');
  if (caller.audience === null) {
    return policy.permittedBefore
      ? refused('POLICY_REVOKED', 'PERMIT_WITHDRAWN', { policyEpoch })
      : refused('POLICY_DENIED', 'NO_AUDIENCE');
  }
  if (server.closedReason !== null)
    return refused('SERVER_CLOSED', 'CLOSED_BY_OPERATOR', { closed: server.closedReason });
  return null;
};

/** A1: known, active or compatible, and not expired (S7). The descriptor half of "compatible" is `refuseTool`. */
const refuseGeneration = ({
  active,
  latestScan,
  node,
  newestGeneration,
  retained,
  now,
}: DecisionFacts): Refused | null => {
  if (active === null) return withoutGeneration(latestScan);
  const details = { activeGeneration: active.generation };
  const bound = retained.find(({ generation }) => generation === node.generation);
  if (node.generation !== active.generation && bound?.state !== 'ELIGIBLE') {
    return node.generation > newestGeneration
      ? refused('STALE_CATALOG', 'GENERATION_UNKNOWN', details)
      : refused('STALE_CATALOG', 'GENERATION_RETIRED', details);
  }
  // Written such that a time that is no number refuses.
  if (!(active.freshUntil > now) || (bound !== undefined && !(bound.expires > now)))
    return refused('STALE_CATALOG', 'GENERATION_EXPIRED', details);
  return null;
};

/** A3, D4: nothing is active, and the latest scan tells why. */
const withoutGeneration = (latest: DecisionFacts['latestScan']): Refused => {
  const details = latest === null ? {} : { latestScan: { state: latest.state, reason: latest.reason } };
  switch (latest?.state) {
    case 'UNVERSIONED_OBSERVATION':
      return refused('UNVERSIONED_SOURCE', 'NO_REVISION', details);
    case 'INCOMPLETE':
      return refused('INCOMPLETE_DISCOVERY', 'LATEST_SCAN_INCOMPLETE', details);
    case 'QUARANTINED':
      return refused('INCOMPLETE_DISCOVERY', 'LATEST_SCAN_QUARANTINED', details);
    default:
      return refused('INCOMPLETE_DISCOVERY', 'NO_ACTIVE_GENERATION', details);
  }
};

/**
 * A tool that the plan's own generation never held is unknown. One that a later generation lacks was removed, or its
 * contract changed and it has a new number.
 */
const missingTool = ({ node, currentId }: DecisionFacts, activeGeneration: number): Refused => {
  if (node.generation === activeGeneration) return refused('NOT_FOUND', 'NO_SUCH_TOOL', { activeGeneration });
  return currentId === null
    ? refused('STALE_CATALOG', 'TOOL_REMOVED', { activeGeneration })
    : refused('STALE_CATALOG', 'DESCRIPTOR_CHANGED', { activeGeneration, activeTool: currentId });
};

const refuseTool = (
  { node }: DecisionFacts,
  tool: NonNullable<DecisionFacts['tool']>,
  activeGeneration: number,
): Refused | null => {
  if (tool.verdict.status !== 'OK')
    return refused('TOOL_QUARANTINED', 'CONTRACT_CHECK_FAILED', {
      findings: tool.verdict.findings.filter(({ severity }) => severity === 'fault').slice(0, 5),
    });
  if (tool.descriptor !== node.descriptor)
    return refused('STALE_CATALOG', 'DESCRIPTOR_CHANGED', {
      activeGeneration,
      activeDescriptor: tool.descriptor,
    });
  return null;
};

const refuseRevoked = ({ revocations, node, caller }: DecisionFacts, toolName: string): Refused | null => {
  const matches = (kind: string, target?: string): boolean =>
    revocations.some((r) => r.kind === kind && (target === undefined || r.target === target));
  if (matches('tool-name', toolName) || matches('tool-id', node.tool))
    return refused('POLICY_REVOKED', 'REVOKED_TOOL');
  // The view holds revocations of this server only.
  if (matches('server')) return refused('POLICY_REVOKED', 'REVOKED_SERVER');
  if (matches('subject', caller.subject)) return refused('POLICY_REVOKED', 'REVOKED_SUBJECT');
  return null;
};

/** V6: text and hints of an effectful tool are what a reviewer accepted, or what they were when its id was first seen. */
const refuseUnreviewed = (tool: NonNullable<DecisionFacts['tool']>): Refused | null => {
  const review = heldBy(tool);
  if (review === null) return null;
  const details = { review: review.id, changed: review.changed };
  if (review.state === 'refused') return refused('REVIEW_REQUIRED', 'REVIEW_REFUSED', details);
  return refused(
    'REVIEW_REQUIRED',
    review.changed.includes('text') ? 'TEXT_CHANGED' : 'HINTS_CHANGED',
    details,
  );
};

/** A5: the effect class against mode and policy, then the confirmation. */
const refuseEffect = (
  facts: DecisionFacts,
  effectClass: EffectClass,
  active: NonNullable<DecisionFacts['active']>,
): Refused | null => {
  const { policy, policyEpoch, mode, caller, server } = facts;
  const boundEpoch = active.policyEpoch;
  const details = { policyEpoch };
  const rebinding = boundEpoch !== policyEpoch;
  const couldBe = policy.autonomous.allowed || policy.withConfirmation;
  if (!couldBe) {
    // The generation holds the class of its own epoch; the next generation will hold the reviewed one.
    if (rebinding && policy.classified !== null && policy.classified !== effectClass)
      return refused('STALE_CATALOG', 'EPOCH_REBINDING', details);
    if (policy.permittedBefore) return refused('POLICY_REVOKED', 'PERMIT_WITHDRAWN', details);
    return effectClass === 'UNKNOWN'
      ? refused('POLICY_DENIED', 'UNCLASSIFIED_EFFECT', details)
      : refused('POLICY_DENIED', 'NO_PERMIT', details);
  }
  if (mayHaveSideEffects(effectClass)) {
    if (rebinding) return refused('STALE_CATALOG', 'EPOCH_REBINDING', { ...details, boundEpoch });
    if (active.trustVersion !== server?.trustVersion)
      return refused('STALE_CATALOG', 'TRUST_REBINDING', details);
    if (!policy.hasResourceRule) return refused('POLICY_DENIED', 'NO_RESOURCE_RULE', details);
    if (facts.requireBoundTokens && !caller.bound) return refused('PROOF_INVALID', 'UNBOUND_TOKEN');
  }
  // A caller's word is no confirmation: without a record of another person's, both of these are refused.
  if (mode === 'confirmed' || !policy.autonomous.allowed)
    return refused('CONFIRMATION_REQUIRED', 'NOT_CONFIRMED', details);
  return null;
};
