/** V2, V3: what is handed to the validator constrains as the source's schema does, for schemas at random. */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import { checkSchema } from '../../../src/validation/checkSchema.js';
import { compileArguments } from '../../../src/validation/compileArguments.js';
import type { Dialect } from '../../../src/validation/dialects.js';

const NAMES = ['a', 'b', 'c/d', 'e~f', '100%', 'ü'] as const;
const name = fc.constantFrom(...NAMES);
const value: fc.Arbitrary<JsonValue> = fc.letrec<{ any: JsonValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(null, true, 0, 1, 2.5, 'x', 'xy'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(name, tie('any'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).any;

/** RFC 6901 §6: escaped, then percent-encoded. */
const fragment = (key: string): string => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

const schemaOf = (dialect: Dialect): fc.Arbitrary<JsonObject> => {
  const { sub } = fc.letrec<{ sub: JsonValue }>((tie) => ({
    sub: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonValue>(
        true,
        false,
        {},
        { type: 'object' },
        { type: ['string', 'null'] },
        { type: 'integer' },
      ),
      fc.record({ const: value }),
      fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
      fc.record(
        { minimum: fc.constantFrom(0, 1), multipleOf: fc.constantFrom(1, 2) },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.record(
        { pattern: fc.constantFrom('^x', 'y$'), maxLength: fc.constantFrom(1, 2) },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.record(
        { required: fc.uniqueArray(name, { maxLength: 2 }), uniqueItems: fc.boolean() },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.record({ $ref: name.map((key) => `#/$defs/${fragment(key)}`) }),
      fc.record({ allOf: fc.array(tie('sub'), { minLength: 1, maxLength: 2 }) }),
      fc.record(
        { anyOf: fc.array(tie('sub'), { minLength: 1, maxLength: 2 }), not: tie('sub') },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.record(
        { oneOf: fc.array(tie('sub'), { minLength: 1, maxLength: 2 }), if: tie('sub'), else: tie('sub') },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.record(
        {
          properties: fc.dictionary(name, tie('sub'), { maxKeys: 3, noNullPrototype: true }),
          additionalProperties: tie('sub'),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.record(
        { patternProperties: fc.record({ '^a': tie('sub') }), propertyNames: tie('sub') },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.record({ items: tie('sub'), contains: tie('sub') }, { requiredKeys: [], noNullPrototype: true }),
      dialect === '2020-12'
        ? fc.record(
            {
              prefixItems: fc.array(tie('sub'), { minLength: 1, maxLength: 2 }),
              unevaluatedProperties: fc.boolean(),
              unevaluatedItems: fc.boolean(),
              dependentSchemas: fc.dictionary(name, tie('sub'), { maxKeys: 2, noNullPrototype: true }),
              properties: fc.dictionary(name, tie('sub'), { maxKeys: 2, noNullPrototype: true }),
            },
            { requiredKeys: [], noNullPrototype: true },
          )
        : fc.record(
            {
              items: fc.array(tie('sub'), { minLength: 1, maxLength: 2 }),
              additionalItems: tie('sub'),
              dependencies: fc.dictionary(name, tie('sub'), { maxKeys: 2, noNullPrototype: true }),
            },
            { requiredKeys: [], noNullPrototype: true },
          ),
    ),
  }));
  const defs = fc.record(
    Object.fromEntries(NAMES.map((key) => [key, sub])) as Record<string, fc.Arbitrary<JsonValue>>,
  );
  return fc
    .tuple(sub, sub, defs)
    .map(([first, second, $defs]) => ({ allOf: [first], properties: { a: second }, $defs }));
};

const PLAIN = {
  strict: false,
  logger: false,
  ownProperties: true,
  strictNumbers: true,
  validateFormats: false,
} as const;

const answerOf = (validate: (data: unknown) => unknown, sample: JsonValue): boolean | null => {
  try {
    return validate(sample) === true;
  } catch (error) {
    if (error instanceof ReferenceError) return null;
    throw error;
  }
};

describe.each<Dialect>(['2020-12', 'draft-07'])('%s', (dialect) => {
  it('V3 whatever passes the check compiles, and answers as the plain validator does', () => {
    let compared = 0;
    fc.assert(
      fc.property(schemaOf(dialect), fc.array(value, { minLength: 3, maxLength: 5 }), (schema, samples) => {
        if (checkSchema(schema, dialect) === null) return;
        const ours = compileArguments(schema, dialect);
        const plain = (dialect === '2020-12' ? new Ajv2020(PLAIN) : new Ajv(PLAIN)).compile(
          structuredClone(schema),
        );
        for (const sample of samples) {
          const expected = answerOf(plain, sample);
          // For some schemas the plain validator writes code that fails when it runs.
          if (expected === null) continue;
          const verdict = ours(sample);
          if (!verdict.ok) expect(verdict.reason).toBe('SCHEMA_MISMATCH');
          expect(verdict.ok).toBe(expected);
          compared += 1;
        }
      }),
      { numRuns: 80 },
    );
    expect(compared).toBeGreaterThan(60);
    // Each run compiles two validators.
  }, 120_000);
});
