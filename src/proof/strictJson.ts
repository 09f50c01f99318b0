/**
 * The strict JSON reader: the only way by which bytes from a source become values (V7). Two readers must
 * agree, our scan and `JSON.parse`; what either refuses is refused.
 */
import type { JsonValue } from '../domain/json.js';
import { decodeUtf8 } from './decodeUtf8.js';
import { StrictJsonError } from './strictJsonError.js';
import { type ScanResult, scanStrict } from './strictScan.js';

export { StrictJsonError } from './strictJsonError.js';
export type { InexactNumber } from './strictScan.js';

export interface StrictLimits {
  /** Deepest nesting of arrays and objects. */
  readonly maxDepth: number;
  readonly maxBytes?: number;
  /** Most values of any kind in the document, arrays and objects among them; no bound where absent. */
  readonly maxValues?: number;
  /** Most different member names in the document; no bound where absent. */
  readonly maxNames?: number;
  /**
   * Most characters of all arrays and objects together, an inner one counted again in each that holds it: writing the
   * canonical form copies as much. No bound where absent.
   */
  readonly maxNested?: number;
}

export interface StrictWishes {
  /** JSON pointer of an array whose elements' places are wanted, such as `/result/tools`. */
  readonly elementsOf?: string;
  /** JSON pointers of values whose places are wanted, such as `/result`. */
  readonly spanOf?: readonly string[];
}

export interface StrictDocument extends ScanResult {
  readonly value: JsonValue;
  /** The bytes as text; places are offsets into it. */
  readonly text: string;
}

/**
 * V7: reads one JSON document. A member called `__proto__` is an ordinary member of its object.
 * @param bytes UTF-8 without a byte order mark
 * @returns the value; the text; the places that were asked for (a pointer that names nothing has none); and
 * every number that would be written back with another value
 * @throws StrictJsonError with the reason and the place
 */
export const readStrict = (
  bytes: Uint8Array,
  limits: StrictLimits,
  wishes: StrictWishes = {},
): StrictDocument => {
  if (limits.maxBytes !== undefined && bytes.length > limits.maxBytes) {
    throw new StrictJsonError('TOO_LARGE', '', limits.maxBytes);
  }
  const decoded = decodeUtf8(bytes);
  if ('badByte' in decoded) throw new StrictJsonError('INVALID_UTF8', '', decoded.badByte);
  const { text } = decoded;
  // The scan goes first: it bounds depth, values and names before anything is built.
  const scan = scanStrict(text, {
    maxDepth: limits.maxDepth,
    maxValues: limits.maxValues ?? Number.POSITIVE_INFINITY,
    maxNames: limits.maxNames ?? Number.POSITIVE_INFINITY,
    maxNested: limits.maxNested ?? Number.POSITIVE_INFINITY,
    elementsOf: wishes.elementsOf,
    spanOf: wishes.spanOf ?? [],
  });
  return { ...scan, text, value: parse(text) };
};

const parse = (text: string): JsonValue => {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new StrictJsonError('MALFORMED', '', 0);
  }
};
