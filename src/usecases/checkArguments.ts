/**
 * Arguments against the frozen input schema, and the resource that they name (A1, L1). What is proven short runs here
 * and now; anything else runs in a thread (V4). Schemas are kept by tenant, digest and dialect.
 */
import { type ArgumentsOutcome, refused } from '../domain/decision.js';
import { CatalogError } from '../domain/errors.js';
import type { TenantId } from '../domain/ids.js';
import { isJsonObject, type JsonValue } from '../domain/json.js';
import type { Classification } from '../policy/port.js';
import type { ActiveTool } from '../store/admissionStore.js';
import { checkArgumentLimits } from '../validation/argumentLimits.js';
import type { SchemaTask } from '../validation/argumentThread.js';
import type { ArgumentThreads } from '../validation/argumentThreads.js';
import {
  type ArgumentValidator,
  type ArgumentVerdict,
  compileSmall,
  refuseUnread,
} from '../validation/compileArguments.js';
import { readDialect } from '../validation/dialects.js';
import { type EvaluationBound, isQuick } from '../validation/evaluationBound.js';
import type { InexactNumber } from './readJson.js';
import { createTenantCache } from './tenantCache.js';

export interface CallArguments {
  /** As the strict reader read them; left out counts as `{}`. */
  readonly value: JsonValue;
  /** With pointers into the arguments. */
  readonly inexact: readonly InexactNumber[];
}

/** @throws CatalogError OVERLOADED/VALIDATION_QUEUE */
export type ArgumentCheck = (
  tenant: TenantId,
  tool: ActiveTool,
  args: CallArguments,
  classification: Classification | null,
) => Promise<ArgumentsOutcome>;

interface KnownSchema {
  readonly bound: EvaluationBound;
  /** Null where every check of it is for a thread. */
  readonly small: ArgumentValidator | null;
}

const SCHEMAS_KEPT = 2_000;
const MAX_SHOWN = 20;

const not = (refusal: ReturnType<typeof refused>): ArgumentsOutcome => ({ ok: false, refusal });

const taskOf = (tool: ActiveTool): SchemaTask | null => {
  const dialect = tool.input === null ? undefined : readDialect(tool.input.dialect)?.dialect;
  if (tool.input === null || dialect === undefined) return null;
  const key = `${tool.input.digest} ${dialect}`;
  return { key, tool: tool.source, part: 'inputSchema', dialect };
};

export const createArgumentCheck = (threads: ArgumentThreads): ArgumentCheck => {
  const schemas = createTenantCache<KnownSchema | 'refused'>(SCHEMAS_KEPT);

  const schemaOf = async (
    tenant: TenantId,
    task: SchemaTask,
  ): Promise<KnownSchema | 'refused' | 'stopped'> => {
    const kept = schemas.get(tenant, task.key);
    if (kept !== undefined) return kept;
    const prepared = await threads.prepare(tenant, task);
    if (prepared === 'stopped') return prepared;
    const { key, dialect } = task;
    const known =
      prepared === 'refused'
        ? prepared
        : {
            bound: prepared.bound,
            small: prepared.form === null ? null : compileSmall(prepared.form, dialect),
          };
    schemas.put(tenant, key, known);
    return known;
  };

  const judge = async (
    tenant: TenantId,
    task: SchemaTask,
    args: JsonValue,
  ): Promise<ArgumentVerdict | 'refused'> => {
    const size = checkArgumentLimits(args);
    if (!size.ok) return refuseUnread('TOO_COSTLY', size.limit, size.message);
    const schema = await schemaOf(tenant, task);
    if (schema === 'refused') return schema;
    if (schema === 'stopped')
      return refuseUnread('VALIDATION_DEADLINE', 'deadline', 'reading the schema took too much');
    if (schema.small !== null && isQuick(schema.bound, size)) return schema.small(args);
    // Of the tenant, like everything that is kept (S4).
    return threads.judge(tenant, { ...task, key: `${tenant} ${task.key}`, args });
  };

  return async (tenant, tool, { value, inexact }, classification) => {
    if (!isJsonObject(value)) return not(refused('PARAMS_INVALID', 'NOT_AN_OBJECT'));
    if (inexact.length > 0)
      return not(
        refused('PARAMS_INVALID', 'UNSAFE_NUMBER', {
          errors: inexact.slice(0, MAX_SHOWN).map(({ pointer }) => ({ pointer })),
        }),
      );
    const task = taskOf(tool);
    const verdict = task === null ? 'refused' : await judge(tenant, task, value);
    // What passed the checks of its day and does not pass today's is not run (A6).
    if (verdict === 'refused') return not(refused('TOOL_QUARANTINED', 'CONTRACT_CHECK_FAILED'));
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
