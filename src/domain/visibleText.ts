/**
 * Text of a source for a person's eyes (V7): what shows nothing of itself, or could steer a terminal, stands as the
 * number of its code point. For showing only; nothing that is shown so is digested.
 */

/** Controls, separators but the plain space, and what Unicode says is drawn as nothing. U+2800 is a blank that is a symbol. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const NOT_ASCII = /[^ -~]/gu;
/** Of what both texts have in common, this much is shown on each side of the difference. */
const CONTEXT = 80;

const codePoint = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;

/** V7: the text with `\u{200B}` in the place of a character that nobody would see. */
export const visibleText = (text: string): string => text.replaceAll(UNSEEN, codePoint);

/** Two values as JSON text, cut to where they differ; null where there is no value. */
export interface VisibleDifference {
  readonly before: string | null;
  readonly after: string | null;
  /** UTF-16 code units that both texts have in common before they differ. 0 where one of them is missing. */
  readonly offset: number;
}

/**
 * Two values side by side, such that whatever differs is seen, and seen to differ: what they have in common is cut to some
 * characters on either side, with `…` for what is left out, and between these whatever is not ASCII is escaped, since a
 * letter of one script can look like one of another. A backslash of the source's own is doubled, so it cannot be taken for
 * an escape. A value that has nothing beside it can be mistaken for nothing, and keeps its letters.
 */
export const visibleDifference = (before: unknown, after: unknown): VisibleDifference => {
  const [a, b] = [textOf(before), textOf(after)];
  if (a === null || b === null) return { before: a && visibleText(a), after: b && visibleText(b), offset: 0 };
  const start = commonStart(a, b);
  const end = commonEnd(a, b, start);
  const lead = lastOf(a.slice(0, start));
  const tail = firstOf(a.slice(a.length - end));
  const show = (text: string): string =>
    lead + text.slice(start, text.length - end).replaceAll(NOT_ASCII, codePoint) + tail;
  return { before: show(a), after: show(b), offset: start };
};

const textOf = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

const commonStart = (a: string, b: string): number => {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && a.charCodeAt(n) === b.charCodeAt(n)) n += 1;
  return isHigh(a.charCodeAt(n - 1)) ? n - 1 : n;
};

const commonEnd = (a: string, b: string, start: number): number => {
  const most = Math.min(a.length, b.length) - start;
  let n = 0;
  while (n < most && a.charCodeAt(a.length - 1 - n) === b.charCodeAt(b.length - 1 - n)) n += 1;
  return isLow(a.charCodeAt(a.length - n)) ? n - 1 : n;
};

/** Half of a character alone would be shown as one that does not exist. */
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

const lastOf = (text: string): string => {
  if (text.length <= CONTEXT) return context(text);
  let from = text.length - CONTEXT;
  if (isLow(text.charCodeAt(from))) from += 1;
  // The second of two backslashes would stand for an escape that the source does not have.
  if (backslashesBefore(text, from) % 2 === 1) from -= 1;
  return `…${context(text.slice(from))}`;
};

const firstOf = (text: string): string => {
  if (text.length <= CONTEXT) return context(text);
  const to = isLow(text.charCodeAt(CONTEXT)) ? CONTEXT - 1 : CONTEXT;
  return `${context(text.slice(0, to))}…`;
};

const backslashesBefore = (text: string, at: number): number => {
  let n = 0;
  while (text.charAt(at - 1 - n) === '\\') n += 1;
  return n;
};

/** A source's own `…` must not look like one that stands for more. */
const context = (text: string): string => visibleText(text).replaceAll('…', codePoint);
