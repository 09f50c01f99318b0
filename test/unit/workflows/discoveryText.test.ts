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
const unknown = { pages: null, tools: null };
const counted = { pages: 5, tools: 120 };
const whose = '- Server: `inventory`\n- Tenant: `acme`\n- Audience: `warehouse.policy-1`';

describe('current details', () => {
  test('a run under way shows its state, the note, the step, and what is known', () => {
    const text = describeCandidate(
      { state: 'SNAPSHOT_PROVEN', ...base, ...counted, revision, pageRoot: root },
      { ...counted, step: 'seal', note: 'Note.' },
    );
    expect(text).toBe(
      `### SNAPSHOT_PROVEN\n\nNote.\n\n**Step 4 of 5**, \`seal\`: seals the snapshot.\n\n${whose}\n- Pages: 5\n- Tools: 120\n- Pages bound by: SERVER_REVISION\n- Page root: \`${root}\`\n- Scan: \`run/0\``,
    );
  });

  test('a scan that reads pages says where its progress stands', () => {
    const text = describeCandidate({ state: 'DISCOVERING', ...base }, { ...unknown, step: 'scanPages' });
    expect(text).toContain('**Step 1 of 5**');
    expect(text).toContain('tab **Pending Activities**');
  });

  test('D5 an end shows its reason, what that means, what to do, and the evidence', () => {
    const text = describeCandidate(
      { state: 'INCOMPLETE', ...base, reason: 'CURSOR_CYCLE', evidence: { page: 3, pages: 3 } },
      unknown,
    );
    expect(text).toContain('### INCOMPLETE: CURSOR_CYCLE\n\nA page names a cursor that was followed before');
    expect(text).toContain("**Next:** The server's author must mend its paging.");
    expect(text).toContain('**Evidence:**\n\n- page (the first is 0): `3`\n- pages: `3`');
    expect(text).toContain('active before is untouched');
    expect(text).toContain(whose);
  });

  test('V7 evidence that a source wrote is shown as code and cannot leave it', () => {
    const start = '` [click](javascript:alert(1)) | x |\n# Title';
    const text = describeCandidate(
      { state: 'INCOMPLETE', ...base, reason: 'NOT_MCP', evidence: { start } },
      unknown,
    );
    expect(text).toContain("- start: `' [click](javascript:alert(1)) | x | # Title`\n");
  });

  test('V7 characters that cannot be seen are shown by their code points', () => {
    const text = describeCandidate(
      { state: 'QUARANTINED', ...base, reason: 'DUPLICATE_NAME', evidence: { name: 'pay\u202e\u200b' } },
      unknown,
    );
    expect(text).toContain('- name: `pay\\u{202E}\\u{200B}`\n');
  });

  test('evidence of any size stays short', () => {
    const evidence = { start: 'x'.repeat(100_000) };
    expect(
      describeCandidate({ state: 'INCOMPLETE', ...base, reason: 'NOT_MCP', evidence }, unknown).length,
    ).toBeLessThan(1_000);
  });

  test('every other state says what it holds', () => {
    const promoted = describeCandidate(
      { state: 'ELIGIBLE', ...base, generation: 2, policyEpoch: 1, receipt: 'r-1' },
      counted,
    );
    expect(promoted).toContain('- Active generation: 2\n- Pages: 5\n- Tools: 120\n');
    expect(promoted).not.toContain('Meanwhile');
    expect(
      describeCandidate(
        {
          state: 'UNVERSIONED_OBSERVATION',
          ...base,
          pages: 1,
          tools: 13,
          observed: root,
          reason: 'NO_REVISION',
        },
        { pages: 1, tools: 13 },
      ),
    ).toContain('- Tools: 13\n');
    expect(
      describeCandidate(
        { state: 'RETIRED', ...base, reason: 'UNCHANGED', successor: 4, freshUntil: null, evidence: {} },
        counted,
      ),
    ).toContain('- Active generation: 4\n');
    expect(
      describeCandidate(
        { state: 'RETIRED', ...base, reason: 'FENCED', successor: null, freshUntil: null, evidence: {} },
        counted,
      ),
    ).not.toContain('Active generation');
  });

  test('the message of a failed run names state and reason first', () => {
    expect(failureMessage({ state: 'INCOMPLETE', reason: 'TLS_FAILED' })).toMatch(
      /^INCOMPLETE\/TLS_FAILED: .* Next: /,
    );
  });
});
