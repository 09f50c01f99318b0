/**
 * A1: the check of a call's arguments against the frozen input schema, or of a result against the output
 * schema. Whatever goes wrong while it runs means refused (A6): a limit, the deadline, an exception, and an
 * answer that is not a boolean.
 */
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Finding } from '../domain/descriptor.js';
import type { JsonValue } from '../domain/json.js';
import { checkArgumentLimits } from './argumentLimits.js';
import { type CheckedSchema, checkSchema } from './checkSchema.js';
import { emitSchema } from './compileForm.js';
import { runWithin } from './deadline.js';
import type { Dialect } from './dialects.js';
import { Report } from './findings.js';
import { LimitExceeded } from './limitExceeded.js';
import { type ArgumentLimits, DEFAULT_ARGUMENT_LIMITS } from './limits.js';
import { forgetPatterns } from './patternEngine.js';
import { compileWithAjv, discardInstance } from './validatorEngine.js';

export interface ArgumentError {
  /** RFC 6901, into the arguments. */
  readonly pointer: string;
  readonly keyword: string;
  readonly message: string;
}

/** `TOO_COSTLY`: a limit or the deadline, so that nothing is known of the arguments but that they are refused. */
export type ArgumentVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: 'SCHEMA_MISMATCH' | 'TOO_COSTLY';
      readonly errors: readonly ArgumentError[];
    };

export type ArgumentValidator = (args: JsonValue) => ArgumentVerdict;

/** Thrown for a schema that the contract checks refuse: it belongs to a quarantined tool. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
  readonly findings: readonly Finding[];
  constructor(findings: readonly Finding[]) {
    super(`the schema does not pass the contract checks: ${findings.map((f) => f.code).join(', ')}`);
    this.findings = findings;
  }
}

const MAX_ERRORS = 20;
const MAX_MESSAGE = 300;
/** Steps that are surely done long before the watchdog thread would have started. */
const QUICK = 1_000_000;

const tooCostly = (keyword: string, message: string): ArgumentVerdict => ({
  ok: false,
  reason: 'TOO_COSTLY',
  errors: [{ pointer: '', keyword, message }],
});

const toError = (error: ErrorObject): ArgumentError => ({
  pointer: error.instancePath,
  keyword: error.keyword,
  message: (error.message ?? 'is refused').slice(0, MAX_MESSAGE),
});

const compileWithin = (checked: CheckedSchema, limits: ArgumentLimits): ValidateFunction => {
  const form = emitSchema(checked.graph, checked.root);
  const compiled = runWithin(() => compileWithAjv(form, checked.dialect), compileDeadline(limits));
  if (compiled === 'late') {
    discardInstance(checked.dialect);
    throw new LimitExceeded('the schema took too long to compile');
  }
  return compiled.value;
};

/** Compiling happens once, so it may take far longer than a check. */
const compileDeadline = (limits: ArgumentLimits): ArgumentLimits['deadline'] =>
  Math.max(limits.deadline, 2_000) as ArgumentLimits['deadline'];

const judge = (validate: ValidateFunction, args: JsonValue): ArgumentVerdict => {
  const answer: unknown = validate(args);
  if (answer === true) return { ok: true };
  const errors = answer === false ? (validate.errors ?? []) : [];
  return { ok: false, reason: 'SCHEMA_MISMATCH', errors: errors.slice(0, MAX_ERRORS).map(toError) };
};

/**
 * Makes the validator of one schema. Costs about a millisecond: keep the result by (schema digest, dialect).
 * @param dialect what the contract check resolved and the snapshot holds, never asked of the schema again
 * @throws SchemaRefused where the schema does not pass the contract checks
 */
export const compileArguments = (
  schema: JsonValue,
  dialect: Dialect,
  limits: ArgumentLimits = DEFAULT_ARGUMENT_LIMITS,
): ArgumentValidator => {
  const report = new Report();
  const checked = checkSchema(schema, dialect, '', report);
  if (checked === null) throw new SchemaRefused(report.list());
  let validate: ValidateFunction | null = null;

  const run = (args: JsonValue, size: { bytes: number; nodes: number }): ArgumentVerdict => {
    validate ??= compileWithin(checked, limits);
    const compiled = validate;
    const steps = checked.cost.paths * size.nodes + checked.patternSize * size.bytes;
    if (!checked.cost.recursive && steps <= QUICK) return judge(compiled, args);
    const outcome = runWithin(() => judge(compiled, args), limits.deadline);
    if (outcome !== 'late') return outcome.value;
    // What was stopped in the middle of its work may have left caches half written.
    validate = null;
    forgetPatterns();
    discardInstance(checked.dialect);
    return tooCostly('deadline', `checking the arguments took more than ${limits.deadline} ms`);
  };

  return (args) => {
    const size = checkArgumentLimits(args, limits);
    if (!size.ok) return tooCostly(size.limit, size.message);
    try {
      return run(args, size);
    } catch (error) {
      if (error instanceof LimitExceeded) return tooCostly('limit', error.message);
      // Out of stack, or a fault of the validator: of the arguments only this is known, that they did not pass.
      return tooCostly(validate === null ? 'compile' : 'failure', 'the validator failed on these arguments');
    }
  };
};
