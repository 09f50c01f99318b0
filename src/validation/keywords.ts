/**
 * V2: what each keyword of the two dialects means for a walk: where subschemas are, and whether one applies to
 * the same value (`here`), to a part of it (`below`) or to none (`apart`). What is not in the table is an
 * annotation or unknown, and is never handed to the validator.
 */
import type { Dialect } from './dialects.js';

export type Shape = 'schema' | 'array' | 'map' | 'schemaOrArray' | 'dependencies';
export type Place = 'here' | 'below' | 'apart';

export interface Applicator {
  readonly shape: Shape;
  readonly place: Place;
}

const here = (shape: Shape): Applicator => ({ shape, place: 'here' });
const below = (shape: Shape): Applicator => ({ shape, place: 'below' });
const apart = (shape: Shape): Applicator => ({ shape, place: 'apart' });

const COMMON: ReadonlyArray<readonly [string, Applicator]> = [
  ['$defs', apart('map')],
  ['definitions', apart('map')],
  ['allOf', here('array')],
  ['anyOf', here('array')],
  ['oneOf', here('array')],
  ['not', here('schema')],
  ['if', here('schema')],
  ['then', here('schema')],
  ['else', here('schema')],
  ['dependencies', here('dependencies')],
  ['properties', below('map')],
  ['patternProperties', below('map')],
  ['additionalProperties', below('schema')],
  ['propertyNames', below('schema')],
  ['contains', below('schema')],
];

export const APPLICATORS: Readonly<Record<Dialect, ReadonlyMap<string, Applicator>>> = {
  '2020-12': new Map([
    ...COMMON,
    ['dependentSchemas', here('map')],
    ['prefixItems', below('array')],
    ['items', below('schema')],
    ['unevaluatedItems', below('schema')],
    ['unevaluatedProperties', below('schema')],
    ['contentSchema', apart('schema')],
  ]),
  'draft-07': new Map([...COMMON, ['items', below('schemaOrArray')], ['additionalItems', below('schema')]]),
};

const COMMON_ASSERTIONS = [
  'type',
  'enum',
  'const',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxProperties',
  'minProperties',
  'required',
  'format',
] as const;

export const ASSERTIONS: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  '2020-12': new Set([...COMMON_ASSERTIONS, 'minContains', 'maxContains', 'dependentRequired']),
  'draft-07': new Set(COMMON_ASSERTIONS),
};

/** Keywords with which a source would change what our validator, and only ours, answers. */
export const FORBIDDEN: ReadonlyMap<string, string> = new Map([
  ['$async', 'it would turn the answer of the validator into a promise'],
  ['$recursiveRef', 'it is a reference of another dialect, which would be left out'],
  ['$recursiveAnchor', 'it is a reference of another dialect, which would be left out'],
]);

/** Not JSON Schema, and yet read by some tools. Genlock ignores them, which can only refuse more. */
export const NONSTANDARD: ReadonlySet<string> = new Set([
  'nullable',
  'discriminator',
  'id',
  'formatMinimum',
  'formatMaximum',
  'formatExclusiveMinimum',
  'formatExclusiveMaximum',
]);

/** Keywords that constrain in the other dialect and do nothing in this one. */
export const OTHER_DIALECT: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  '2020-12': new Set(['additionalItems']),
  'draft-07': new Set([
    'dependentSchemas',
    'dependentRequired',
    'prefixItems',
    'unevaluatedItems',
    'unevaluatedProperties',
    'minContains',
    'maxContains',
    '$anchor',
    '$dynamicRef',
    '$dynamicAnchor',
  ]),
};
