/** A1, V2–V4, V7: arguments against a schema, also one that was written to mislead the validator. */
import { describe, expect, it } from 'vitest';
import { durationMs } from '../../../src/domain/ids.js';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import { compileArguments, SchemaRefused } from '../../../src/validation/compileArguments.js';
import type { Dialect } from '../../../src/validation/dialects.js';
import { DEFAULT_ARGUMENT_LIMITS } from '../../../src/validation/limits.js';

const accepts = (schema: JsonValue, args: JsonValue, dialect: Dialect = '2020-12'): boolean =>
  compileArguments(schema, dialect)(args).ok;
const json = (text: string): JsonObject => JSON.parse(text);

describe('answers', () => {
  it('A1 says which argument is wrong, by pointer and keyword', () => {
    const schema = { type: 'object', properties: { 'a/b': { type: 'array', items: { type: 'integer' } } } };
    expect(compileArguments(schema, '2020-12')({ 'a/b': [1, 'x'] })).toEqual({
      ok: false,
      reason: 'SCHEMA_MISMATCH',
      errors: [{ pointer: '/a~1b/1', keyword: 'type', message: 'must be integer' }],
    });
  });

  it('A1 gives at most 20 errors', () => {
    const anyOf = Array.from({ length: 50 }, (_, i) => ({ const: i }));
    const verdict = compileArguments({ properties: { a: { anyOf } } }, '2020-12')({ a: 'x' });
    expect(verdict.ok ? [] : verdict.errors).toHaveLength(20);
  });

  it.each<[string, JsonValue, JsonValue, boolean]>([
    ['a string is not coerced', { properties: { n: { type: 'integer' } } }, { n: '1' }, false],
    ['1.0 is an integer', { properties: { n: { type: 'integer' } } }, { n: 1.0 }, true],
    ['0.3 is a multiple of 0.1', { properties: { n: { multipleOf: 0.1 } } }, { n: 0.3 }, true],
    ['0.35 is none of 0.1', { properties: { n: { multipleOf: 0.1 } } }, { n: 0.35 }, false],
    ['1e-20 is none of 1', { properties: { n: { multipleOf: 1 } } }, { n: 1e-20 }, false],
    ['1e300 is one of 1e-5', { properties: { n: { multipleOf: 1e-5 } } }, { n: 1e300 }, true],
    [
      'members in another order are equal',
      { properties: { n: { const: { a: 1, b: [2] } } } },
      { n: { b: [2], a: 1 } },
      true,
    ],
    ['1 is not "1"', { properties: { n: { enum: ['1'] } } }, { n: 1 }, false],
    ['0 is -0', { properties: { n: { const: 0 } } }, { n: -0 }, true],
    [
      'equal objects are duplicates',
      { properties: { n: { uniqueItems: true } } },
      {
        n: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
      false,
    ],
    [
      'true and 1 are different',
      { properties: { n: { uniqueItems: true } } },
      { n: [1, true, '1', [1]] },
      true,
    ],
    [
      'uniqueItems: false asks for nothing',
      { properties: { n: { uniqueItems: false } } },
      { n: [1, 1] },
      true,
    ],
    ['formats are enforced', { properties: { n: { format: 'date-time' } } }, { n: 'yesterday' }, false],
    ['unknown formats are not', { properties: { n: { format: 'uint64' } } }, { n: 'x' }, true],
    ['nullable is no keyword', { properties: { n: { type: 'string', nullable: true } } }, { n: null }, false],
    ['a closed object is closed', { properties: { a: {} }, additionalProperties: false }, { b: 1 }, false],
    ['false allows nothing', { properties: { a: false } }, { a: 1 }, false],
    [
      'prefixItems',
      { properties: { a: { prefixItems: [{ type: 'string' }], items: false } } },
      { a: ['x', 1] },
      false,
    ],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1 }, false],
    [
      'unevaluated across a reference',
      { $ref: '#/$defs/x', unevaluatedProperties: false, $defs: { x: { properties: { a: {} } } } },
      { a: 1 },
      true,
    ],
    [
      'unevaluated beyond a reference',
      { $ref: '#/$defs/x', unevaluatedProperties: false, $defs: { x: { properties: { a: {} } } } },
      { b: 1 },
      false,
    ],
    [
      'if, then, else',
      // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
      { if: { required: ['a'] }, then: { required: ['b'] }, else: { required: ['c'] } },
      { a: 1 },
      false,
    ],
    // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
    ['then without if', { then: { required: ['b'] } }, {}, true],
    ['contains', { properties: { a: { contains: { const: 1 }, minContains: 2 } } }, { a: [1, 2] }, false],
    [
      'a boolean target of a reference',
      { properties: { a: { $ref: '#/$defs/no' } }, $defs: { no: false } },
      { a: 1 },
      false,
    ],
  ])('V2 %s', (_, schema, args, expected) => {
    expect(accepts(schema, args)).toBe(expected);
  });

  it.each<[string, JsonObject, JsonObject, boolean]>([
    ['#/$defs/a~1b%25', { $defs: { 'a/b%': { type: 'string' } } }, { a: 1 }, false],
    [
      '#/properties/b',
      { properties: { b: { type: 'string' }, a: { $ref: '#/properties/b' } } },
      { a: 1 },
      false,
    ],
    ['#x', { $defs: { d: { $anchor: 'x', type: 'string' } } }, { a: 1 }, false],
    ['inner#/$defs/d', { $defs: { i: { $id: 'inner', $defs: { d: { type: 'string' } } } } }, { a: 1 }, false],
    ['#/elsewhere/d', { elsewhere: { d: { type: 'string' } } }, { a: 'x' }, true],
  ])('V3 what %s leads to is applied', ($ref, more, args, expected) => {
    expect(accepts({ type: 'object', properties: { a: { $ref } }, ...more }, args)).toBe(expected);
  });

  it('V3 recursive schemas are applied to every level', () => {
    const tree = { type: 'object', properties: { v: { type: 'integer' }, kids: { items: { $ref: '#' } } } };
    expect(accepts(tree, { v: 1, kids: [{ v: 2, kids: [{ v: 3 }] }] })).toBe(true);
    expect(accepts(tree, { v: 1, kids: [{ v: 2, kids: [{ v: 'x' }] }] })).toBe(false);
    const dynamic = {
      $dynamicAnchor: 'n',
      properties: { v: { type: 'integer' }, kid: { $dynamicRef: '#n' } },
    };
    expect(accepts(dynamic, { kid: { kid: { v: 'x' } } })).toBe(false);
  });

  it('V2 draft-07 reads its own keywords', () => {
    const pair = { properties: { p: { items: [{ type: 'string' }], additionalItems: { type: 'integer' } } } };
    expect(accepts(pair, { p: ['a', 1] }, 'draft-07')).toBe(true);
    expect(accepts(pair, { p: ['a', 'b'] }, 'draft-07')).toBe(false);
    const sibling = {
      properties: { a: { $ref: '#/definitions/S', maxLength: 2 } },
      definitions: { S: { type: 'string' } },
    };
    expect(accepts(sibling, { a: 'toolong' }, 'draft-07')).toBe(false);
  });
});

