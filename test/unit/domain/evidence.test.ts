import { describe, expect, test } from 'vitest';
import { scrubEvidence } from '../../../src/domain/evidence.js';
import { blotter, secretFinder } from '../../../src/domain/secretText.js';

const TOKEN = 'tok_9f/8+x~"\\é-0123456789abcdef-END';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const blot = blotter([TOKEN]);

describe('S6 a secret is blotted out in every spelling', () => {
  test.each([
    ['as it is', TOKEN],
    ['in capitals', TOKEN.toUpperCase()],
    ['percent-encoded', encodeURIComponent(TOKEN)],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(TOKEN))],
    ['every byte percent-encoded', percent(TOKEN)],
    ['as JSON', JSON.stringify(TOKEN).slice(1, -1)],
    ['as JSON in JSON', JSON.stringify(JSON.stringify(TOKEN)).slice(3, -3)],
    [
      'with \\u escapes',
      [...TOKEN].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    [
      'with \\x escapes',
      [...TOKEN].map((c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join(''),
    ],
    ['as a JSON pointer', TOKEN.replaceAll('~', '~0').replaceAll('/', '~1')],
    ['with character references', [...TOKEN].map((c) => `&#x${c.charCodeAt(0).toString(16)};`).join('')],
    ['its bytes read as Latin-1', Buffer.from(TOKEN).toString('latin1')],
    ['in hex', Buffer.from(TOKEN).toString('hex').toUpperCase()],
  ])('%s', (_how, echo) => {
    expect(blot(`a ${echo} b`)).toBe('a [redacted] b');
    expect(blot(`${echo} and ${echo}`)).toBe('[redacted] and [redacted]');
  });

  test.each([0, 1, 2, 3])('in base64 after %i other bytes', (before) => {
    for (const form of ['base64', 'base64url'] as const) {
      const echo = Buffer.from(`${'u'.repeat(before)}${TOKEN}xyz`).toString(form);
      const shown = blot(echo);
      expect(shown).toContain('[redacted]');
      expect(Buffer.from(shown.replace('[redacted]', ''), form).toString()).not.toMatch(/tok_|END/);
    }
  });

  test('a part that was cut off at either end is blotted out too', () => {
    for (let cut = 12; cut < TOKEN.length; cut++) {
      expect(blot(`x ${TOKEN.slice(0, cut)}`)).toBe('x [redacted]');
      expect(blot(`${TOKEN.slice(-cut)} x`)).toBe('[redacted] x');
    }
  });

  test('what a percent sign before it would turn into something else is still found', () => {
    expect(blotter(['41bc'])('at%41bc')).toBe('at%[redacted]');
  });

  test('other text stays as it is, and so do very short values', () => {
    const text = 'Content-Type: text/html; a%20b \\u0041 ~1 &amp; é 😀';
    expect(blot(text)).toBe(text);
    expect(blotter(['abc', ''])('abc')).toBe('abc');
    expect(blotter(['abcd'])('xABCDx')).toBe('x[redacted]x');
  });
});

describe('S6 a page that repeats a secret is found', () => {
  const finds = secretFinder([TOKEN, 'short']);
  test('as it is, percent-encoded and in base64; a short one is not looked for', () => {
    expect(finds(`x${TOKEN}x`)).toBe(true);
    expect(finds(percent(TOKEN).toUpperCase())).toBe(false);
    expect(finds(`?t=${encodeURIComponent(TOKEN)}`)).toBe(true);
    expect(finds(base64(`Bearer ${TOKEN}`))).toBe(true);
    expect(finds('a short text of some length')).toBe(false);
  });
});

describe('S6 evidence', () => {
  test('strings, member names and long numbers at any depth', () => {
    const shown = scrubEvidence(
      { [TOKEN]: 1, a: [{ b: { c: `=${TOKEN}` } }], code: 12345678901, status: 404, none: null, yes: true },
      [TOKEN, '12345678901'],
    );
    expect(shown).toEqual({
      '[redacted]': 1,
      a: [{ b: { c: '=[redacted]' } }],
      code: '[redacted]',
      status: 404,
      none: null,
      yes: true,
    });
  });

  test('a secret that the cut would part is gone before the cut', () => {
    for (const before of [280, 290, 299, 300, 16_370, 16_380]) {
      const { text } = scrubEvidence({ text: 'x'.repeat(before) + TOKEN }, [TOKEN]) as { text: string };
      expect(text.length).toBeLessThanOrEqual(300);
      expect(text.replace(/^x+/, '')).toMatch(/^(\[[redact]*\]?)?…?$/);
    }
  });

  test('the whole is bounded in entries, characters and depth', () => {
    const wide = scrubEvidence({ list: Array.from({ length: 10_000 }, () => 'y'.repeat(1_000)) }, []);
    expect(JSON.stringify(wide).length).toBeLessThan(20_000);
    const names = scrubEvidence(
      Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`n${n}`, n])),
      [],
    );
    expect(Object.keys(names).length).toBeLessThanOrEqual(201);
    let deep: unknown = 'end';
    for (let n = 0; n < 5_000; n++) deep = { deep };
    expect(JSON.stringify(scrubEvidence({ deep }, [])).length).toBeLessThan(100);
  });
});
