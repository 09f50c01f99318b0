/**
 * V7: finds characters that a reviewer cannot see and a model still reads: controls, zero-width, bidirectional
 * controls, tags, and variation selectors that carry bytes. Nothing is stripped: what is reviewed is what is
 * digested. Emoji and the scripts that need joiners keep theirs.
 */

/** Code points that show nothing of themselves, as first and last of each range. */
const RANGES: ReadonlyArray<readonly [number, number]> = [
  [0x00, 0x08], // C0 controls but tab, line feed, carriage return
  [0x0b, 0x0c],
  [0x0e, 0x1f],
  [0x7f, 0x9f], // delete and C1 controls
  [0xad, 0xad], // soft hyphen
  [0x34f, 0x34f], // combining grapheme joiner
  [0x61c, 0x61c], // Arabic letter mark
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5], // Khmer inherent vowels
  [0x180b, 0x180f], // Mongolian selectors
  [0x200b, 0x200f], // zero-width space, joiners, direction marks
  [0x2028, 0x202e], // separators, bidirectional embeddings and overrides
  [0x2060, 0x206f], // word joiner, invisible operators, isolates
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f], // variation selectors
  [0xfeff, 0xfeff], // byte order mark
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff], // tags and further variation selectors
];

const hex = (codePoint: number): string => `\\u{${codePoint.toString(16)}}`;
const SUSPECT = new RegExp(`[${RANGES.map(([first, last]) => `${hex(first)}-${hex(last)}`).join('')}]`, 'u');

const EMOJI = /\p{Extended_Pictographic}/u;
const EMOJI_BASE = /[\p{Emoji}]/u;
const EMOJI_MODIFIER = /\ufe0f|[\u{1f3fb}-\u{1f3ff}]/u;
const HAN = /\p{Script=Han}/u;
const JOINING_SCRIPT =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Mongolian}]/u;

const ZWNJ = '\u200c';
const ZWJ = '\u200d';

const mayJoin = (chars: readonly string[], at: number): boolean => {
  const next = chars[at + 1] ?? '';
  const before = chars[at - 1] ?? '';
  if (JOINING_SCRIPT.test(before) && (JOINING_SCRIPT.test(next) || chars[at] === ZWNJ)) return true;
  if (chars[at] !== ZWJ || !EMOJI.test(next)) return false;
  let base = at - 1;
  while (base > 0 && EMOJI_MODIFIER.test(chars[base] ?? '')) base--;
  return EMOJI.test(chars[base] ?? '');
};

/** One selector after a character that has variants; a second one on the same base carries data. */
const maySelect = (chars: readonly string[], at: number): boolean => {
  const base = chars[at - 1] ?? '';
  const selector = chars[at] ?? '';
  if (selector === '\ufe0e' || selector === '\ufe0f') return EMOJI_BASE.test(base);
  return selector >= '\ufe00' && selector <= '\ufe02' && HAN.test(base);
};

const isHidden = (chars: readonly string[], at: number): boolean => {
  const char = chars[at] ?? '';
  if (!SUSPECT.test(char)) return false;
  if (char === ZWJ || char === ZWNJ) return !mayJoin(chars, at);
  if (char >= '\ufe00' && char <= '\ufe0f') return !maySelect(chars, at);
  return true;
};

/** @returns the hidden characters in the form `U+200B`, in order, at most `limit`; empty where there are none */
export const findHidden = (text: string, limit = 8): readonly string[] => {
  if (!SUSPECT.test(text)) return [];
  const chars = [...text];
  const found: string[] = [];
  for (let at = 0; at < chars.length && found.length < limit; at++) {
    if (!isHidden(chars, at)) continue;
    found.push(`U+${(chars[at]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  }
  return found;
};
