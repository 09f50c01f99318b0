/** The closed table of codes, pinned: callers branch on the code, on its status and on whether to retry. */
import { describe, expect, test } from 'vitest';
import { CatalogError, CODES, type Code, codeRow, nextStep } from '../../../src/domain/errors.js';

const PINNED: Readonly<Record<Code, readonly [status: number, retry: boolean]>> = {
  STALE_CATALOG: [409, false],
  INCOMPLETE_DISCOVERY: [409, true],
  UNVERSIONED_SOURCE: [409, false],
  POLICY_REVOKED: [403, false],
  POLICY_DENIED: [403, false],
  CONFIRMATION_REQUIRED: [403, false],
  TOOL_QUARANTINED: [409, false],
  REVIEW_REQUIRED: [409, false],
  SERVER_CLOSED: [409, false],
  PARAMS_INVALID: [422, false],
  PROOF_INVALID: [401, false],
  LEASE_EXPIRED: [401, false],
  LEASE_MISMATCH: [401, false],
  RECEIPT_INVALID: [422, false],
  UNAUTHENTICATED: [401, false],
  NOT_FOUND: [404, false],
  BAD_REQUEST: [400, false],
  CONFLICT: [409, false],
  BUSY: [503, true],
  OVERLOADED: [503, true],
  UNAVAILABLE: [503, true],
  CONFIG_INVALID: [500, false],
};
const codes = Object.keys(CODES) as Code[];

describe('codes', () => {
  test('the table is exactly this one', () => {
    expect(
      Object.fromEntries(codes.map((code) => [code, [codeRow(code).status, codeRow(code).retry]])),
    ).toEqual(PINNED);
  });

  test.each(codes)('%s has reasons, and says what each means and what comes next', (code) => {
    const { reasons, meaning, next } = codeRow(code);
    expect(Object.keys(reasons).length).toBeGreaterThan(0);
    for (const reason of Object.keys(reasons)) expect(reason).toMatch(/^[A-Z][A-Z_]*[A-Z]$/);
    for (const text of [meaning, next, ...Object.values(reasons)]) expect(text).toMatch(/^[A-Za-z].*\.$/s);
  });

  test.each(codes)('%s has next steps of their own only for reasons that it has', (code) => {
    const { reasons, next, nextOf = {} } = codeRow(code);
    for (const [reason, own] of Object.entries(nextOf)) {
      expect(Object.keys(reasons)).toContain(reason);
      expect([own, nextStep(code, reason)]).toEqual([expect.stringMatching(/^[A-Z].*\.$/s), own]);
    }
    for (const reason of Object.keys(reasons).filter((one) => !(one in nextOf)))
      expect(nextStep(code, reason)).toBe(next);
  });

  test('A3 the three stale ends are three codes, each with its own reasons', () => {
    const sets = (['STALE_CATALOG', 'INCOMPLETE_DISCOVERY', 'POLICY_REVOKED'] as const).map((code) =>
      Object.keys(codeRow(code).reasons),
    );
    expect(new Set(sets.flat()).size).toBe(sets.flat().length);
  });

  test('an error carries code, reason, details and cause, and shows no cause in its message', () => {
    const cause = new Error('password=hunter2');
    const error = new CatalogError('UNAVAILABLE', 'DATABASE', { sqlState: '08006' }, { cause });
    expect(error).toMatchObject({
      name: 'CatalogError',
      code: 'UNAVAILABLE',
      reason: 'DATABASE',
      details: { sqlState: '08006' },
    });
    expect(error.cause).toBe(cause);
    expect(error.message).toMatch(/^UNAVAILABLE\/DATABASE: /);
    expect(error.message).not.toContain('hunter2');
  });
});
