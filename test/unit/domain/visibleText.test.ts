/** V7: what a person is shown of a source's text. */
import { describe, expect, test } from 'vitest';
import { visiblePair, visibleText } from '../../../src/domain/visibleText.js';

describe('V7 one text', () => {
  test.each([
    ['zero-width space', 'a\u200bb', 'a\\u{200B}b'],
    ['right-to-left override', 'a\u202eb', 'a\\u{202E}b'],
    ['tag characters', 'a\u{e0041}b', 'a\\u{E0041}b'],
    ['variation selector', 'a\ufe01b', 'a\\u{FE01}b'],
    ['Hangul filler', 'a\u3164b', 'a\\u{3164}b'],
    ['braille blank', 'a\u2800b', 'a\\u{2800}b'],
    ['no-break space', 'a\u00a0b', 'a\\u{A0}b'],
    ['escape sequence of a terminal', 'a\u001b[2Jb', 'a\\u{1B}[2Jb'],
    ['line feed', 'a\nb', 'a\\u{A}b'],
    ['lone surrogate', 'a\ud800b', 'a\\u{D800}b'],
    ['unassigned', 'a\u0378b', 'a\\u{378}b'],
  ])('V7 %s', (_, text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test('V7 letters of any script, accents, emoji and the plain space stay', () => {
    const text = 'Größe 库存 склад عدد e\u0301 📦 – “x”';
    expect(visibleText(text)).toBe(text);
  });
});

describe('V7 a pair', () => {
  test('V7 JSON text, null where there is no value; a written escape cannot be taken for a hidden character', () => {
    expect(visiblePair(undefined, 'a\u200b')).toEqual([null, '"a\\u{200B}"']);
    expect(visiblePair('a', 'a\\u{200B}')).toEqual(['"a"', '"a\\\\u{200B}"']);
    expect(visiblePair({ a: [1] }, null)).toEqual(['{"a":[1]}', 'null']);
  });

  test.each([
    ['composed and decomposed', 'é', 'e\u0301', '"\\u{E9}"', '"e\\u{301}"'],
    ['full width', 'a', '\uff41', '"a"', '"\\u{FF41}"'],
    ['Cyrillic a in a Latin text', 'pay all', 'p\u0430y all', '"pay all"', '"p\\u{430}y all"'],
  ])('V7 what would look alike is told apart: %s', (_, before, after, a, b) => {
    expect(visiblePair(before, after)).toEqual([a, b]);
  });

  test('V7 a text in another script is readable', () => {
    expect(visiblePair('Reserves stock', 'Резервирует товар (SKU)')).toEqual([
      '"Reserves stock"',
      '"Резервирует товар (SKU)"',
    ]);
  });
});
