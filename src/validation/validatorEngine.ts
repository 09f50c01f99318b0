/**
 * The one place where ajv compiles a schema of a source. An instance is shared by some compilations, since a
 * new one costs ten times what a compilation does, then thrown away, since it keeps all that it ever compiled.
 * Compile forms have no ids, so there is nothing in it that one schema could leave for the next.
 */
import { Ajv, type FuncKeywordDefinition, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonValue } from '../domain/json.js';
import type { CompileForm } from './compileForm.js';
import type { Dialect } from './dialects.js';
import { equalityKey } from './equalityKey.js';
import { FORMATS } from './formats.js';
import { LimitExceeded } from './limitExceeded.js';
import { DEFAULT_ARGUMENT_LIMITS } from './limits.js';
import { isMultipleOf } from './multipleOf.js';
import { compilePattern } from './patternEngine.js';

/** Subschemas, and one more for each compilation. */
const COMPILED_PER_INSTANCE = 4_000;

const OPTIONS: Options = {
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  unicodeRegExp: true,
  allErrors: false,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  validateFormats: true,
  validateSchema: false,
  addUsedSchema: false,
  // Copies of what a reference leads to would multiply the code along the references.
  inlineRefs: false,
  // Without them a schema that names a meta-schema's URI finds nothing.
  meta: false,
  logger: false,
  formats: FORMATS,
  code: { regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: 'compilePattern' }) },
};

const primitive = (value: JsonValue): boolean => typeof value !== 'object' || value === null;

const memberOf = (allowed: readonly JsonValue[]): ((data: JsonValue) => boolean) => {
  const keys = new Set(allowed.map(equalityKey));
  const plain = allowed.every(primitive);
  return (data) => (plain && !primitive(data) ? false : keys.has(equalityKey(data)));
};

const hasUniqueItems = (data: readonly JsonValue[]): boolean => {
  const { uniqueItemsLength } = DEFAULT_ARGUMENT_LIMITS;
  if (data.length > uniqueItemsLength) {
    throw new LimitExceeded(`more than ${uniqueItemsLength} items that have to be unique`);
  }
  return new Set(data.map(equalityKey)).size === data.length;
};

/** Keywords whose own implementation takes quadratic time, or rounds. */
const REPLACED: readonly FuncKeywordDefinition[] = [
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (wanted: boolean) => (wanted ? hasUniqueItems : () => true),
    error: { message: 'must NOT have duplicate items' },
  },
  {
    keyword: 'enum',
    schemaType: 'array',
    compile: (allowed: readonly JsonValue[]) => memberOf(allowed),
    error: { message: 'must be equal to one of the allowed values' },
  },
  {
    keyword: 'const',
    compile: (value: JsonValue) => memberOf([value]),
    error: { message: 'must be equal to constant' },
  },
  {
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor),
    error: { message: 'must be a multiple of the given number' },
  },
];

interface Instance {
  readonly ajv: Ajv;
  compiled: number;
}

/** By dialect, and by whether the schema asks what its other parts have evaluated. */
const instances = new Map<string, Instance>();

const keyOf = (dialect: Dialect, tracks: boolean): string => `${dialect} ${tracks}`;

const instanceFor = (dialect: Dialect, tracks: boolean): Instance => {
  const current = instances.get(keyOf(dialect, tracks));
  if (current !== undefined && current.compiled < COMPILED_PER_INSTANCE) return current;
  const ajv: Ajv = dialect === '2020-12' ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS);
  // Ajv2020 tracks for every schema. That keeps it from stopping at the first branch that fits, and for some
  // schemas it then writes code that fails; so only those pay for it that have unevaluated… keywords.
  ajv.opts.unevaluated = tracks;
  for (const definition of REPLACED) {
    ajv.removeKeyword(String(definition.keyword));
    ajv.addKeyword(definition);
  }
  const fresh: Instance = { ajv, compiled: 0 };
  instances.set(keyOf(dialect, tracks), fresh);
  return fresh;
};

/** An instance that was stopped half-way, or that threw, is not used again; of two it does not matter which. */
export const discardInstance = (dialect: Dialect): void => {
  for (const tracks of [false, true]) instances.delete(keyOf(dialect, tracks));
};

/** @throws whatever ajv throws; a checked schema gives it no cause to */
export const compileWithAjv = (
  { schema, subschemas, tracks }: CompileForm,
  dialect: Dialect,
): ValidateFunction => {
  const instance = instanceFor(dialect, tracks);
  instance.compiled += subschemas + 1;
  try {
    return instance.ajv.compile(schema);
  } catch (error) {
    discardInstance(dialect);
    throw error;
  } finally {
    instance.ajv.removeSchema(schema);
  }
};
