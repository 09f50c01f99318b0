/**
 * Text of a source for a person's eyes (V7): what shows nothing of itself, or could steer a terminal, stands as the
 * number of its code point. For showing only; nothing that is shown so is digested.
 */

/** Controls, separators but the plain space, and what Unicode says is drawn as nothing. U+2800 is a blank that is a symbol. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const NOT_ASCII = /[^ -~]/gu;
const LATIN = /\p{Script=Latin}/gu;
/** Scripts with letters that look like Latin ones. */
const LOOK_ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/gu;

const codePoint = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;

/** V7: the text with `\u{200B}` in the place of a character that nobody would see. */
export const visibleText = (text: string): string => text.replaceAll(UNSEEN, codePoint);

/**
 * Two values side by side as JSON text, such that whatever differs is seen to differ: letters that look Latin are escaped
 * in a text that is mostly Latin, and where both would look alike all the same, whatever is not ASCII. A backslash of the
 * source's own is doubled there, so it cannot be taken for an escape.
 */
export const visiblePair = (before: unknown, after: unknown): readonly [string | null, string | null] => {
  const [a, b] = [textOf(before), textOf(after)];
  const alike = a !== null && b !== null && looksOf(a) === looksOf(b);
  const show = (text: string | null): string | null =>
    text === null ? null : alike ? text.replaceAll(NOT_ASCII, codePoint) : visibleLetters(visibleText(text));
  return [show(a), show(b)];
};

const visibleLetters = (text: string): string =>
  count(text, LATIN) > count(text, LOOK_ALIKE) ? text.replaceAll(LOOK_ALIKE, codePoint) : text;
const count = (text: string, of: RegExp): number => text.match(of)?.length ?? 0;

const textOf = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));
const looksOf = (text: string): string => text.normalize('NFKC');
