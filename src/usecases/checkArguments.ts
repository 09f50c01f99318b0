/**
 * Arguments against the frozen input schema, and the resource that they name (A1, L1). Validators are kept by tenant,
 * schema digest and dialect: compiling one costs a hundred times what a check does.
 */
import { type ArgumentsOutcome, refused } from '../domain/decision.js';
import { CatalogError } from '../domain/errors.js';
import type { TenantId } from '../domain/ids.js';
import { isJsonObject, type JsonObject, type JsonValue, member } from '../domain/json.js';
import type { Classification } from '../policy/port.js';
import type { ActiveTool } from '../store/admissionStore.js';
import { type ArgumentValidator, compileArguments, SchemaRefused } from '../validation/compileArguments.js';
import { readDialect } from '../validation/dialects.js';
import type { InexactNumber } from './readJson.js';
import { createTenantCache } from './tenantCache.js';

export interface CallArguments {
  /** As the strict reader read them; left out counts as `{}`. */
  readonly value: JsonValue;
  /** With pointers into the arguments. */
  readonly inexact: readonly InexactNumber[];
}

export type ArgumentCheck = (
  tenant: TenantId,
  tool: ActiveTool,
  args: CallArguments,
  classification: Classification | null,
) => ArgumentsOutcome;

const VALIDATORS_KEPT = 2_000;
const MAX_SHOWN = 20;

const not = (refusal: ReturnType<typeof refused>): ArgumentsOutcome => ({ ok: false, refusal });

export const createArgumentCheck = (): ArgumentCheck => {
  const validators = createTenantCache<ArgumentValidator>(VALIDATORS_KEPT);

  const validatorOf = (tenant: TenantId, tool: ActiveTool): ArgumentValidator | null => {
    if (tool.input === null) return null;
    const key = `${tool.input.digest} ${tool.input.dialect}`;
    const kept = validators.get(tenant, key);
    if (kept !== undefined) return kept;
    const dialect = readDialect(tool.input.dialect)?.dialect;
    // The source text went through the strict reader before it was sealed.
    const schema = member(JSON.parse(tool.source) as JsonObject, 'inputSchema');
    if (dialect === undefined || schema === undefined) return null;
    try {
      const validator = compileArguments(schema, dialect);
      validators.put(tenant, key, validator);
      return validator;
    } catch (error) {
      if (error instanceof SchemaRefused) return null;
      throw error;
    }
  };

  return (tenant, tool, { value, inexact }, classification) => {
    if (!isJsonObject(value)) return not(refused('PARAMS_INVALID', 'NOT_AN_OBJECT'));
    if (inexact.length > 0)
      return not(
        refused('PARAMS_INVALID', 'UNSAFE_NUMBER', {
          errors: inexact.slice(0, MAX_SHOWN).map(({ pointer }) => ({ pointer })),
        }),
      );
    const validate = validatorOf(tenant, tool);
    // What passed the checks of its day and does not pass today's is not run (A6).
    if (validate === null) return not(refused('TOOL_QUARANTINED', 'CONTRACT_CHECK_FAILED'));
    const verdict = validate(value);
    if (!verdict.ok) return not(refused('PARAMS_INVALID', verdict.reason, { errors: verdict.errors }));
    if (classification === null) return not(refused('POLICY_DENIED', 'UNCLASSIFIED_EFFECT'));
    try {
      return { ok: true, resource: classification.resourceOf(value) };
    } catch (error) {
      if (error instanceof CatalogError && error.code === 'PARAMS_INVALID')
        return not(refused('PARAMS_INVALID', 'RESOURCE_UNRESOLVED', error.details));
      throw error;
    }
  };
};
