/**
 * RFC 8785 canonical JSON: the one spelling of a value that is digested and signed (S5).
 */
import canonicalize from 'canonicalize';
import type { JsonValue } from '../domain/json.js';

/**
 * @param value what the strict reader read, or plain data of our own; nesting within its limits
 * @returns members sorted by UTF-16 code units, no white space, numbers as ECMAScript writes them (-0 as 0)
 * @throws Error for what is not JSON: NaN, infinities, lone surrogates, cycles, undefined
 */
export const canonicalJson = (value: JsonValue): string => {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
};

/** UTF-8 of the canonical text. */
export const canonicalBytes = (value: JsonValue): Uint8Array =>
  new TextEncoder().encode(canonicalJson(value));
