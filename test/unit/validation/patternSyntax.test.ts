/** V4: a translated pattern answers as ECMA-262 does, on another engine. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../src/validation/patternEngine.js';
import { PatternRefused, translatePattern } from '../../../src/validation/patternSyntax.js';

const PATTERNS = [
  '^[a-z]{2}-\\d{3}$',
  '^\\s+$',
  '\\S',
  '^[\\s\\d]*$',
  '^[^\\s]$',
  '^[\\S]$',
  '^.$',
  'a.b',
  '^\\w+@\\w+\\.\\w{2,}$',
  '^(?:a|b)*c$',
  '^(?<year>\\d{4})-\\d\\d$',
  '^a{0,3}?$',
  '^[\\]\\-^]+$',
  '^\\u0041\\x42$',
  '^\\u{1F600}$',
  '^[\\u{1F600}-\\u{1F64F}]+$',
  '^\\uD83D\\uDE00$',
  '^\\p{Lu}\\p{L}*$',
  '^\\p{Script=Greek}+$',
  '^[^\\p{L}]+$',
  '^[]$',
  '^[^]$',
  '^\\cJ$',
  '^\\/$',
  '\\bword\\b',
  '^[[:alpha:]$',
  '^$',
  '',
  '^[\\b]$',
  '^\\0$',
];
const SAMPLES = [
  '',
  'a',
  'ab-123',
  'a\nb',
  'a\u2028b',
  'a\u00a0b',
  '\u00a0',
  '\ufeff',
  ' ',
  '\v',
  'AB',
  '😀',
  '😀😁',
  'x@y.zz',
  'aaac',
  '2024-01',
  'aaa',
  ']-^',
  'Ab',
  'Äb',
  'αβ',
  '/',
  'a word.',
  ':',
  '[',
  'alpha',
  '\b',
  '\0',
  '\n',
  '\r',
  '1 2',
  '\ud83d',
];

describe('translation', () => {
  it.each(PATTERNS)('V4 %s answers as ECMA-262 does', (pattern) => {
    let native: RegExp;
    try {
      native = new RegExp(pattern, 'u');
    } catch {
      native = new RegExp(pattern);
    }
    const ours = compilePattern(pattern);
    for (const sample of SAMPLES.filter((text) => text !== '\ud83d')) {
      expect(`${JSON.stringify(sample)} ${ours.test(sample)}`).toBe(
        `${JSON.stringify(sample)} ${native.test(sample)}`,
      );
    }
  });

  it('V4 random patterns and texts: equal answers, or a refusal', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '\\d',
      '\\s',
      '\\S',
      '[ab]',
      '[^a]',
      '[\\S ]',
      '(?:a|b)',
      '(ab)',
      '\\n',
      '1',
      '[a-\\d]',
    );
    const piece = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '*?', '{0,}'));
    const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.flat().join(''));
    const anchored = fc
      .tuple(fc.constantFrom('', '^'), pattern, fc.constantFrom('', '$'))
      .map((parts) => parts.join(''));
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '1', ' ', '\n', '\r', '\u2028', '-', 'é'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(anchored, text, (source, sample) => {
        const native = source.includes('[a-\\d]') ? new RegExp(source) : new RegExp(source, 'u');
        expect(compilePattern(source).test(sample)).toBe(native.test(sample));
      }),
      { numRuns: 500 },
    );
  });

  it('V4 long repetitions are written as several', () => {
    const name = compilePattern('^.{1,2048}$');
    expect([name.test(''), name.test('x'.repeat(2_048)), name.test('x'.repeat(2_049))]).toEqual([
      false,
      true,
      false,
    ]);
    const least = compilePattern('^a{1500,}$');
    expect([
      least.test('a'.repeat(1_499)),
      least.test('a'.repeat(1_500)),
      least.test('a'.repeat(4_000)),
    ]).toEqual([false, true, true]);
  });

  it.each([
    ['(?=a)', 'PATTERN_UNSUPPORTED'],
    ['(?<!a)b', 'PATTERN_UNSUPPORTED'],
    ['(a)\\1', 'PATTERN_UNSUPPORTED'],
    ['(?<n>a)\\k<n>', 'PATTERN_UNSUPPORTED'],
    ['[', 'PATTERN_INVALID'],
    ['a**', 'PATTERN_INVALID'],
    ['(?i)a', 'PATTERN_INVALID'],
    ['a{1,100000}', 'PATTERN_UNSAFE'],
    ['((a{100}){100}){100}', 'PATTERN_UNSAFE'],
    ['a'.repeat(5_000), 'PATTERN_UNSAFE'],
    ['('.repeat(200) + ')'.repeat(200), 'PATTERN_UNSAFE'],
  ])('V4 %s is refused: %s', (pattern, code) => {
    expect(() => translatePattern(pattern, 5_000)).toThrow(PatternRefused);
    expect(() => compilePattern(pattern)).toThrow(expect.objectContaining({ code }));
    expect(() => compilePattern(pattern)).toThrow(expect.objectContaining({ code }));
  });
});
