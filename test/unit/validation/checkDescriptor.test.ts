/** S2, V0–V5, V7: the verdict on one tool. Each fault by the smallest tool that has it. */
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import {
  type ContractPolicy,
  checkDescriptor,
  DEFAULT_CONTRACT_POLICY,
} from '../../../src/validation/checkDescriptor.js';

const WITH_DRAFT07: ContractPolicy = { ...DEFAULT_CONTRACT_POLICY, dialects: ['2020-12', 'draft-07'] };
const OBJECT = { type: 'object' };
const DRAFT07 = 'http://json-schema.org/draft-07/schema#';

const tool = (inputSchema: JsonValue, more: JsonObject = {}): JsonObject => ({
  name: 'tool',
  inputSchema,
  ...more,
});
const shown = (input: JsonValue, policy = DEFAULT_CONTRACT_POLICY): string[] =>
  checkDescriptor(input, policy).findings.map(({ code, pointer }) => `${code} ${pointer}`);
const verdict = (input: JsonValue, policy = DEFAULT_CONTRACT_POLICY) => checkDescriptor(input, policy).status;

describe('names', () => {
  it.each([
    ['', 'NAME_EMPTY'],
    [' ', 'NAME_CHARSET'],
    ['a\n', 'NAME_CHARSET'],
    ['a\0', 'NAME_CHARSET'],
    ['a ', 'NAME_CHARSET'],
    ['Mower Fleet Status', 'NAME_CHARSET'],
    ['日本語ツール', 'NAME_CHARSET'],
    [' a', 'NAME_CHARSET'],
    ['a,b', 'NAME_CHARSET'],
    ['user-profile/update', 'NAME_CHARSET'],
    ['获取天气', 'NAME_CHARSET'],
    ['a'.repeat(129), 'NAME_TOO_LONG'],
  ])('V1 the name %j is %s', (name, code) => {
    expect(shown(tool(OBJECT, { name }))).toContain(`${code} /name`);
    expect(verdict(tool(OBJECT, { name }))).toBe('QUARANTINED');
  });

  it('V1 128 characters and every allowed one are a good name; a dot is only not portable', () => {
    expect(verdict(tool(OBJECT, { name: 'a'.repeat(128) }))).toBe('OK');
    expect(shown(tool(OBJECT, { name: 'aZ0_-' }))).toEqual([]);
    expect(shown(tool(OBJECT, { name: 'calendar.updateEvent' }))).toEqual(['NAME_NOT_PORTABLE /name']);
  });

  it('V1 a tool that is no object, or has no name, is quarantined', () => {
    expect(shown([])).toEqual(['DESCRIPTOR_INVALID ']);
    expect(shown({ inputSchema: OBJECT })).toEqual(['NAME_MISSING /name']);
    expect(checkDescriptor({ name: 7, inputSchema: OBJECT }).name).toBeNull();
  });
});

describe('roots', () => {
  it.each([[{}], [{ type: 'string' }], [{ type: ['object'] }], [{ anyOf: [OBJECT] }], [true]])(
    'V2 the input schema %j is not of type object',
    (schema) => {
      expect(shown(tool(schema))).toContain('ROOT_NOT_OBJECT /inputSchema');
    },
  );

  it('V2 a tool without an input schema is quarantined', () => {
    expect(shown({ name: 'tool' })).toEqual(['ROOT_NOT_OBJECT /inputSchema']);
  });

  it('V2 the output root is object where the protocol revision asks for it', () => {
    const odd = tool(OBJECT, { outputSchema: { type: 'array', items: {} } });
    expect(shown(odd)).toEqual(['OUTPUT_ROOT_NOT_OBJECT /outputSchema']);
    expect(verdict(odd, { ...DEFAULT_CONTRACT_POLICY, outputRoot: 'any' })).toBe('OK');
  });
});

