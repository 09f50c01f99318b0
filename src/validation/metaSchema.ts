/**
 * V2: checks a schema against the meta-schema of its dialect. The instances here see meta-schemas only, never
 * a schema of a source, so they have no state that one descriptor could leave for the next.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonValue } from '../domain/json.js';
import { type Dialect, describeDialect } from './dialects.js';

const OPTIONS = { strict: false, logger: false, ownProperties: true, strictNumbers: true } as const;
const compiled = new Map<Dialect, ValidateFunction>();

const metaValidator = (dialect: Dialect): ValidateFunction => {
  const known = compiled.get(dialect);
  if (known !== undefined) return known;
  const ajv = dialect === '2020-12' ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS);
  const validate = ajv.getSchema(describeDialect(dialect).dialect);
  if (validate === undefined) throw new Error(`no meta-schema for ${dialect}`);
  compiled.set(dialect, validate);
  return validate;
};

/** @returns the first violation, its pointer relative to the schema; null where there is none */
export const checkMetaSchema = (
  schema: JsonValue,
  dialect: Dialect,
): { pointer: string; message: string } | null => {
  const validate = metaValidator(dialect);
  if (validate(schema) === true) return null;
  const first: ErrorObject | undefined = validate.errors?.[0];
  return { pointer: first?.instancePath ?? '', message: first?.message ?? 'not a schema of this dialect' };
};
