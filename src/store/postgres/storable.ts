/**
 * JSON on its way into `jsonb`, which holds neither U+0000 nor half of a surrogate pair: text that a source chose must
 * not be able to fail a write.
 */
const NUL = '\u0000';
const UNSTORABLE = new RegExp(`${NUL}|\\p{Surrogate}`, 'gu');

const writtenOut = (character: string): string => `\\u{${character.charCodeAt(0).toString(16)}}`;
const cleanText = (text: string): string => text.replace(UNSTORABLE, writtenOut);

const clean = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [cleanText(name), clean(inner)]));
  }
  return value;
};

/** The JSON text of evidence or a verdict, with every character that `jsonb` refuses written out. */
export const storable = (value: unknown): string => JSON.stringify(clean(value ?? null));
