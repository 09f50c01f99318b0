/** V3 and V4: reference closure, termination, and the cost of evaluating, all before anything is compiled. */
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import { checkSchema } from '../../../src/validation/checkSchema.js';
import type { Dialect } from '../../../src/validation/dialects.js';
import { Report } from '../../../src/validation/findings.js';

const faults = (schema: JsonValue, dialect: Dialect = '2020-12'): string[] => {
  const report = new Report();
  checkSchema(schema, dialect, '', report);
  return report
    .list()
    .filter(({ severity }) => severity === 'fault')
    .map(({ code, pointer }) => `${code} ${pointer}`);
};
const ref = ($ref: string, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { a: { $ref } },
  ...more,
});

describe('closure', () => {
  it.each([
    ['#', {}],
    ['', {}],
    ['#/$defs/x', { $defs: { x: {} } }],
    ['#/$defs/a~1b', { $defs: { 'a/b': {} } }],
    ['#/$defs/m~0n', { $defs: { 'm~n': {} } }],
    ['#/$defs/Foo%3CBar%3E', { $defs: { 'Foo<Bar>': {} } }],
    ['#/$defs/100%25', { $defs: { '100%': {} } }],
    ['#/$defs/%C3%BC', { $defs: { ü: {} } }],
    ['#/allOf/1', { allOf: [{}, { type: 'object' }] }],
    ['#/components/x', { components: { x: { type: 'string' } } }],
    ['#here', { $defs: { x: { $anchor: 'here' } } }],
    ['other', { $defs: { x: { $id: 'other' } } }],
    ['#/$defs/yes', { $defs: { yes: true } }],
  ])('V3 %s is resolved inside the document', ($ref, more) => {
    expect(faults(ref($ref, more))).toEqual([]);
  });

  it.each([
    '#/$defs/x',
    '#nowhere',
    '#/properties/toString',
    '#/__proto__',
    '#/type',
    '#/$defs/%',
    '#/~2',
    'other',
  ])('V3 %s is in no document', ($ref) => {
    expect(faults(ref($ref))).toEqual(['REF_UNRESOLVED /properties/a/$ref']);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'file:///etc/passwd',
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
    'urn:uuid:00000000-0000-0000-0000-000000000000',
    '//example.com/x',
  ])('V3 %s leads out of it, and is not fetched', ($ref) => {
    const at = $ref.startsWith('//') ? 'REF_UNRESOLVED' : 'REF_REMOTE';
    expect(faults(ref($ref))[0]).toMatch(new RegExp(`^(?:REF_REMOTE|${at}) /properties/a/\\$ref$`));
  });

  it('V3 a reference is resolved against the $id around it', () => {
    const inner = { $id: 'https://example.com/inner', properties: { a: { $ref: '#/$defs/x' } } };
    expect(faults({ type: 'object', properties: { inner }, $defs: { x: {} } })).toEqual([
      'REF_UNRESOLVED /properties/inner/properties/a/$ref',
    ]);
    const own = { ...inner, $defs: { x: {} } };
    expect(
      faults({ type: 'object', properties: { own, again: { $ref: 'https://example.com/inner#/$defs/x' } } }),
    ).toEqual([]);
  });

  it('V3 in definitions that nothing uses, references have to resolve as well', () => {
    expect(faults({ type: 'object', $defs: { x: { $ref: '#/nowhere' } } })).toEqual([
      'REF_UNRESOLVED /$defs/x/$ref',
    ]);
  });

  it('V3 what a reference finds outside all keywords has to be a schema', () => {
    expect(faults(ref('#/x', { x: { type: 'strng' } }))).toContain('SCHEMA_INVALID /x/type');
  });

  it('V3 one $id or anchor for two schemas is refused', () => {
    expect(faults({ $defs: { a: { $id: 'x' }, b: { $id: 'x' } } })).toEqual(['SCHEMA_INVALID /$defs/b/$id']);
    expect(faults({ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } })).toEqual([
      'SCHEMA_INVALID /$defs/b',
    ]);
  });

  it('V3 a dynamic reference counts where it can only mean one schema', () => {
    const one = { $dynamicAnchor: 'n', type: 'object', properties: { kid: { $dynamicRef: '#n' } } };
    expect(faults(one)).toEqual([]);
    expect(faults({ ...one, $defs: { other: { $id: 'other', $dynamicAnchor: 'n' } } })).toEqual([
      'REF_DYNAMIC /properties/kid/$dynamicRef',
    ]);
  });

  it('V2 draft-07 knows $id anchors, and ignores an $id beside a $ref', () => {
    expect(faults(ref('#here', { definitions: { x: { $id: '#here' } } }), 'draft-07')).toEqual([]);
    const beside = { $id: 'https://example.com/x', $ref: '#/definitions/x' };
    expect(faults({ properties: { beside }, definitions: { x: {} } }, 'draft-07')).toEqual([]);
  });
});

