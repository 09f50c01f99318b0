/**
 * Where Genlock and the public JSON Schema suite differ, each with its reason. publicSuite.test.ts fails where one of
 * these is missing, and where one is no longer needed.
 */
import type { Dialect } from '../../../src/validation/dialects.js';
import type { Difference } from './publicSuite.js';

export interface SuiteException {
  readonly why: string;
  readonly difference: Difference;
  /** "file: group", or "file: group: test". */
  readonly names: Readonly<Partial<Record<Dialect, readonly string[]>>>;
}

export const SUITE_EXCEPTIONS: readonly SuiteException[] = [
  {
    why: 'nothing is fetched: what is not in the document cannot be referred to (V3)',
    difference: 'refused',
    names: {
      '2020-12': [
        'defs: validate definition against metaschema',
        'dynamicRef: strict-tree schema, guards against misspelled properties',
        'dynamicRef: tests for implementation dynamic anchor and reference link',
        'dynamicRef: $ref and $dynamicAnchor are independent of order - $defs first',
        'dynamicRef: $ref and $dynamicAnchor are independent of order - $ref first',
        'dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor',
        'optional/cross-draft: refs to historic drafts are processed as historic drafts',
        'ref: remote ref, containing refs itself',
        'refRemote: remote ref',
        'refRemote: fragment within remote ref',
        'refRemote: anchor within remote ref',
        'refRemote: ref within remote ref',
        'refRemote: base URI change',
        'refRemote: base URI change - change folder',
        'refRemote: base URI change - change folder in subschema',
        'refRemote: root ref in remote ref',
        'refRemote: remote ref with ref to defs',
        'refRemote: Location-independent identifier in remote ref',
        'refRemote: retrieved nested refs resolve relative to their URI not $id',
        'refRemote: remote HTTP ref with different $id',
        'refRemote: remote HTTP ref with different URN $id',
        'refRemote: remote HTTP ref with nested absolute ref',
        'refRemote: $ref to $ref finds detached $anchor',
      ],
      'draft-07': [
        'definitions: validate definition against metaschema',
        'optional/cross-draft: refs to future drafts are processed as future drafts',
        'ref: remote ref, containing refs itself',
        'refRemote: remote ref',
        'refRemote: fragment within remote ref',
        'refRemote: ref within remote ref',
        'refRemote: base URI change',
        'refRemote: base URI change - change folder',
        'refRemote: base URI change - change folder in subschema',
        'refRemote: root ref in remote ref',
        'refRemote: remote ref with ref to definitions',
        'refRemote: Location-independent identifier in remote ref',
        'refRemote: retrieved nested refs resolve relative to their URI not $id',
        'refRemote: $ref to $ref finds location-independent $id',
      ],
    },
  },
  {
    why: 'several schemas have the dynamic anchor, and the validator is known to choose the wrong one: such a schema is refused',
    difference: 'refused',
    names: {
      '2020-12': [
        'dynamicRef: A $dynamicRef resolves to the first $dynamicAnchor still in scope that is encountered when the schema is evaluated',
        "dynamicRef: A $dynamicRef with intermediate scopes that don't include a matching $dynamicAnchor does not affect dynamic scope resolution",
        'dynamicRef: A $dynamicRef that initially resolves to a schema with a matching $dynamicAnchor resolves to the first $dynamicAnchor in the dynamic scope',
        'dynamicRef: multiple dynamic paths to the $dynamicRef keyword',
        'dynamicRef: after leaving a dynamic scope, it is not used by a $dynamicRef',
        'dynamicRef: $dynamicRef skips over intermediate resources - direct reference',
        'dynamicRef: $dynamicRef avoids the root of each schema, but scopes are still registered',
        'optional/dynamicRef: $dynamicRef skips over intermediate resources - pointer reference across resource boundary',
        'unevaluatedItems: unevaluatedItems with $dynamicRef',
        'unevaluatedProperties: unevaluatedProperties with $dynamicRef',
      ],
    },
  },
  {
    why: "known formats are enforced, as the schema's author most likely means them; that can only refuse more",
    difference: 'stricter',
    names: {
      '2020-12': [
        'format: email format: invalid email string is only an annotation by default',
        'format: ipv4 format: invalid ipv4 string is only an annotation by default',
        'format: ipv6 format: invalid ipv6 string is only an annotation by default',
        'format: hostname format: invalid hostname string is only an annotation by default',
        'format: date format: invalid date string is only an annotation by default',
        'format: date-time format: invalid date-time string is only an annotation by default',
        'format: time format: invalid time string is only an annotation by default',
        'format: json-pointer format: invalid json-pointer string is only an annotation by default',
        'format: relative-json-pointer format: invalid relative-json-pointer string is only an annotation by default',
        'format: uri format: invalid uri string is only an annotation by default',
        'format: uri-reference format: invalid uri-reference string is only an annotation by default',
        'format: uri-template format: invalid uri-template string is only an annotation by default',
        'format: uuid format: invalid uuid string is only an annotation by default',
        'format: duration format: invalid duration string is only an annotation by default',
      ],
    },
  },
  {
    why: 'a meta-schema of its own is no pinned dialect (V2)',
    difference: 'refused',
    names: {
      '2020-12': [
        'optional/format-assertion: schema that uses custom metaschema with format-assertion: false',
        'optional/format-assertion: schema that uses custom metaschema with format-assertion: true',
        'vocabulary: schema that uses custom metaschema with with no validation vocabulary',
        'vocabulary: ignore unrecognized optional vocabulary',
      ],
    },
  },
  {
    why: 'what is evaluated depends on the value, and the validator is known to count too much: such a schema is refused',
    difference: 'refused',
    names: {
      '2020-12': [
        'unevaluatedItems: unevaluatedItems with nested items',
        'unevaluatedItems: unevaluatedItems with anyOf',
        'unevaluatedItems: unevaluatedItems with oneOf',
        'unevaluatedItems: unevaluatedItems with if/then/else',
        'unevaluatedItems: item is evaluated in an uncle schema to unevaluatedItems',
        'unevaluatedItems: unevaluatedItems depends on adjacent contains',
        'unevaluatedItems: unevaluatedItems depends on multiple nested contains',
        'unevaluatedItems: unevaluatedItems and contains interact to control item dependency relationship',
        'unevaluatedItems: unevaluatedItems with minContains = 0',
        'unevaluatedItems: unevaluatedItems can see annotations from if without then and else',
        'unevaluatedProperties: unevaluatedProperties with if/then/else',
        'unevaluatedProperties: unevaluatedProperties with if/then/else, then not defined',
        'unevaluatedProperties: unevaluatedProperties with if/then/else, else not defined',
        'unevaluatedProperties: unevaluatedProperties can see annotations from if without then and else',
      ],
    },
  },
  {
    why: 'the content keywords are annotations, which the draft leaves to the implementation',
    difference: 'laxer',
    names: {
      'draft-07': [
        'optional/content: validation of string-encoded content based on media type: an invalid JSON document',
        'optional/content: validation of binary string-encoding: an invalid base64 string (% is not a valid character)',
        'optional/content: validation of binary-encoded media type documents: a validly-encoded invalid JSON document',
        'optional/content: validation of binary-encoded media type documents: an invalid base64 string that is valid JSON',
      ],
    },
  },
  {
    why: 'siblings of a $ref are applied in draft-07 too, which can only refuse more',
    difference: 'stricter',
    names: { 'draft-07': ['ref: ref overrides any sibling keywords: ref valid, maxItems ignored'] },
  },
];
