import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isJsonObject, member } from '../../../src/domain/json.js';
import { resolvePointer } from '../../../src/proof/jsonPointer.js';
import {
  readStrict,
  StrictJsonError,
  type StrictLimits,
  type StrictWishes,
} from '../../../src/proof/strictJson.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string, wishes: StrictWishes = {}) => readStrict(bytes(text), { maxDepth: 20 }, wishes);

const refusalOf = (input: string | Uint8Array, limits: StrictLimits = { maxDepth: 20 }) => {
  try {
    readStrict(typeof input === 'string' ? bytes(input) : input, limits);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return { reason: error.reason, pointer: error.pointer, offset: error.offset };
  }
  return undefined;
};

describe('V7 the strict reader refuses, with the place', () => {
  test.each([
    ['a repeated key', '{"a":{"b":1,"b":2}}', 'DUPLICATE_KEY', '/a/b', 12],
    ['a key repeated in another spelling', '{"a":1,"\\u0061":2}', 'DUPLICATE_KEY', '/a', 7],
    ['a repeated __proto__', '{"__proto__":1,"__proto__":2}', 'DUPLICATE_KEY', '/__proto__', 15],
    ['a repeated empty key', '{"":1,"":2}', 'DUPLICATE_KEY', '/', 6],
    ['an escaped high surrogate alone', '["\\ud83d"]', 'LONE_SURROGATE', '/0', 2],
    ['an escaped low surrogate alone', '["x\\ude00"]', 'LONE_SURROGATE', '/0', 3],
    ['a high surrogate before a plain escape', '["\\ud83d\\u0041"]', 'LONE_SURROGATE', '/0', 2],
    ['a lone surrogate in a key', '{"\\udc00":1}', 'LONE_SURROGATE', '/', 2],
    ['a number beyond the range', '{"n":[0,1e400]}', 'NUMBER_RANGE', '/n/1', 8],
    ['a negative one', '-1e400', 'NUMBER_RANGE', '', 0],
    ['one that would become zero', '1e-400', 'NUMBER_RANGE', '', 0],
    ['a comment', '[1/**/]', 'MALFORMED', '/0', 2],
    ['a second value', '1 2', 'MALFORMED', '', 2],
    ['a byte order mark', '\ufeff{}', 'MALFORMED', '', 0],
    ['nothing', '', 'MALFORMED', '', 0],
    ['a trailing comma', '{"a":1,}', 'MALFORMED', '/a', 7],
    ['no colon', '{"a" 1}', 'MALFORMED', '/a', 5],
    ['a control character in a string', '"a\nb"', 'MALFORMED', '', 2],
    ['a string without an end', '"abc', 'MALFORMED', '', 4],
    ['a key whose pointer needs escapes', '{"a/b~":1,"a/b~":1}', 'DUPLICATE_KEY', '/a~1b~0', 10],
  ])('%s', (_what, text, reason, pointer, offset) => {
    expect(refusalOf(text)).toEqual({ reason, pointer, offset });
  });

  test.each([
    ['a byte that begins nothing', Uint8Array.of(0x22, 0x61, 0xff, 0x22), 2],
    ['an encoded surrogate', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 2],
    ['an overlong form', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), 1],
    ['a cut character', Uint8Array.of(0x22, 0xe2, 0x82), 3],
  ])('invalid UTF-8: %s', (_what, input, offset) => {
    expect(refusalOf(input)).toEqual({ reason: 'INVALID_UTF8', pointer: '', offset });
  });

  test('invalid UTF-8 is found far into a page of wide characters', () => {
    const good = bytes(`"${'€'.repeat(70_000)}"`);
    const bad = Uint8Array.from(good);
    bad[200_000] = 0xff;
    expect(refusalOf(good)).toBeUndefined();
    expect(refusalOf(bad)?.reason).toBe('INVALID_UTF8');
    expect(Math.abs((refusalOf(bad)?.offset ?? 0) - 200_000)).toBeLessThanOrEqual(3);
  });

  test('depth counts arrays and objects, and is checked before anything is built', () => {
    expect(refusalOf('[[]]', { maxDepth: 2 })).toBeUndefined();
    expect(refusalOf('[[[]]]', { maxDepth: 2 })?.reason).toBe('TOO_DEEP');
    expect(refusalOf('{"a":[{"b":1}]}', { maxDepth: 2 })).toEqual({
      reason: 'TOO_DEEP',
      pointer: '/a/0',
      offset: 6,
    });
    expect(refusalOf('1', { maxDepth: 0 })).toBeUndefined();
    expect(refusalOf('['.repeat(1_000_000))?.reason).toBe('TOO_DEEP');
  });

  test('values and different names are counted before anything is built', () => {
    expect(refusalOf('{"a":[1,{}]}', { maxDepth: 9, maxValues: 4 })).toBeUndefined();
    expect(refusalOf('{"a":[1,{}]}', { maxDepth: 9, maxValues: 3 })).toEqual({
      reason: 'TOO_MANY_VALUES',
      pointer: '/a/1',
      offset: 8,
    });
    expect(refusalOf('[{"a":1,"b":2},{"a":1,"\\u0062":2}]', { maxDepth: 9, maxNames: 2 })).toBeUndefined();
    expect(refusalOf('[{"a":1},{"b":2},{"c":3}]', { maxDepth: 9, maxNames: 2 })).toMatchObject({
      reason: 'TOO_MANY_NAMES',
      pointer: '/2/c',
    });
  });

  test('much text below many levels is refused: writing it again would copy it at each level', () => {
    const under = (levels: number): string =>
      `${'{"a":'.repeat(levels)}"${'x'.repeat(5_000)}"${'}'.repeat(levels)}`;
    const limits = { maxDepth: 100, maxNested: 100_000 };
    expect(refusalOf(under(19), limits)).toBeUndefined();
    expect(refusalOf(under(20), limits)).toMatchObject({ reason: 'TOO_DEEP' });
  });

  test('the place of a value below very long names is cut', () => {
    const name = 'n'.repeat(90);
    const text = `${`{"${name}":`.repeat(15)}9007199254740993${'}'.repeat(15)}`;
    expect(read(text).inexactNumbers[0]?.pointer.length).toBe(1_001);
  });

  test('more bytes than allowed', () => {
    expect(() => readStrict(bytes('[1]'), { maxDepth: 1, maxBytes: 2 })).toThrow('TOO_LARGE');
    expect(readStrict(bytes('[1]'), { maxDepth: 1, maxBytes: 3 }).value).toEqual([1]);
  });

  test('an error names the place and never quotes the text', () => {
    expect(() => read('{"token":"s3cret" x}')).toThrow(/^MALFORMED at offset 18$/);
  });
});

