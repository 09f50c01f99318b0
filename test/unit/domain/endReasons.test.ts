/** The closed table of ends, pinned: operators, dashboards and search attributes rely on these words. */
import { describe, expect, test } from 'vitest';
import { END_REASONS, type EndReason, endRow } from '../../../src/domain/endReasons.js';
import { endReasonOf } from '../../../src/domain/generation.js';
import { parseAudienceClass, parseServerName, parseTenantId } from '../../../src/domain/ids.js';

const PINNED = {
  ELIGIBLE: 'PROMOTED',
  UNVERSIONED_OBSERVATION: 'NO_REVISION',
  INCOMPLETE:
    'ADDRESS_REFUSED AUTH_REFUSED BYTE_BUDGET_EXCEEDED CANCELLED CHANGED_DURING_SCAN CREDENTIAL_EXPIRED CREDENTIAL_UNRESOLVED CURSOR_CYCLE CURSOR_EXPIRED CURSOR_REPEATED DEADLINE_EXCEEDED DUPLICATE_KEY INTERNAL NOT_MCP NO_PROGRESS PAGE_BUDGET_EXCEEDED PAGE_MALFORMED PAGE_TIMEOUT PAGE_TOO_LARGE PROCESS_FAILED PROTOCOL_UNSUPPORTED REDIRECT_REFUSED REVISION_CHANGED REVISION_MISSING REVISION_UNSTABLE SERVER_GONE SESSION_LOST STDIO_REFUSED TAIL_UNVERIFIED TLS_FAILED TOOL_BUDGET_EXCEEDED UNREACHABLE UPSTREAM_ERROR',
  QUARANTINED:
    'ALL_TOOLS_QUARANTINED DUPLICATE_NAME EQUIVOCATION FAST_FORWARD IDENTITY_CHANGED IDENTITY_TORN NEW_INCARNATION ROLLBACK SHRUNK TOOL_FAULT',
  RETIRED: 'FENCED LOST SUPERSEDED UNCHANGED',
} as const;
const reasons = Object.keys(END_REASONS) as EndReason[];

describe('D5 ends', () => {
  test.each(Object.entries(PINNED))('D5 the reasons of %s are these and no others', (state, words) => {
    expect(reasons.filter((reason) => endRow(reason).state === state).sort()).toEqual(words.split(' '));
  });

  test.each(reasons)('%s says what it means and what to do next, in whole sentences', (reason) => {
    const { meaning, next } = endRow(reason);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
    expect(next).toMatch(/^[A-Z].*\.$/);
  });

  test('D5 every end has a reason that a machine can read', () => {
    const base = {
      key: { tenant: parseTenantId('acme'), server: parseServerName('s'), audience: parseAudienceClass('a') },
      scan: 'run/0',
    };
    expect(endReasonOf({ state: 'ELIGIBLE', ...base, generation: 1, policyEpoch: 1, receipt: 'r' })).toBe(
      'PROMOTED',
    );
    expect(endReasonOf({ state: 'INCOMPLETE', ...base, reason: 'TLS_FAILED', evidence: {} })).toBe(
      'TLS_FAILED',
    );
  });
});