describe('termination', () => {
  it.each<[string, JsonObject]>([
    ['allOf', { allOf: [{ $ref: '#' }] }],
    ['anyOf', { anyOf: [{ type: 'string' }, { $ref: '#' }] }],
    ['oneOf', { oneOf: [{ $ref: '#' }] }],
    ['not', { not: { $ref: '#' } }],
    ['if', { if: { $ref: '#' } }],
    // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
    ['then', { if: {}, then: { $ref: '#' } }],
    ['dependentSchemas', { dependentSchemas: { a: { $ref: '#' } } }],
    ['$ref', { $ref: '#' }],
    ['$dynamicRef', { $dynamicAnchor: 'n', $dynamicRef: '#n' }],
  ])('V3 a loop through %s that consumes nothing is refused', (_, schema) => {
    expect(faults(schema)).toEqual(['REF_CYCLE ']);
  });

  it('V3 a loop between two definitions is refused', () => {
    const $defs = { A: { allOf: [{ $ref: '#/$defs/B' }] }, B: { allOf: [{ $ref: '#/$defs/A' }] } };
    expect(faults({ properties: { x: { $ref: '#/$defs/A' } }, $defs })[0]).toMatch(/^REF_CYCLE /);
  });

  it.each<[string, JsonObject]>([
    ['properties', { properties: { kid: { $ref: '#' } } }],
    ['items', { properties: { kids: { type: 'array', items: { $ref: '#' } } } }],
    ['additionalProperties', { additionalProperties: { $ref: '#' } }],
    ['a combinator below a property', { properties: { kid: { anyOf: [{ type: 'null' }, { $ref: '#' }] } } }],
  ])('V3 recursion through %s ends with the value', (_, schema) => {
    expect(faults(schema)).toEqual([]);
  });
});

describe('cost', () => {
  const doubling = (wrap: (to: JsonObject) => JsonObject, levels: number): JsonObject => ({
    type: 'object',
    allOf: [{ $ref: '#/$defs/d0' }],
    $defs: Object.fromEntries(
      Array.from({ length: levels + 1 }, (_, i) => [
        `d${i}`,
        i === levels ? {} : wrap({ $ref: `#/$defs/d${i + 1}` }),
      ]),
    ),
  });

  it('V4 allOf that doubles along references is refused, without evaluating it', () => {
    expect(faults(doubling((to) => ({ allOf: [to, { ...to }] }), 30))).toEqual(['SCHEMA_TOO_COMPLEX ']);
    expect(faults(doubling((to) => ({ allOf: [to, { ...to }] }), 5))).toEqual([]);
  });

  it('V4 doubling below properties is refused too', () => {
    const wrap = (to: JsonObject): JsonObject => ({ properties: { x: { allOf: [to, { ...to }] } } });
    expect(faults(doubling(wrap, 30))).toEqual(['SCHEMA_TOO_COMPLEX ']);
  });

  it('V4 combinators that multiply are refused', () => {
    const grow = (levels: number): JsonObject =>
      levels === 0 ? { type: 'string' } : { anyOf: Array.from({ length: 13 }, () => grow(levels - 1)) };
    expect(faults({ type: 'object', ...grow(3) })).toEqual(['SCHEMA_TOO_COMPLEX ']);
    expect(faults({ type: 'object', ...grow(2) })).toEqual([]);
  });

  it('V4 an expression tree whose kinds are told apart by a constant stays callable', () => {
    const kind = (op: string): JsonObject => ({
      type: 'object',
      properties: { op: { const: op }, left: { $ref: '#/$defs/expr' }, right: { $ref: '#/$defs/expr' } },
      required: ['op', 'left', 'right'],
    });
    const expr = { anyOf: [{ type: 'number' }, ...['+', '-', '*', '/', '%', '^'].map(kind)] };
    expect(faults({ type: 'object', properties: { e: { $ref: '#/$defs/expr' } }, $defs: { expr } })).toEqual(
      [],
    );
  });

  it('V4 a chain of references longer than the compiler can nest is refused', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, i) => [
        `d${i}`,
        { properties: { x: { $ref: `#/$defs/d${i + 1}` } } },
      ]),
    );
    expect(faults({ properties: { x: { $ref: '#/$defs/d0' } }, $defs: { ...$defs, d2000: {} } })).toEqual([
      'SCHEMA_TOO_COMPLEX ',
    ]);
  });
});
