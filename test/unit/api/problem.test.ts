import { describe, expect, test } from 'vitest';
import { faultOf, INTERNAL, problemHeaders, problemOf } from '../../../src/api/problem.js';
import { CatalogError, CODES, type Code } from '../../../src/domain/errors.js';

const every = (Object.keys(CODES) as Code[]).flatMap((code) =>
  Object.keys(CODES[code].reasons).map((reason) => [code, reason] as const),
);

describe('RFC 9457', () => {
  test.each(every)('%s/%s has a text of its own and says what to do', (code, reason) => {
    const problem = problemOf({ code, reason, details: {} }, 'r1');
    expect(problem).toMatchObject({
      type: `urn:genlock:error:${code}`,
      code,
      reason,
      instance: 'urn:uuid:r1',
    });
    expect(problem.status).toBe(CODES[code].status);
    expect(problem.detail).not.toBe('');
    expect(problem.detail).not.toBe(problem.title);
    expect(problem.next).not.toBe('');
  });

  test('what is no CatalogError is not told, and neither is the configuration', () => {
    expect(faultOf(new Error('password authentication failed for user x'))).toBeNull();
    expect(faultOf(new CatalogError('CONFIG_INVALID', 'DATABASE_AUTH', { user: 'x' }))).toBeNull();
    expect(problemOf(INTERNAL, 'r1')).toMatchObject({ status: 503, reason: 'INTERNAL', details: {} });
  });

  test('a cause stays behind', () => {
    const error = new CatalogError('UNAVAILABLE', 'DATABASE', {}, { cause: new Error('host=10.0.0.1') });
    const fault = faultOf(error) ?? INTERNAL;
    expect(JSON.stringify(problemOf(fault, 'r1'))).not.toContain('10.0.0.1');
  });

  test('401 names the schemes, 503 when to come again', () => {
    const headersOf = (code: Code, reason: string) =>
      problemHeaders(problemOf({ code, reason, details: {} }, 'r'));
    expect(headersOf('UNAUTHENTICATED', 'EXPIRED')['WWW-Authenticate']).toContain('error="invalid_token"');
    expect(headersOf('PROOF_INVALID', 'STALE')['WWW-Authenticate']).toContain('error="invalid_dpop_proof"');
    expect(headersOf('BUSY', 'FENCE_MOVED')).toEqual({ 'Retry-After': '1' });
    expect(headersOf('STALE_CATALOG', 'TOOL_REMOVED')).toEqual({});
  });
});