describe('dialects', () => {
  it('S2 says what a schema without $schema was read as', () => {
    const check = checkDescriptor(tool(OBJECT));
    expect(check.input?.dialect).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(check.input?.vocabularies).toContain('https://json-schema.org/draft/2020-12/vocab/validation');
    expect(check.output).toBeNull();
  });

  it('V2 draft-07 counts only where the registration lists it, in the same way at every attempt', () => {
    const old = tool({ $schema: DRAFT07, type: 'object' });
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(shown(old)).toEqual(['UNKNOWN_DIALECT /inputSchema/$schema']);
      expect(checkDescriptor(old).input).toBeNull();
      expect(checkDescriptor(old, WITH_DRAFT07)).toMatchObject({
        status: 'OK',
        findings: [],
        input: { dialect: DRAFT07, vocabularies: [] },
      });
    }
  });

  it.each([
    'http://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2020-12/schema#',
    'http://json-schema.org/draft/2020-12/schema',
  ])('V2 the spelling %s is accepted and reported', ($schema) => {
    expect(shown(tool({ $schema, type: 'object' }), WITH_DRAFT07)).toEqual([
      'DIALECT_ALIAS /inputSchema/$schema',
    ]);
  });

  it.each([
    ['http://json-schema.org/draft-04/schema#'],
    ['https://json-schema.org/draft/2019-09/schema'],
    ['http://json-schema.org/schema#'],
    ['https://example.com/my-dialect'],
    [' https://json-schema.org/draft/2020-12/schema'],
    [''],
    [7],
    [null],
  ])('V2 the dialect %j is unknown', ($schema) => {
    expect(shown(tool({ $schema, type: 'object' }), WITH_DRAFT07)).toEqual([
      'UNKNOWN_DIALECT /inputSchema/$schema',
    ]);
  });

  it('V2 a nested $schema of another dialect is found, in definitions that nothing uses too', () => {
    const nested = {
      type: 'object',
      properties: { a: { $schema: DRAFT07 } },
      $defs: { b: { $schema: 'urn:x' } },
    };
    expect(shown(tool(nested), WITH_DRAFT07).sort()).toEqual([
      'UNKNOWN_DIALECT /inputSchema/$defs/b/$schema',
      'UNKNOWN_DIALECT /inputSchema/properties/a/$schema',
    ]);
  });

  it('V2 a property that is called $schema, and data that look like one, are no declaration', () => {
    const harmless = {
      type: 'object',
      properties: { $schema: { type: 'string', default: { $schema: 'urn:x' } } },
    };
    expect(shown(tool(harmless))).toEqual(['PROVIDER_COMPAT /inputSchema/properties']);
  });

  it('V2 an unknown vocabulary is never accepted', () => {
    const known = {
      type: 'object',
      $vocabulary: { 'https://json-schema.org/draft/2020-12/vocab/core': true },
    };
    const unknown = { type: 'object', $vocabulary: { 'https://example.com/vocab/money': false } };
    expect(shown(tool(known))).toEqual([]);
    expect(shown(tool(unknown))).toEqual(['UNKNOWN_VOCABULARY /inputSchema/$vocabulary']);
  });
});

describe('schemas', () => {
  it('V2 the meta-schema is applied to every depth, and the pointer says where', () => {
    expect(shown(tool({ type: 'object', properties: { 'a/b~%': { type: 'strng' } } }))).toEqual([
      'SCHEMA_INVALID /inputSchema/properties/a~1b~0%/type',
    ]);
    expect(
      shown(tool({ type: 'object', properties: { n: { minimum: 0, exclusiveMinimum: true } } })),
    ).toEqual(['SCHEMA_INVALID /inputSchema/properties/n/exclusiveMinimum']);
    expect(shown(tool({ type: 'object', $defs: { unused: { required: 'a' } } }))).toEqual([
      'SCHEMA_INVALID /inputSchema/$defs/unused/required',
    ]);
  });

  it('V2 keywords that change what only our validator answers are refused', () => {
    expect(shown(tool({ $async: true, type: 'object' }))).toEqual(['FORBIDDEN_KEYWORD /inputSchema/$async']);
    expect(shown(tool({ type: 'object', properties: { a: { $async: false } } }))).toEqual([
      'FORBIDDEN_KEYWORD /inputSchema/properties/a/$async',
    ]);
    expect(verdict(tool({ type: 'object', properties: { a: { $recursiveRef: '#' } } }))).toBe('QUARANTINED');
    expect(verdict(tool({ type: 'object', properties: { $async: { type: 'boolean' } } }))).toBe('OK');
  });

  it('V2 vendor keywords are tolerated; those that some tools read are reported', () => {
    expect(shown(tool({ type: 'object', 'x-vendor': true }))).toEqual([]);
    expect(shown(tool({ type: 'object', properties: { a: { type: 'string', nullable: true } } }))).toEqual([
      'NONSTANDARD_KEYWORD /inputSchema/properties/a/nullable',
    ]);
    expect(
      shown(tool({ $schema: DRAFT07, type: 'object', unevaluatedProperties: false }), WITH_DRAFT07),
    ).toEqual(['OTHER_DIALECT_KEYWORD /inputSchema/unevaluatedProperties']);
  });

  it('V4 patterns that need backtracking are refused, and slow ones are not slow here', () => {
    const withPattern = (pattern: string) =>
      tool({ type: 'object', properties: { s: { type: 'string', pattern } } });
    expect(shown(withPattern('^(?=a)b'))).toEqual(['PATTERN_UNSUPPORTED /inputSchema/properties/s/pattern']);
    expect(shown(withPattern('(a)\\1'))).toEqual(['PATTERN_UNSUPPORTED /inputSchema/properties/s/pattern']);
    expect(shown(withPattern('(a'))).toEqual(['PATTERN_INVALID /inputSchema/properties/s/pattern']);
    expect(shown(withPattern('(?:a{1000}){1000}'))).toEqual([
      'PATTERN_UNSAFE /inputSchema/properties/s/pattern',
    ]);
    expect(shown(withPattern('^(a|a)*$'))).toEqual([]);
    expect(shown(tool({ type: 'object', patternProperties: { '(?!x)': {} } }))).toEqual([
      'PATTERN_UNSUPPORTED /inputSchema/patternProperties',
    ]);
  });

  it('V4 formats that are not enforced are reported once a schema', () => {
    const uint = { type: 'integer', format: 'uint64' };
    const properties = { a: uint, b: uint, c: { format: 'email' }, p: { type: 'string', format: 'path' } };
    expect(checkDescriptor(tool({ type: 'object', properties }))).toMatchObject({
      status: 'OK',
      findings: [
        { code: 'UNKNOWN_FORMAT', pointer: '/inputSchema', message: 'not enforced: "path", "uint64"' },
      ],
    });
  });

  it('V3 a reference without its definitions is open, and the same tool with them is sound', () => {
    const open = {
      type: 'object',
      properties: { c: { $ref: '#/$defs/Cond' }, d: { $ref: '#/properties/e/items' }, e: { items: {} } },
    };
    expect(shown(tool(open))).toEqual(['REF_UNRESOLVED /inputSchema/properties/c/$ref']);
    expect(shown(tool({ ...open, $defs: { Cond: { type: 'string' } } }))).toEqual([]);
  });

  it('V2 what stands beside a draft-07 reference is applied, and told of', () => {
    const sibling = {
      $schema: DRAFT07,
      type: 'object',
      properties: { a: { $ref: '#/definitions/S', maxLength: 2 } },
      definitions: { S: { type: 'string' } },
    };
    expect(shown(tool(sibling), WITH_DRAFT07)).toEqual([
      'REF_SIBLINGS_DRAFT07 /inputSchema/properties/a/$ref',
    ]);
  });

  it('V4 combinators whose branches multiply are refused before anything is compiled', () => {
    const leaf = (n: number) => ({ required: [`p${n}`] });
    const anyOf = (inner: (n: number) => JsonValue) => ({
      anyOf: Array.from({ length: 16 }, (_, n) => inner(n)),
    });
    const nested = anyOf((n) => anyOf((m) => anyOf((k) => leaf(n * 256 + m * 16 + k))));
    expect(shown(tool({ type: 'object', ...nested }))).toEqual([
      expect.stringMatching(/^SCHEMA_TOO_COMPLEX /),
    ]);
  });

  it('V2 what is legal and awkward for others stays callable', () => {
    expect(shown(tool({ type: 'object', additionalProperties: {} }))).toEqual([]);
    expect(shown(tool({ type: 'object', properties: { v: { type: 'array' } } }))).toEqual([
      'PROVIDER_COMPAT /inputSchema/properties/v',
    ]);
    expect(shown(tool({ type: 'object', properties: { 'uids[]': { type: 'string' } } }))).toEqual([
      'PROVIDER_COMPAT /inputSchema/properties',
    ]);
  });
});

