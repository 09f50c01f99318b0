/**
 * How a request's body becomes a value: by the strict reader, as everything that is digested later (V7). Numbers that
 * would be forwarded rounded are told apart by place, since only some places refuse them.
 */
import { CatalogError } from '../domain/errors.js';
import { isJsonArray, isJsonObject, type JsonValue } from '../domain/json.js';
import { type InexactNumber, readStrict, StrictJsonError } from '../proof/strictJson.js';

export type { InexactNumber } from '../proof/strictJson.js';

export interface JsonBody {
  readonly value: JsonValue;
  /** Every number that no double holds exactly, with its RFC 6901 pointer into the body. */
  readonly inexact: readonly InexactNumber[];
  /** Whether a text or a name in it has U+0000, which Postgres cannot hold. */
  readonly hasNul: boolean;
}

const MAX_DEPTH = 64;

/**
 * @throws CatalogError BAD_REQUEST/INVALID_JSON with the place; never with the text at it
 */
export const readJson = (bytes: Uint8Array): JsonBody => {
  try {
    const { value, text, inexactNumbers } = readStrict(bytes, { maxDepth: MAX_DEPTH });
    return { value, inexact: inexactNumbers, hasNul: text.includes('\\u0000') && holdsNul(value) };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const { reason, pointer, offset } = error;
    throw new CatalogError(
      'BAD_REQUEST',
      'INVALID_JSON',
      { rule: reason, pointer, offset },
      { cause: error },
    );
  }
};

const holdsNul = (value: JsonValue): boolean => {
  if (typeof value === 'string') return value.includes('\0');
  if (isJsonArray(value)) return value.some(holdsNul);
  return (
    isJsonObject(value) && Object.entries(value).some(([name, one]) => name.includes('\0') || holdsNul(one))
  );
};

/** Those of a member of the body, with pointers that begin at that member. */
export const inexactBelow = (numbers: readonly InexactNumber[], pointer: string): readonly InexactNumber[] =>
  numbers
    .filter((number) => number.pointer === pointer || number.pointer.startsWith(`${pointer}/`))
    .map((number) => ({ ...number, pointer: number.pointer.slice(pointer.length) }));
