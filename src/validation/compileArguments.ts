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
import { type CompileForm, emitSchema } from './compileForm.js';
import { runWithin } from './deadline.js';
import type { Dialect } from './dialects.js';
import { boundOf, type EvaluationBound, smallForm } from './evaluationBound.js';
import { Report } from './findings.js';
import { LimitExceeded } from './limitExceeded.js';
import {
  type ArgumentLimits,
  type ContractLimits,
  DEFAULT_ARGUMENT_LIMITS,
  DEFAULT_CONTRACT_LIMITS,
} from './limits.js';
import { forgetPatterns } from './patternEngine.js';
import { compileWithAjv, discardInstance } from './validatorEngine.js';

export interface ArgumentError {
  /** RFC 6901, into the arguments. */
  readonly pointer: string;
  readonly keyword: string;
  readonly message: string;
}

/** All but `SCHEMA_MISMATCH` say nothing of the arguments but that they are refused. */
export type ArgumentVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: 'SCHEMA_MISMATCH' | 'TOO_COSTLY' | 'VALIDATION_DEADLINE';
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

/** A refusal that is not about what the schema says. */
export const refuseUnread = (
  reason: 'TOO_COSTLY' | 'VALIDATION_DEADLINE',
  keyword: string,
  message: string,
): ArgumentVerdict => ({ ok: false, reason, errors: [{ pointer: '', keyword, message }] });

const toError = (error: ErrorObject): ArgumentError => ({
  pointer: error.instancePath,
  keyword: error.keyword,
  message: (error.message ?? 'is refused').slice(0, MAX_MESSAGE),
});

const judge = (validate: ValidateFunction, args: JsonValue): ArgumentVerdict => {
  const answer: unknown = validate(args);
  if (answer === true) return { ok: true };
  const errors = answer === false ? (validate.errors ?? []) : [];
  return { ok: false, reason: 'SCHEMA_MISMATCH', errors: errors.slice(0, MAX_ERRORS).map(toError) };
};

const check = (schema: JsonValue, dialect: Dialect, limits: ContractLimits): CheckedSchema => {
  const report = new Report();
  const checked = checkSchema(schema, dialect, '', report, limits);
  if (checked === null) throw new SchemaRefused(report.list());
  return checked;
};

/** Survives a structured clone: what is prepared in one thread may be compiled in another. */
export interface PreparedSchema {
  readonly bound: EvaluationBound;
  /** Null where compiling it could take long. */
  readonly form: CompileForm | null;
}

/** @throws SchemaRefused where the schema does not pass the contract checks */
export const prepareArguments = (
  schema: JsonValue,
  dialect: Dialect,
  limits: ContractLimits = DEFAULT_CONTRACT_LIMITS,
): PreparedSchema => {
  const checked = check(schema, dialect, limits);
  return { bound: boundOf(checked), form: smallForm(checked) };
};

/**
 * V4: the validator of a small schema, with no deadline: only for arguments that are within the limits and of which
 * `isQuick` holds.
 */
export const compileSmall = (form: CompileForm, dialect: Dialect): ArgumentValidator => {
  const validate = compileWithAjv(form, dialect);
  return (args) => {
    try {
      return judge(validate, args);
    } catch (error) {
      return refuseFailure(error);
    }
  };
};

/** Out of stack, or a fault of the validator: of the arguments only this is known, that they did not pass. */
const refuseFailure = (error: unknown): ArgumentVerdict =>
  error instanceof LimitExceeded
    ? refuseUnread('TOO_COSTLY', 'limit', error.message)
    : refuseUnread('TOO_COSTLY', 'failure', 'the validator failed on these arguments');

/** Its first run makes the engine translate the code that was written: part of compiling. */
const compile = (form: CompileForm, dialect: Dialect): ValidateFunction => {
  const validate = compileWithAjv(form, dialect);
  validate({});
  return validate;
};

/**
 * Makes the validator of one schema; it compiles when it is first asked, which the largest schema makes long and
 * nothing here stops: for a thread that can be ended. Keep the result by (schema digest, dialect).
 * @param dialect what the contract check resolved and the snapshot holds, never asked of the schema again
 * @throws SchemaRefused where the schema does not pass the contract checks
 */
export const compileArguments = (
  schema: JsonValue,
  dialect: Dialect,
  limits: ArgumentLimits = DEFAULT_ARGUMENT_LIMITS,
  contract: ContractLimits = DEFAULT_CONTRACT_LIMITS,
): ArgumentValidator => {
  const checked = check(schema, dialect, contract);
  let validate: ValidateFunction | null = null;

  /** What was stopped in the middle of its work may have left caches half written. */
  const discard = (): void => {
    validate = null;
    forgetPatterns();
    discardInstance(dialect);
  };

  const run = (args: JsonValue): ArgumentVerdict => {
    validate ??= compile(emitSchema(checked.graph, checked.root), dialect);
    const compiled = validate;
    const outcome = runWithin(() => judge(compiled, args), limits.deadline);
    if (outcome !== 'late') return outcome.value;
    discard();
    const message = `checking the arguments took more than ${limits.deadline} ms`;
    return refuseUnread('VALIDATION_DEADLINE', 'deadline', message);
  };

  return (args) => {
    const size = checkArgumentLimits(args, limits);
    if (!size.ok) return refuseUnread('TOO_COSTLY', size.limit, size.message);
    try {
      return run(args);
    } catch (error) {
      return refuseFailure(error);
    }
  };
};
