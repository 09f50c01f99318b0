/**
 * RFC 6901 pointers: how findings, spans and trust configurations name a place in a document.
 */
import { isJsonObject, type JsonValue, member } from '../domain/json.js';

const escapeToken = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1');
const unescapeToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

/** Writes a pointer from unescaped member names and array indexes. */
export const formatPointer = (path: readonly (string | number)[]): string =>
  path.map((token) => `/${escapeToken(String(token))}`).join('');

/**
 * Splits a pointer into unescaped tokens.
 * @throws TypeError where the text is no pointer: neither empty nor beginning with `/`, or a bare `~`
 */
export const parsePointer = (pointer: string): readonly string[] => {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer))
    throw new TypeError('not a JSON pointer (RFC 6901)');
  return pointer.slice(1).split('/').map(unescapeToken);
};

/** @returns the value that the pointer names, or undefined where the document has none; own members only (V7) */
export const resolvePointer = (document: JsonValue, pointer: string): JsonValue | undefined => {
  let at: JsonValue | undefined = document;
  for (const token of parsePointer(pointer)) {
    if (isJsonObject(at)) at = member(at, token);
    else if (Array.isArray(at) && /^(?:0|[1-9]\d*)$/.test(token)) at = at[Number(token)];
    else return undefined;
  }
  return at;
};