describe('limits', () => {
  const limited = (limits: Partial<ContractPolicy['limits']>): ContractPolicy => ({
    ...DEFAULT_CONTRACT_POLICY,
    limits: { ...DEFAULT_CONTRACT_POLICY.limits, ...limits },
  });

  it('V4 bytes, values, depth and enum size are bounded', () => {
    const big = tool(OBJECT, { description: 'x'.repeat(300_000) });
    expect(shown(big)).toEqual(['SCHEMA_TOO_LARGE ']);
    expect(shown(tool(OBJECT, { x: Array(10).fill(0) }), limited({ nodes: 10 }))).toEqual([
      'SCHEMA_TOO_LARGE ',
    ]);
    expect(
      shown(tool({ type: 'object', properties: { a: { enum: [1, 2, 3] } } }), limited({ enumSize: 2 })),
    ).toEqual(['SCHEMA_TOO_LARGE /inputSchema/properties/a/enum']);
  });

  it('V4 nesting that would take the walk itself down is stopped', () => {
    let deep: JsonValue = 1;
    for (let i = 0; i < 100_000; i++) deep = { c: deep };
    expect(shown(tool(OBJECT, { deep }))).toEqual(['SCHEMA_TOO_DEEP ']);
  });

  it('V4 a schema of the size that the field has (93 kB) passes', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 900 }, (_, i) => [`field_${i}`, { type: 'string', description: 'd'.repeat(60) }]),
    );
    expect(verdict(tool({ type: 'object', properties }))).toBe('OK');
  });

  it('V7 a report is bounded, whatever a source does', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`p${i}`, { $ref: '#/nowhere' }]),
    );
    expect(checkDescriptor(tool({ type: 'object', properties })).findings).toHaveLength(25);
  });
});

it('V2 the verdict is the same whatever was checked before', () => {
  const tools = [
    tool({
      $id: 'https://example.com/s',
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: {} },
    }),
    tool({ $id: 'https://example.com/s', type: 'object', properties: { a: { $ref: '#/$defs/y' } } }),
    tool({ type: 'object', properties: { a: { $ref: 'https://example.com/s' } } }),
    tool({ type: 'object', properties: { a: { pattern: '(?=a)' } } }),
  ];
  const forwards = tools.map((each) => checkDescriptor(each));
  const backwards = [...tools].reverse().map((each) => checkDescriptor(each));
  expect(backwards.reverse()).toEqual(forwards);
  expect(forwards.map(({ status }) => status)).toEqual(['OK', 'QUARANTINED', 'QUARANTINED', 'QUARANTINED']);
});
