/**
 * The one map from errors to HTTP (RFC 9457). What is not a CatalogError is a fault of Genlock's own: its text goes to
 * the log under the request id, never to a caller.
 */
import { CatalogError, type Code, codeRow, type Details, nextStep } from '../domain/errors.js';

export const PROBLEM_TYPE = 'application/problem+json';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: Code;
  readonly reason: string;
  /** What the caller does next. */
  readonly next: string;
  /** Whether the very same request can succeed later without anybody changing anything. */
  readonly retry: boolean;
  readonly details: Details;
}

export interface Fault {
  readonly code: Code;
  readonly reason: string;
  readonly details: Details;
}

export const problemOf = ({ code, reason, details }: Fault, requestId: string): Problem => {
  const row = codeRow(code);
  return {
    type: `urn:genlock:error:${code}`,
    title: row.meaning,
    status: row.status,
    detail: row.reasons[reason] ?? row.meaning,
    instance: `urn:uuid:${requestId}`,
    code,
    reason,
    next: nextStep(code, reason),
    retry: row.retry,
    details,
  };
};

/** @returns null for an error that is no caller's business and belongs into the log */
export const faultOf = (error: unknown): Fault | null => {
  // CONFIG_INVALID at run time says something of this installation that no caller is to know.
  if (error instanceof CatalogError && error.code !== 'CONFIG_INVALID') return error;
  if (error instanceof URIError || isClientError(error))
    return { code: 'BAD_REQUEST', reason: 'INVALID_QUERY', details: {} };
  return null;
};

export const INTERNAL: Fault = { code: 'UNAVAILABLE', reason: 'INTERNAL', details: {} };

/** What Express throws for a path that it cannot decode. */
const isClientError = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && error.status === 400;

/** RFC 9110 §11.6.1, RFC 9449 §7.1, and when to come again. */
export const problemHeaders = ({ status, code }: Problem): Record<string, string> => {
  if (status === 503) return { 'Retry-After': '1' };
  if (status !== 401) return {};
  const error = code === 'PROOF_INVALID' ? 'invalid_dpop_proof' : 'invalid_token';
  return {
    'WWW-Authenticate': `DPoP error="${error}", algs="ES256 ES384 EdDSA Ed25519 PS256", Bearer error="${error}"`,
  };
};
