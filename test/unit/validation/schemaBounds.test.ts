/** V4: what a schema may cost is known from the schema alone, before anything is compiled or run. */
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import { checkDescriptor } from '../../../src/validation/checkDescriptor.js';
import { checkSchema } from '../../../src/validation/checkSchema.js';
import { prepareArguments } from '../../../src/validation/compileArguments.js';
import { isQuick } from '../../../src/validation/evaluationBound.js';
import { Report } from '../../../src/validation/findings.js';

const faultOf = (schema: JsonValue): string | undefined => {
  const report = new Report();
  checkSchema(schema, '2020-12', '', report);
  return report.list().find(({ severity }) => severity === 'fault')?.code;
};
const named = (count: number, sub: (index: number) => JsonValue): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, sub(index)]));
const list = (count: number, sub: (index: number) => JsonValue): JsonValue[] =>
  Array.from({ length: count }, (_, index) => sub(index));

describe('what compiling would take', () => {
  it.each<[string, (count: number) => JsonObject, number]>([
    ['properties of one object', (n) => ({ properties: named(n, () => ({ type: 'string' })) }), 998],
    ['branches', (n) => ({ oneOf: list(n, (i) => ({ required: [`p${i}`] })) }), 332],
    ['properties below branches', (n) => ({ anyOf: [{ properties: named(n, () => ({})) }] }), 994],
    [
      'referenced objects',
      (n) => ({
        anyOf: list(8, (i) => ({ $ref: `#/$defs/p${i}` })),
        $defs: named(n, (i) => ({ properties: { a: { $ref: `#/$defs/p${(i + 8) % n}` } } })),
      }),
      1_245,
    ],
    ['large patterns', (n) => ({ properties: named(n, (i) => ({ pattern: `[a-z]{900}${i}` })) }), 20],
    [
      'repeated sets of many ranges',
      (n) => ({ properties: named(n, (i) => ({ pattern: `[\\p{L}\\p{N}]{100}${i}` })) }),
      8,
    ],
    ['sets of many ranges beside one another', (n) => ({ pattern: '\\P{L}'.repeat(n) }), 208],
    ['small patterns', (n) => ({ properties: named(n, (i) => ({ pattern: `^${i}$` })) }), 674],
    ['definitions that nothing refers to', (n) => ({ $defs: named(n, () => ({})) }), 4_999],
  ])('V4 %s are counted', (_, schemaOf, most) => {
    expect(faultOf(schemaOf(most))).toBeUndefined();
    expect(faultOf(schemaOf(most + 1))).toMatch(/^(?:SCHEMA_TOO_COMPLEX|PATTERN_UNSAFE)$/);
  });

  it('V4 a pattern that stands in many places is compiled once, and counts once', () => {
    const same = { properties: named(300, () => ({ pattern: '^[\\p{L}\\p{M} -]{1,200}$' })) };
    expect(faultOf(same)).toBeUndefined();
  });
});

describe('what checking takes', () => {
  const wide = {
    properties: named(450, () => ({})),
    patternProperties: named(400, () => ({})),
  };
  const descriptor = (schema: JsonObject): JsonObject => ({
    name: 't',
    inputSchema: { type: 'object', ...schema },
    outputSchema: { type: 'object', ...schema },
  });
  /** Microseconds, about. The dearest schemas stand twice in a tool. */
  const MOST = 160_000;
  it.each<[string, JsonObject]>([
    ['large patterns', { properties: named(200, (i) => ({ pattern: `[a-z]{900}${i}` })) }],
    ['sets of many ranges', { properties: named(100, (i) => ({ pattern: `(?:\\p{L}|\\p{N}){450}${i}` })) }],
    [
      'patterns that are refused',
      { properties: named(200, (i) => ({ pattern: `${'a'.repeat(500)}(?=${i})` })) },
    ],
    ['properties and patterns for their names', wide],
    ['many of those', { properties: named(10, () => ({ $ref: '#/$defs/d' })), $defs: { d: wide } }],
    ['definitions', { $defs: named(4_900, () => ({})) }],
  ])('V4 %s: it is bounded, and counted the same at every attempt', (_, schema) => {
    const first = checkDescriptor(descriptor(schema));
    expect(first.work).toBeGreaterThan(1_000);
    expect(first.work).toBeLessThan(MOST);
    expect(checkDescriptor(descriptor(schema))).toEqual(first);
  });

  it.each<[string, string]>([
    ['a text', 'x y '.repeat(4_000_000)],
    ['a text of hidden characters', '\u200bx'.repeat(4_000_000)],
  ])('V4 %s as long as a page is not looked at', (_, description) => {
    const { work, findings } = checkDescriptor({ name: 't', description, inputSchema: { type: 'object' } });
    expect(findings.map(({ code }) => code)).toEqual(['SCHEMA_TOO_LARGE']);
    expect(work).toBeLessThan(1_000_000);
  });
});

