/** What an operator reads of a run in Temporal's UI: states, reasons, evidence, and nothing that a source could format. */
import { describe, expect, test } from 'vitest';
import { parseAudienceClass, parseDigest, parseServerName, parseTenantId } from '../../../src/domain/ids.js';
import { describeCandidate, failureMessage } from '../../../src/workflows/discoveryText.js';

const base = {
  key: {
    tenant: parseTenantId('acme'),
    server: parseServerName('inventory'),
    audience: parseAudienceClass('warehouse.policy-1'),
  },
  scan: 'run/0',
};
const revision = { binding: 'SERVER_REVISION', value: { incarnation: 'i', counter: 7 } } as const;
const root = parseDigest(`sha256:${'a'.repeat(64)}`);

describe('current details', () => {
  test('a run under way shows its state, what is known, and the note', () => {
    const text = describeCandidate(
      { state: 'SNAPSHOT_PROVEN', ...base, pages: 5, tools: 120, revision, pageRoot: root },
      'Note.',
    );
    expect(text).toBe(
      `### SNAPSHOT_PROVEN\n\nNote.\n\n| | |\n|---|---|\n| Pages | 5 |\n| Tools | 120 |\n| Bound by | SERVER_REVISION |\n| Page root | \`${root}\` |\n\nScan \`run/0\``,
    );
  });

  test('D5 an end shows its reason, what that means, what to do, and the evidence', () => {
    const text = describeCandidate({
      state: 'INCOMPLETE',
      ...base,
      reason: 'CURSOR_CYCLE',
      evidence: { page: 3 },
    });
    expect(text).toContain('**CURSOR_CYCLE**: A page names a cursor that was followed before');
    expect(text).toContain("**Next:** The server's author must mend its paging.");
    expect(text).toContain('| page | `3` |');
  });

  test('V7 evidence that a source wrote is shown as code and cannot leave it', () => {
    const start = '` [click](javascript:alert(1)) | x |\n# Title';
    const text = describeCandidate({ state: 'INCOMPLETE', ...base, reason: 'NOT_MCP', evidence: { start } });
    expect(text).toContain("| start | `' [click](javascript:alert(1))   x   # Title` |");
  });

  test('evidence of any size stays short', () => {
    const evidence = { start: 'x'.repeat(100_000) };
    expect(
      describeCandidate({ state: 'INCOMPLETE', ...base, reason: 'NOT_MCP', evidence }).length,
    ).toBeLessThan(1_000);
  });

  test('every other state says what it holds', () => {
    expect(describeCandidate({ state: 'DISCOVERING', ...base })).toBe('### DISCOVERING\n\nScan `run/0`');
    expect(
      describeCandidate({ state: 'ELIGIBLE', ...base, generation: 2, policyEpoch: 1, receipt: 'r-1' }),
    ).toContain('| Generation | 2 |');
    expect(
      describeCandidate({
        state: 'UNVERSIONED_OBSERVATION',
        ...base,
        pages: 1,
        tools: 13,
        observed: root,
        reason: 'NO_REVISION',
      }),
    ).toContain('| Tools | 13 |');
    expect(
      describeCandidate({ state: 'RETIRED', ...base, reason: 'UNCHANGED', successor: 4, freshUntil: null }),
    ).toContain('| Serving generation | 4 |');
    expect(
      describeCandidate({ state: 'RETIRED', ...base, reason: 'FENCED', successor: null, freshUntil: null }),
    ).not.toContain('Serving');
  });

  test('the message of a failed run names state and reason first', () => {
    expect(failureMessage({ state: 'INCOMPLETE', reason: 'TLS_FAILED' })).toMatch(
      /^INCOMPLETE\/TLS_FAILED: .* Next: /,
    );
  });
});
