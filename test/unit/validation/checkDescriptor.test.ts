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

  it('V4 formats that are not enforced are reported once each', () => {
    const uint = { type: 'integer', format: 'uint64' };
    expect(shown(tool({ type: 'object', properties: { a: uint, b: uint, c: { format: 'email' } } }))).toEqual(
      ['UNKNOWN_FORMAT /inputSchema/properties/a/format'],
    );
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

describe('text', () => {
  const hidden = (description: string) => shown(tool(OBJECT, { description }));

  it.each([
    ['tag characters', 'Reads.\u{e006d}\u{e0061}'],
    ['a zero-width space', 'a\u200bb'],
    ['a bidirectional override', 'a\u202eb'],
    ['an escape sequence', 'a\u001b[8mb'],
    ['selectors that carry bytes', '\u{1f600}\ufe01\ufe05'],
    ['a second selector', '\u2764\ufe0f\ufe0f'],
    ['a far selector', 'a\u{e0100}'],
    ['a joiner between letters', 'a\u200db'],
  ])('V7 %s quarantine a tool', (_, text) => {
    expect(hidden(text)).toEqual(['HIDDEN_TEXT /description']);
  });

  it.each([
    'Returns rows where price > 10; see <docs>.\n\tSelect or delete.',
    'I \u2764\ufe0f it',
    'by \u{1f469}\u200d\u{1f4bb} and \u{1f469}\u{1f3fd}\u200d\u{1f4bb}, 1\ufe0f\u20e3',
    'می\u200cخواهم क\u094d\u200dष 日本語 Ünïcödé',
  ])('V7 %j hides nothing', (text) => {
    expect(hidden(text)).toEqual([]);
  });

  it('V7 the report names code points and repeats none of them', () => {
    const { findings } = checkDescriptor(
      tool(OBJECT, { 'x\u202ey': 1, description: 'a\u{e006d}', name: 'n\u200b' }),
    );
    expect(JSON.stringify(findings)).toContain('U+E006D');
    expect(JSON.stringify(findings)).toMatch(/^[\x20-\x7e–]*$/);
    expect(findings.map(({ pointer }) => pointer)).toContain('/x\\u{202E}y');
  });

  it('V7 nested descriptions, enums, defaults, keys and annotation titles are looked at too', () => {
    for (const schema of [
      { properties: { a: { description: 'x\u200bx' } } },
      { properties: { a: { enum: ['x\u200bx'] } } },
      { properties: { a: { default: ['x\u200bx'] } } },
      { properties: { 'x\u200bx': {} } },
    ]) {
      expect(verdict(tool({ type: 'object', ...schema }))).toBe('QUARANTINED');
    }
    expect(verdict(tool(OBJECT, { annotations: { title: 'x\u200bx' } }))).toBe('QUARANTINED');
  });

  it('V7 U+0000 anywhere is found before storage meets it', () => {
    expect(shown(tool(OBJECT, { description: 'a\0b' }))).toContain('STRING_NUL /description');
    expect(JSON.stringify(checkDescriptor(tool(OBJECT, { 'k\0': 1 })))).not.toContain('\\u0000');
  });

  it('V7 look-alike letters in a title are reported', () => {
    expect(shown(tool(OBJECT, { title: 'p\u0430ypal' }))).toEqual(['MIXED_SCRIPT /title']);
    expect(shown(tool(OBJECT, { title: 'Привет world' }))).toEqual([]);
  });

  it('V2 text of the wrong type is a fault, null is read as absent', () => {
    expect(shown(tool(OBJECT, { description: 5 }))).toEqual(['DESCRIPTOR_INVALID /description']);
    expect(shown(tool(OBJECT, { description: null }))).toEqual(['TEXT_NULL /description']);
  });

  it('V7 a member called __proto__ is data like any other', () => {
    const odd = JSON.parse(
      '{"name":"tool","inputSchema":{"type":"object","properties":{"__proto__":{"type":"strng"}}}}',
    );
    expect(shown(odd)).toEqual(['SCHEMA_INVALID /inputSchema/properties/__proto__/type']);
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