describe('V7 keys of the prototype are ordinary', () => {
  test('__proto__ is a member of its own object and changes nothing else', () => {
    const { value } = read('{"__proto__":{"polluted":1},"constructor":2,"toString":null}');
    if (!isJsonObject(value)) throw new Error('not an object');
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(member(value, '__proto__')).toEqual({ polluted: 1 });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('a member that is not there is not found on the prototype', () => {
    const { value } = read('{"a":[1]}');
    for (const pointer of ['/constructor', '/__proto__', '/a/length', '/a/-1', '/a/01', '/b/c']) {
      expect(resolvePointer(value, pointer)).toBeUndefined();
    }
    expect(resolvePointer(value, '/a/0')).toBe(1);
  });
});

describe('V7 numbers that would be written back with another value are reported', () => {
  test.each([
    '9007199254740993',
    '18446744073709551615',
    '-9007199254740993',
    '0.1000000000000000055511151231257827',
    '333333333.33333329',
    '1.00000000000000001',
    '4e-324',
    `0.${'0'.repeat(50)}12345678901234567891`,
  ])('%s', (literal) => {
    expect(read(`{"a":[${literal}]}`).inexactNumbers).toEqual([{ pointer: '/a/0', text: literal }]);
  });

  test.each([
    ...[
      '0',
      '-0',
      '0.1',
      '1.0',
      '1.010',
      '1e2',
      '9007199254740992',
      '1e21',
      '1e-7',
      '5e-324',
      '123456.789e3',
    ],
    ...['0.30000000000000004', '100000000000000000000000', '0e999', '1.7976931348623157e308', '100000e-5'],
  ])('%s is not', (literal) => {
    expect(read(literal).inexactNumbers).toEqual([]);
  });

  test('every double is exact in its shortest spelling', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(read(`[${number}]`).inexactNumbers).toEqual([]);
      }),
    );
  });

  test('an integer is reported exactly where a double changes it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
        // What is written again is the shortest decimal of the double, which has zeros past 17 digits.
        const kept = Object.is(BigInt(expand(String(Number(integer)))), integer);
        expect(read(`${integer}`).inexactNumbers.length).toBe(kept ? 0 : 1);
      }),
    );
  });

  test('a long literal is shown cut, and too many end the reading', () => {
    expect(read(`0.${'1'.repeat(5_000)}`).inexactNumbers[0]?.text.length).toBe(101);
    const many = `[${Array.from({ length: 10_001 }, () => '9007199254740993').join()}]`;
    expect(refusalOf(many)?.reason).toBe('TOO_MANY_INEXACT');
  });
});

