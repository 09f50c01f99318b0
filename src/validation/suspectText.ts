/**
 * Text that reads like orders to a model, or that is encoded so that only a model reads it. It is reported and decides
 * nothing: honest text can look like it, and that nothing was found says nothing about a text (V0, V7).
 */

/** Repeats are bounded, so that no text makes them slow. */
const ORDERS =
  /\b(?:ignore|disregard|forget|override)\s{1,4}(?:(?:all|any|the|your|every|of)\s{1,4}){0,3}(?:previous|prior|above|earlier|system|user)|\b(?:do\s{1,4}not|don't|never|without)\s{1,4}(?:tell|telling|inform|informing|mention|show|ask|asking)[a-z\s]{0,20}\buser\b|<(?:important|system|instructions?)>|\bsystem\s{1,4}prompt\b|(?:^|[^\w.])\.env\b|\bid_rsa\b|\.ssh\/|\.aws\/credentials|\/etc\/passwd/gi;
/** The longest that a match can be, and so what two texts side by side must show of each other. */
export const LONGEST_ORDER = 100;

export interface Match {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export const findOrders = (text: string): readonly Match[] =>
  [...text.matchAll(ORDERS)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
    text: found.trim(),
  }));

const RUN = /[A-Za-z0-9+/]{8,}={0,2}/g;
const HEX = /^(?:[0-9a-fA-F]{2}){6,}$/;
const READABLE = /^[\x20-\x7e\n\r\t]+$/;
const LETTER = /[A-Za-z]/g;

const decode = (run: string): string =>
  HEX.test(run)
    ? Buffer.from(run, 'hex').toString('latin1')
    : run.length % 4 === 0
      ? Buffer.from(run, 'base64').toString('latin1')
      : '';

const isReadable = (text: string): boolean =>
  READABLE.test(text) && (text.match(LETTER)?.length ?? 0) * 2 > text.length;

/** @returns what the base64 and hexadecimal runs of a text say, where each is readable by itself */
export const findEncoded = (text: string): readonly string[] =>
  (text.match(RUN) ?? []).map(decode).filter(isReadable);
/** Fewer decoded characters happen by chance. */
export const ENCODED_ENOUGH = 12;
