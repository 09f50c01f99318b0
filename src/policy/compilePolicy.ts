/**
 * Turns a validated bundle into the functions that admission calls: indexed by tool id, so that a decision costs the
 * same under ten permits or ten thousand.
 */
import type { AudienceClass, ToolId } from '../domain/ids.js';
import type { JsonObject } from '../domain/json.js';
import { digestJson } from '../proof/digest.js';
import { resolvePointer } from '../proof/jsonPointer.js';
import { bundleDigest, withoutUndefined } from './bundle.js';
import type {
  AudienceRule,
  Authorization,
  Classification,
  CompiledPolicy,
  PermitRule,
  PolicyBundle,
} from './port.js';
import { compileResourceRule } from './resourceRule.js';

const DENIED: Authorization = { allowed: false, policyIds: [] };

/** @param epoch the number under which storage published this bundle for its tenant */
export const compilePolicy = (bundle: PolicyBundle, epoch: number): CompiledPolicy => {
  const classifications = new Map<string, Classification>();
  for (const [id, tool] of Object.entries(bundle.tools)) {
    const rule = compileResourceRule(tool.resource);
    classifications.set(id, {
      effectClass: tool.effectClass,
      resourceTemplate: rule.template,
      resourceOf: rule.resolve,
      shortDescription: tool.shortDescription ?? null,
    });
  }
  const permits = permitsByTool(bundle.permits);

  return {
    epoch,
    digest: bundleDigest(bundle),
    audienceDigest: digestJson(withoutUndefined(bundle.audiences)),
    audienceClasses: [...new Set<AudienceClass>(bundle.audiences.map((rule) => rule.audienceClass))],
    audienceOf: (claims) => bundle.audiences.find((rule) => holds(rule, claims))?.audienceClass ?? null,
    classify: (toolId) => classifications.get(toolId) ?? null,
    authorize: ({ roles, audience, toolId, effectClass, mode }) => {
      // UNKNOWN is never classified, so it ends here; so does a class that was reviewed anew since the generation.
      if (classifications.get(toolId)?.effectClass !== effectClass) return DENIED;
      const policyIds = (permits.get(toolId) ?? [])
        .filter(
          (permit) =>
            permit.roles.some((role) => roles.includes(role)) &&
            (permit.audienceClasses?.includes(audience) ?? true) &&
            (permit.modes?.includes(mode) ?? true),
        )
        .map((permit) => permit.id);
      return policyIds.length > 0 ? { allowed: true, policyIds } : DENIED;
    },
  };
};

const permitsByTool = (permits: readonly PermitRule[]): ReadonlyMap<string, readonly PermitRule[]> => {
  const byTool = new Map<ToolId, PermitRule[]>();
  for (const permit of permits) {
    for (const tool of new Set(permit.tools)) {
      const found = byTool.get(tool);
      if (found === undefined) byTool.set(tool, [permit]);
      else found.push(permit);
    }
  }
  return byTool;
};

const holds = ({ when }: AudienceRule, claims: Readonly<Record<string, unknown>>): boolean => {
  // Claims are the payload of a JWT, hence JSON.
  const document = claims as JsonObject;
  const roles = resolvePointer(document, '/roles');
  return (
    (when.anyRole?.some((role) => Array.isArray(roles) && roles.includes(role)) ?? true) &&
    Object.entries(when.claims ?? {}).every(([pointer, value]) => resolvePointer(document, pointer) === value)
  );
};
