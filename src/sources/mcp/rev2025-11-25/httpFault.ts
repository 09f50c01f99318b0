/**
 * What an HTTP status and body mean to a scan over Streamable HTTP. A pure classifier; tappedFetch.ts acts on it.
 */
import {
  isJsonObject,
  isSafeInteger,
  isString,
  type JsonObject,
  type JsonValue,
  member,
} from '../../../domain/json.js';
import { excerpt } from '../../excerpt.js';
import { SourceFault } from '../../source.js';

const INVALID_PARAMS = -32602;

export interface RefusedAnswer {
  readonly status: number;
  readonly contentType: string | null;
  /** The first bytes of the body. */
  readonly body: Uint8Array;
  readonly method: string;
  readonly hadCursor: boolean;
  readonly hadSession: boolean;
  readonly secrets: readonly string[];
}

const parseLoosely = (body: Uint8Array): JsonValue => {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as JsonValue;
  } catch {
    return null;
  }
};

/** The `error` member of a JSON-RPC error message, or null. */
const rpcError = (body: Uint8Array): JsonObject | null => {
  const message = parseLoosely(body);
  const error =
    isJsonObject(message) && member(message, 'jsonrpc') === '2.0' ? member(message, 'error') : undefined;
  return isJsonObject(error) ? error : null;
};

/** A JSON-RPC error in answer to a request. Used for bodies with an HTTP error status and for proper answers. */
export const rpcFault = (code: number, message: string, hadCursor: boolean, method: string): SourceFault =>
  new SourceFault(code === INVALID_PARAMS && hadCursor ? 'CURSOR_EXPIRED' : 'UPSTREAM_ERROR', {
    method,
    code,
    message,
  });

/** Maps an answer that is no success. Reasons: those of a scan that cannot go on (see domain/endReasons.ts). */
export const statusFault = (answer: RefusedAnswer): SourceFault => {
  const { status, contentType, method, secrets } = answer;
  const evidence = { status, contentType, method, start: excerpt(answer.body, secrets) };
  if (status === 401 || status === 403) return new SourceFault('AUTH_REFUSED', evidence);
  if (status === 404 && answer.hadSession) return new SourceFault('SESSION_LOST', evidence);
  if (status >= 500 || status === 429 || status === 408) {
    return new SourceFault('UPSTREAM_ERROR', evidence, { transient: true });
  }
  const error = rpcError(answer.body);
  const code = error === null ? undefined : member(error, 'code');
  if (error !== null && isSafeInteger(code)) {
    const text = member(error, 'message');
    return rpcFault(code, excerpt(isString(text) ? text : '', secrets), answer.hadCursor, method);
  }
  return new SourceFault('NOT_MCP', evidence);
};