/** `1.5e+21` as digits. */
const expand = (text: string): string => {
  const [mantissa = '', power] = text.split('e+');
  if (power === undefined) return mantissa;
  const [whole = '', fraction = ''] = mantissa.split('.');
  return whole + fraction.padEnd(Number(power), '0');
};

describe('S5 places of values in the text', () => {
  const page = '{ "result" : {"tools" :[ {"name":"ä"} ,{"a":[1,2]},3 ],"nextCursor":"x"} , "id":1}';

  test("elements and spans are the source's own text", () => {
    const { text, elements, spans } = read(page, { elementsOf: '/result/tools', spanOf: ['/result', '/id'] });
    expect(elements.map(({ start, end }) => text.slice(start, end))).toEqual([
      '{"name":"ä"}',
      '{"a":[1,2]}',
      '3',
    ]);
    const cut = (pointer: string) => text.slice(spans[pointer]?.start, spans[pointer]?.end);
    expect(cut('/result')).toBe('{"tools" :[ {"name":"ä"} ,{"a":[1,2]},3 ],"nextCursor":"x"}');
    expect(cut('/id')).toBe('1');
  });

  test('a pointer to nothing, or elements of what is no array, give nothing', () => {
    expect(read(page, { elementsOf: '/result/nextCursor', spanOf: ['/nowhere'] })).toMatchObject({
      elements: [],
    });
    expect(read(page, { spanOf: ['/nowhere'] }).spans['/nowhere']).toBeUndefined();
    expect(read('[]', { elementsOf: '' }).elements).toEqual([]);
  });

  test('the whole document and its elements can be asked for', () => {
    const { text, elements, spans } = read(' [1,[2]] ', { elementsOf: '', spanOf: [''] });
    expect(elements.map(({ start, end }) => text.slice(start, end))).toEqual(['1', '[2]']);
    expect(spans['']).toEqual({ start: 1, end: 8 });
  });

  test('every element reads to the value that it has in the whole', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 0, max: 3 }), (values, indent) => {
        const document = { a: { 'b/c': values } };
        const whole = JSON.stringify(document, null, indent);
        const { text, elements, value } = readStrict(
          bytes(whole),
          { maxDepth: 100 },
          { elementsOf: '/a/b~1c' },
        );
        expect(value).toEqual(JSON.parse(whole));
        expect(elements.map(({ start, end }) => JSON.parse(text.slice(start, end)))).toEqual(
          JSON.parse(JSON.stringify(values)),
        );
      }),
    );
  });
});
