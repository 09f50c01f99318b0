/**
 * The lexical half of the strict scan: where a string, a number or a run of white space ends (RFC 8259 §2, 6
 * and 7). Each returns an offset and keeps nothing, so that a hostile page costs time in proportion to its size.
 */
import type { StrictJsonError } from './strictJsonError.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ESCAPES = '"\\/bfnrt';

/** Called with an offset where the text breaks a rule; the scan adds the pointer. */
export type Refuse = (reason: 'MALFORMED' | 'LONE_SURROGATE', offset: number) => StrictJsonError;

export const skipSpace = (text: string, from: number): number => {
  let at = from;
  for (;;) {
    const c = text.charCodeAt(at);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return at;
    at++;
  }
};

/**
 * @param from offset of the opening quote
 * @returns the offset after the closing quote, and whether the string has escapes
 */
export const skipString = (text: string, from: number, refuse: Refuse): { end: number; escaped: boolean } => {
  let at = from + 1;
  let escaped = false;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return { end: at + 1, escaped };
    if (c < 0x20) throw refuse('MALFORMED', at);
    if (c === BACKSLASH) {
      escaped = true;
      at = skipEscape(text, at, refuse);
    } else at++;
  }
  throw refuse('MALFORMED', at);
};

/** Only escapes can bring in a lone surrogate: text that was decoded from UTF-8 holds none. */
const skipEscape = (text: string, from: number, refuse: Refuse): number => {
  const c = text[from + 1];
  if (c !== 'u') {
    if (c === undefined || !ESCAPES.includes(c)) throw refuse('MALFORMED', from);
    return from + 2;
  }
  const unit = codeUnit(text, from + 2);
  if (unit === undefined) throw refuse('MALFORMED', from);
  if (unit < 0xd800 || unit > 0xdfff) return from + 6;
  const next = text.startsWith('\\u', from + 6) ? codeUnit(text, from + 8) : undefined;
  const paired = unit < 0xdc00 && next !== undefined && next >= 0xdc00 && next <= 0xdfff;
  if (!paired) throw refuse('LONE_SURROGATE', from);
  return from + 12;
};

const codeUnit = (text: string, from: number): number | undefined => {
  const hex = text.slice(from, from + 4);
  return /^[0-9A-Fa-f]{4}$/.test(hex) ? Number.parseInt(hex, 16) : undefined;
};

/** @returns the offset after the number */
export const skipNumber = (text: string, from: number, refuse: Refuse): number => {
  let at = text[from] === '-' ? from + 1 : from;
  at = text[at] === '0' ? at + 1 : skipDigits(text, at, refuse);
  if (text[at] === '.') at = skipDigits(text, at + 1, refuse);
  if (text[at] === 'e' || text[at] === 'E') {
    const sign = text[at + 1];
    at = skipDigits(text, at + (sign === '+' || sign === '-' ? 2 : 1), refuse);
  }
  return at;
};

const skipDigits = (text: string, from: number, refuse: Refuse): number => {
  let at = from;
  for (;;) {
    const c = text.charCodeAt(at);
    if (!(c >= 0x30 && c <= 0x39)) break;
    at++;
  }
  if (at === from) throw refuse('MALFORMED', at);
  return at;
};
