/**
 * What the rest of Genlock asks of a policy, whatever language it is written in. A policy is one reviewed bundle
 * under one epoch; nothing of it comes from a tool source (V0, V5).
 */
import type { EffectClass } from '../domain/descriptor.js';
import type { AudienceClass, Digest, TenantId, ToolId } from '../domain/ids.js';

/** How a call came about: by a program alone, or with a person's confirmation of this very call (A5). */
export const CALL_MODES = ['autonomous', 'confirmed'] as const;
export type CallMode = (typeof CALL_MODES)[number];

/** Effect classes that a reviewer can give; UNKNOWN is the absence of one. */
export type ReviewedEffectClass = Exclude<EffectClass, 'UNKNOWN'>;

export const BUNDLE_SCHEMA = 'policyBundle.v1';

/** S4: verified claims that prove an audience class. Every condition that is given must hold. */
export interface AudienceRule {
  readonly audienceClass: AudienceClass;
  readonly when: {
    /** At least one of these is in the token's `roles`. */
    readonly anyRole?: readonly string[] | undefined;
    /** JSON Pointer into the claims → the value that stands there. */
    readonly claims?: Readonly<Record<string, string | number | boolean>> | undefined;
  };
}

export interface ToolRule {
  readonly effectClass: ReviewedEffectClass;
  /** Template of the resource; see resourceRule.ts. */
  readonly resource: string;
  /** Derived text for models. It replaces nothing of the source's (S3). */
  readonly shortDescription?: string | undefined;
}

export interface PermitRule {
  readonly id: string;
  readonly roles: readonly string[];
  /** Stable ids, contract version included: `reserve@2` needs a new permit (A5). */
  readonly tools: readonly ToolId[];
  /** Default: any. */
  readonly audienceClasses?: readonly AudienceClass[] | undefined;
  /** Default: every mode. */
  readonly modes?: readonly CallMode[] | undefined;
}

/** A validated bundle, as it is stored and digested. */
export interface PolicyBundle {
  readonly schema: typeof BUNDLE_SCHEMA;
  /** The first rule that holds gives the class. */
  readonly audiences: readonly AudienceRule[];
  readonly tools: Readonly<Record<string, ToolRule>>;
  readonly permits: readonly PermitRule[];
}

export interface Classification {
  readonly effectClass: ReviewedEffectClass;
  readonly resourceTemplate: string;
  /**
   * The resource of a call.
   * @param args arguments that the frozen schema accepted
   * @throws CatalogError PARAMS_INVALID/RESOURCE_UNRESOLVED
   */
  resourceOf(args: unknown): string;
  readonly shortDescription: string | null;
}

export interface AuthorizationRequest {
  readonly tenant: TenantId;
  readonly subject: string;
  readonly roles: readonly string[];
  readonly audience: AudienceClass;
  readonly toolId: ToolId;
  /** As the generation holds it. One that differs from today's classification is refused. */
  readonly effectClass: EffectClass;
  readonly mode: CallMode;
}

export interface Authorization {
  readonly allowed: boolean;
  /** Ids of the permits that allowed it; empty where refused. */
  readonly policyIds: readonly string[];
}

/** Immutable; cached by (tenant, epoch). */
export interface CompiledPolicy {
  readonly epoch: number;
  readonly digest: Digest;
  /** Digest of the audience rules alone: where they changed, a new scan is due (P1). */
  readonly audienceDigest: Digest;
  /** Every class that a rule can give. */
  readonly audienceClasses: readonly AudienceClass[];
  /** @param claims of a token that verified, nothing else (S4) */
  audienceOf(claims: Readonly<Record<string, unknown>>): AudienceClass | null;
  /** null without a reviewed classification: the tool's class is UNKNOWN, which counts as destructive (V5). */
  classify(toolId: ToolId): Classification | null;
  /** Default deny, for READ as well. */
  authorize(request: AuthorizationRequest): Authorization;
}
