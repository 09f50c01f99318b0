/** V7: what a person is shown of a source's text. */
import { describe, expect, test } from 'vitest';
import { visibleDifference, visibleText } from '../../../src/domain/visibleText.js';

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

const pair = (a: unknown, b: unknown): readonly (string | null)[] => {
  const { before, after } = visibleDifference(a, b);
  return [before, after];
};

describe('V7 a pair', () => {
  test('V7 JSON text, null where there is no value; a written escape cannot be taken for a hidden character', () => {
    expect(pair(undefined, 'a\u200b')).toEqual([null, '"a\\u{200B}"']);
    expect(pair('a', 'a\\u{200B}')).toEqual(['"a"', '"a\\\\u{200B}"']);
    expect(pair({ a: [1] }, null)).toEqual(['{"a":[1]}', 'null']);
  });

  test.each([
    ['composed and decomposed', 'é', 'e\u0301', '"\\u{E9}"', '"e\\u{301}"'],
    ['full width', 'a', '\uff41', '"a"', '"\\u{FF41}"'],
    ['Cyrillic a in a Latin text', 'pay all', 'p\u0430y all', '"pay all"', '"p\\u{430}y all"'],
    ['Latin a in a Cyrillic text', '\u0430бвгд', 'aбвгд', '"\\u{430}бвгд"', '"aбвгд"'],
    ['one Greek letter', '\u0399', 'I', '"\\u{399}"', '"I"'],
    ['Latin of another alphabet', '\u0261o', 'go', '"\\u{261}o"', '"go"'],
    ['Lisu', '\ua4eelice', 'Alice', '"\\u{A4EE}lice"', '"Alice"'],
    ['small capital', '\u1d0fk', 'ok', '"\\u{1D0F}k"', '"ok"'],
    ['halves of characters', 'a\u{1f600}', 'a\u{1f601}', '"a\\u{1F600}"', '"a\\u{1F601}"'],
    ['other halves', '\u{1f600}', '\u{1fa00}', '"\\u{1F600}"', '"\\u{1FA00}"'],
  ])('V7 what would look alike is told apart: %s', (_, before, after, a, b) => {
    expect(pair(before, after)).toEqual([a, b]);
  });

  test('V7 what both have in common is readable in any script', () => {
    expect(pair('Резервирует товар.', 'Резервирует товар!')).toEqual([
      '"Резервирует товар."',
      '"Резервирует товар!"',
    ]);
  });

  test('V6 one changed character in a long text is shown with its place and some text around it', () => {
    const [lead, tail] = ['The quick brown fox. '.repeat(5_000), ' jumps over. '.repeat(5_000)];
    const shown = visibleDifference(`${lead}pay 10${tail}`, `${lead}pay 1O${tail}`);
    expect(shown.offset).toBe(1 + lead.length + 5);
    expect(shown.before).toBe(`…${`${lead}pay 1`.slice(-80)}0${tail.slice(0, 80)}…`);
    expect(shown.after).toBe(`…${`${lead}pay 1`.slice(-80)}O${tail.slice(0, 80)}…`);
  });

  test('V6 V7 nothing of the source stands for what was left out, nor for an escape that the cut makes', () => {
    const long = 'x'.repeat(100);
    expect(pair(`${long}…1`, `${long}…2`)[0]).toMatch(/^…x+\\u\{2026\}1"$/);
    // 80 characters before the difference start with the second of the two backslashes.
    const cut = `${long}\\u{41}${'y'.repeat(74)}`;
    expect(pair(`${cut}1`, `${cut}2`)[0]).toMatch(/^…\\\\u\{41\}y+1"$/);
  });
});