describe('what the validator reads wrongly', () => {
  const items = { unevaluatedItems: false };
  const properties = { unevaluatedProperties: false };
  const condition = { if: { required: ['a'] }, else: { required: ['b'] } };
  it.each<[string, JsonObject, string | undefined]>([
    ['unevaluatedItems alone', { ...items, prefixItems: [true] }, undefined],
    ['unevaluatedItems beside contains', { ...items, contains: { const: 1 } }, 'FORBIDDEN_KEYWORD'],
    ['unevaluatedItems beside anyOf', { ...items, anyOf: [{ items: true }, true] }, 'FORBIDDEN_KEYWORD'],
    ['unevaluatedItems beside if', { ...items, ...condition }, 'FORBIDDEN_KEYWORD'],
    ['unevaluatedProperties beside anyOf', { ...properties, anyOf: [{ properties: { a: {} } }] }, undefined],
    ['unevaluatedProperties beside if', { ...properties, ...condition }, 'FORBIDDEN_KEYWORD'],
    [
      'unevaluatedProperties beside a reference to an if',
      { properties: { x: { ...properties, $ref: '#/$defs/c' } }, $defs: { c: condition } },
      'FORBIDDEN_KEYWORD',
    ],
  ])('V2 %s', (_, schema, expected) => {
    expect(faultOf(schema)).toBe(expected);
  });
});

describe('which checks are proven short', () => {
  const quick = (schema: JsonObject, bytes: number, nodes: number): boolean =>
    isQuick(prepareArguments(schema, '2020-12').bound, { bytes, nodes });
  const ordinary = { type: 'object', properties: named(20, () => ({ type: 'string', maxLength: 100 })) };

  it('V4 those of ordinary tools are', () => {
    expect(quick(ordinary, 2_000, 30)).toBe(true);
    expect(quick(ordinary, 100_000, 5)).toBe(true);
    expect(prepareArguments(ordinary, '2020-12').form).not.toBeNull();
  });

  it.each<[string, JsonObject, number, number]>([
    ['a recursive schema', { properties: { kids: { items: { $ref: '#' } } } }, 10, 2],
    ['a pattern on a long text', { properties: { a: { pattern: '^[a-z]{1,40}$' } } }, 5_000, 2],
    ['many values', ordinary, 20_000, 10_000],
    ['many names for each value', { items: { required: list(500, (i) => `p${i}`) } }, 1_000, 200],
    ['long divisions', { items: { multipleOf: 5e-324 } }, 20_000, 2_000],
    ['branches', { items: { anyOf: list(50, (i) => ({ const: i })) } }, 5_000, 1_000],
    [
      'branches multiplied along references',
      {
        items: { $ref: '#/$defs/a' },
        $defs: {
          a: { anyOf: list(10, () => ({ $ref: '#/$defs/b' })) },
          b: { anyOf: list(10, (i) => ({ const: i })) },
        },
      },
      5_000,
      200,
    ],
  ])('V4 %s: not proven', (_, schema, bytes, nodes) => {
    expect(quick(schema, bytes, nodes)).toBe(false);
  });

  it('V4 only small schemas are handed out to be compiled anywhere', () => {
    const large = { properties: named(100, () => ({ type: 'string' })) };
    expect(prepareArguments(large, '2020-12').form).toBeNull();
    expect(
      prepareArguments({ properties: { a: { pattern: '(?:[a-z]{900}[0-9]{200})' } } }, '2020-12').form,
    ).toBeNull();
  });
});
