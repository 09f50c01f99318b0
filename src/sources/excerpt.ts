/**
 * Short, harmless excerpts of what a source sent, for the evidence that operators read: printable ASCII only,
 * capped, and without any secret that the source may have echoed.
 */
import { blotter } from '../domain/secretText.js';

const CAP = 200;
/** How much of a text is looked at. */
const WINDOW = 8_192;

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
};

export interface ExcerptOptions {
  /** Highest number of characters. */
  readonly cap?: number;
  /** Which end of the text is shown where it is longer. */
  readonly of?: 'start' | 'end';
}

/**
 * Secrets are blotted out before anything is cut, and parts of secrets with them: the window may cut one in two.
 * @param text what arrived; bytes that are no UTF-8 show as U+FFFD
 * @param secrets values that are blotted out in every spelling of them
 */
export const excerpt = (
  text: Uint8Array | string,
  secrets: readonly string[] = [],
  { cap = CAP, of = 'start' }: ExcerptOptions = {},
): string => {
  const window = of === 'start' ? text.slice(0, WINDOW) : text.slice(-WINDOW);
  const clean = blotter(secrets)(typeof window === 'string' ? window : new TextDecoder().decode(window));
  const whole = clean.length <= cap && text.length <= WINDOW;
  const size = `(${text.length} ${typeof text === 'string' ? 'characters' : 'bytes'})`;
  const cut = of === 'start' ? `${clean.slice(0, cap)}…${size}` : `${size}…${clean.slice(-cap)}`;
  return (whole ? clean : cut).replaceAll(/[^\x20-\x7e…]/gu, escapeCharacter);
};

/** The `code` of a Node.js system or TLS error, or null. */
export const errorCode = (error: unknown): string | null => {
  if (typeof error !== 'object' || error === null) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses were tried: Node.js gathers the failures.
  if (error instanceof AggregateError) return errorCode(error.errors[0]);
  return 'cause' in error ? errorCode(error.cause) : null;
};