describe('the prototype', () => {
  it('V7 inherited names satisfy nothing', () => {
    for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
      expect(accepts({ type: 'object', required: [name] }, {})).toBe(false);
      expect(accepts({ type: 'object', required: [name] }, json(`{"${name}":1}`))).toBe(true);
    }
    expect(accepts({ properties: { constructor: { type: 'string' } } }, {})).toBe(true);
  });

  it('V7 what a schema says of __proto__ is enforced', () => {
    const args = json('{"__proto__":1}');
    const bad = '{"type":"string"}';
    expect(accepts(json(`{"properties":{"__proto__":${bad}}}`), args)).toBe(false);
    expect(accepts(json(`{"properties":{"__proto__":${bad}}}`), json('{"__proto__":"x"}'))).toBe(true);
    expect(accepts(json(`{"properties":{"__proto__":{}},"additionalProperties":false}`), args)).toBe(true);
    expect(accepts(json(`{"patternProperties":{"__proto__":${bad}}}`), args)).toBe(false);
    expect(
      accepts(json(`{"patternProperties":{"^__proto__$":{}},"properties":{"__proto__":${bad}}}`), args),
    ).toBe(false);
    expect(accepts(json('{"dependentRequired":{"__proto__":["b"]}}'), args)).toBe(false);
    expect(accepts(json('{"dependentSchemas":{"__proto__":{"required":["b"]}}}'), args)).toBe(false);
    expect(accepts(json('{"dependentSchemas":{"__proto__":{"required":["b"]}}}'), {})).toBe(true);
    expect(accepts({ additionalProperties: false }, args)).toBe(false);
    expect(({} as JsonObject)['polluted']).toBeUndefined();
  });
});

describe('state', () => {
  it('V2 two tools with one $id each keep their own schema', () => {
    const first = compileArguments({ $id: 'https://example.com/s', required: ['a'] }, '2020-12');
    const second = compileArguments({ $id: 'https://example.com/s', required: ['b'] }, '2020-12');
    expect([first({ a: 1 }).ok, first({ b: 1 }).ok]).toEqual([true, false]);
    expect([second({ a: 1 }).ok, second({ b: 1 }).ok]).toEqual([false, true]);
  });

  it('V3 the $id of one tool is nothing that another can refer to', () => {
    compileArguments({ $id: 'https://example.com/one', type: 'object' }, '2020-12')({});
    expect(() => compileArguments({ $ref: 'https://example.com/one' }, '2020-12')).toThrow(SchemaRefused);
  });

  it('V2 a schema that is refused is refused again, the same object too', () => {
    const refused: JsonValue[] = [
      { $async: true, type: 'object' },
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
      { allOf: [{ $ref: '#' }] },
    ];
    for (const schema of refused) {
      for (let attempt = 0; attempt < 3; attempt++) {
        expect(() => compileArguments(schema, '2020-12')).toThrow(SchemaRefused);
      }
    }
    expect(accepts({ type: 'object' }, {})).toBe(true);
  });

  it('V2 one schema object compiles any number of times, and is not changed', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: { type: 'string' } },
    };
    const before = JSON.stringify(schema);
    for (let attempt = 0; attempt < 3; attempt++) expect(accepts(schema, { a: 1 })).toBe(false);
    expect(JSON.stringify(schema)).toBe(before);
  });

  it('A1 neither arguments nor defaults are changed', () => {
    const schema = { type: 'object', properties: { a: { default: 1 }, b: { type: 'integer' } } };
    const args = { b: 2, c: 3 };
    expect(accepts(schema, args)).toBe(true);
    expect(args).toEqual({ b: 2, c: 3 });
  });
});

describe('cost', () => {
  it('V4 a pattern that backtracks elsewhere is answered', () => {
    const schema = { properties: { s: { type: 'string', pattern: '^(a|a)*$' } } };
    expect(accepts(schema, { s: `${'a'.repeat(50_000)}!` })).toBe(false);
    expect(accepts(schema, { s: 'a'.repeat(50_000) })).toBe(true);
  });

  it('V4 many unique objects are answered, too many are refused', () => {
    const schema = { properties: { list: { type: 'array', uniqueItems: true } } };
    const objects = (n: number) => ({ list: Array.from({ length: n }, (_, i) => ({ i })) });
    expect(accepts(schema, objects(9_000))).toBe(true);
    const many = { list: Array.from({ length: 10_001 }, (_, i) => i) };
    expect(compileArguments(schema, '2020-12')(many)).toMatchObject({ ok: false, reason: 'TOO_COSTLY' });
    expect(accepts({ properties: { list: { not: { uniqueItems: true } } } }, many)).toBe(false);
  });

  it('V4 a recursive anyOf that doubles at every level ends at the deadline, and the next call is answered', () => {
    const branch = (): JsonObject => ({
      type: 'object',
      properties: { x: { $ref: '#/$defs/n' } },
      required: ['x', 'y'],
    });
    const schema = {
      type: 'object',
      properties: { r: { $ref: '#/$defs/n' } },
      $defs: { n: { anyOf: [branch(), branch(), branch(), branch(), { const: 1 }] } },
    };
    let deep: JsonValue = 1;
    for (let i = 0; i < 28; i++) deep = { x: deep, y: 0 };
    let bad: JsonValue = 2;
    for (let i = 0; i < 28; i++) bad = { x: bad, y: 0 };
    const check = compileArguments(schema, '2020-12', {
      ...DEFAULT_ARGUMENT_LIMITS,
      deadline: durationMs(50),
    });
    expect(check({ r: bad })).toMatchObject({
      ok: false,
      reason: 'VALIDATION_DEADLINE',
      errors: [{ keyword: 'deadline' }],
    });
    expect(check({ r: 1 }).ok).toBe(true);
    expect(check({ r: 2 })).toMatchObject({ ok: false, reason: 'SCHEMA_MISMATCH' });
  });

  it('V4 arguments beyond a limit are refused before any walk could fail on them', () => {
    const check = compileArguments({ properties: { c: { $ref: '#' } } }, '2020-12');
    let deep: JsonValue = 1;
    for (let i = 0; i < 20_000; i++) deep = { c: deep };
    expect(check(deep)).toMatchObject({ ok: false, reason: 'TOO_COSTLY', errors: [{ keyword: 'depth' }] });
    expect(check({ a: 'x'.repeat(300_000) })).toMatchObject({ errors: [{ keyword: 'bytes' }] });
    expect(check({ a: Array(30_000).fill(0) })).toMatchObject({ errors: [{ keyword: 'nodes' }] });
    expect(check({ a: Number.POSITIVE_INFINITY })).toMatchObject({ errors: [{ keyword: 'number' }] });
  });

  it('V4 a text too long for a format is refused, beneath a not as well', () => {
    const long = { a: 'x'.repeat(3_000) };
    expect(compileArguments({ properties: { a: { format: 'uri' } } }, '2020-12')(long)).toMatchObject({
      reason: 'TOO_COSTLY',
    });
    expect(accepts({ properties: { a: { not: { format: 'uri' } } } }, long)).toBe(false);
  });
});
