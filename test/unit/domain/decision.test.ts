/** The decision table: every code and reason that the pure decision can give, and which check goes before which. */
import { describe, expect, test } from 'vitest';
import { type DecisionFacts, decide, refused } from '../../../src/domain/decision.js';
import { epochMs, parseAudienceClass, parseDigest, parseToolId } from '../../../src/domain/ids.js';

const descriptor = parseDigest(`sha256:${'a'.repeat(64)}`);
const other = parseDigest(`sha256:${'b'.repeat(64)}`);
const NOW = epochMs(1_000_000);
const LATER = epochMs(2_000_000);

const facts = (more: Partial<DecisionFacts> = {}): DecisionFacts => ({
  now: NOW,
  node: { tool: parseToolId('inventory.reserve@1'), generation: 2, descriptor },
  mode: 'autonomous',
  caller: { subject: 'alice', audience: parseAudienceClass('managers'), bound: false },
  requireBoundTokens: false,
  policyEpoch: 3,
  server: { closedReason: null, trustVersion: 1 },
  active: { generation: 2, policyEpoch: 3, trustVersion: 1, freshUntil: LATER },
  retained: [
    { generation: 1, state: 'ELIGIBLE', expires: epochMs(1_500_000) },
    { generation: 2, state: 'ELIGIBLE', expires: epochMs(3_000_000) },
  ],
  newestGeneration: 2,
  latestScan: { state: 'ELIGIBLE', reason: 'PROMOTED' },
  revocations: [],
  tool: {
    name: 'reserve',
    descriptor,
    effectClass: 'RESERVATION',
    verdict: { status: 'OK', findings: [] },
    review: null,
  },
  currentId: null,
  policy: {
    autonomous: { allowed: true, policyIds: ['p1'] },
    withConfirmation: false,
    permittedBefore: false,
    classified: 'RESERVATION',
    hasResourceRule: true,
  },
  checkArguments: () => ({ ok: true, resource: 'inventory/north/A1' }),
  ...more,
});
const base = facts();
const node = (more: Partial<DecisionFacts['node']>) => ({ node: { ...base.node, ...more } });
const policy = (more: Partial<DecisionFacts['policy']>) => ({ policy: { ...base.policy, ...more } });
const active = (more: Partial<NonNullable<DecisionFacts['active']>>) => ({
  active: { generation: 2, policyEpoch: 3, trustVersion: 1, freshUntil: LATER, ...more },
});
const tool = (more: Partial<NonNullable<DecisionFacts['tool']>>) =>
  ({
    tool: {
      name: 'reserve',
      descriptor,
      effectClass: 'RESERVATION',
      verdict: { status: 'OK', findings: [] },
      review: null,
      ...more,
    },
  }) as const;
const review = (state: 'pending' | 'refused', ...changed: ('text' | 'hints')[]) => ({
  review: { id: 'r1', state, changed },
});
const none = { allowed: false, policyIds: [] };
const latest = (state: 'INCOMPLETE' | 'QUARANTINED' | 'UNVERSIONED_OBSERVATION' | 'RETIRED') =>
  ({ active: null, latestScan: { state, reason: null } }) as const;

describe('allowed', () => {
  test('A1 the active generation', () => {
    expect(decide(base)).toEqual({
      decision: 'allowed',
      resource: 'inventory/north/A1',
      effectClass: 'RESERVATION',
      policyIds: ['p1'],
      generation: 2,
      expires: LATER,
    });
  });

  test('A1 a compatible older one, as long as both are fresh', () => {
    expect(decide(facts(node({ generation: 1 })))).toMatchObject({
      decision: 'allowed',
      generation: 2,
      expires: 1_500_000,
    });
  });

  test('P1 a READ tool goes on while the content is bound to a new epoch', () => {
    expect(decide(facts({ ...active({ policyEpoch: 2 }), ...tool({ effectClass: 'READ' }) })).decision).toBe(
      'allowed',
    );
  });

  test('V6 a READ tool whose text changed, reviewed or not', () => {
    const read = { effectClass: 'READ', ...review('refused', 'text') } as const;
    expect(decide(facts(tool(read))).decision).toBe('allowed');
  });

  test('a revocation of something else does not touch it', () => {
    const revocations = [
      { kind: 'tool-name', target: 'release' },
      { kind: 'tool-id', target: 'inventory.reserve@2' },
      { kind: 'subject', target: 'bob' },
      { kind: 'tool-name', target: 'alice' },
    ];
    expect(decide(facts({ revocations })).decision).toBe('allowed');
  });
});

/** In the order of the checks: each row also has every fault of the rows below it. */
const TABLE: readonly (readonly [string, Partial<DecisionFacts>])[] = [
  ['NOT_FOUND/NO_SUCH_SERVER', { server: null }],
  ['POLICY_DENIED/NO_POLICY', { policyEpoch: 0 }],
  ['POLICY_DENIED/NO_AUDIENCE', { caller: { ...base.caller, audience: null } }],
  ['SERVER_CLOSED/CLOSED_BY_OPERATOR', { server: { closedReason: 'maintenance', trustVersion: 1 } }],
  ['INCOMPLETE_DISCOVERY/LATEST_SCAN_INCOMPLETE', latest('INCOMPLETE')],
  ['STALE_CATALOG/GENERATION_UNKNOWN', node({ generation: 3 })],
  ['STALE_CATALOG/GENERATION_EXPIRED', active({ freshUntil: NOW })],
  ['TOOL_QUARANTINED/CONTRACT_CHECK_FAILED', tool({ verdict: { status: 'QUARANTINED', findings: [] } })],
  ['STALE_CATALOG/DESCRIPTOR_CHANGED', tool({ descriptor: other })],
  ['POLICY_REVOKED/REVOKED_TOOL', { revocations: [{ kind: 'tool-name', target: 'reserve' }] }],
  ['REVIEW_REQUIRED/TEXT_CHANGED', tool(review('pending', 'text'))],
  ['POLICY_DENIED/NO_PERMIT', policy({ autonomous: none })],
  [
    'PARAMS_INVALID/SCHEMA_MISMATCH',
    { checkArguments: () => ({ ok: false, refusal: refused('PARAMS_INVALID', 'SCHEMA_MISMATCH') }) },
  ],
];

describe('the order of the checks', () => {
  test.each(TABLE.map(([expected, fault], index) => [expected, fault, index] as const))(
    '%s goes before what stands below it',
    (expected, fault, index) => {
      const below = TABLE.slice(index + 1).map(([, one]) => one);
      const decision = decide(facts(Object.assign({}, ...below.reverse(), fault)));
      expect(decision.decision === 'refused' && `${decision.code}/${decision.reason}`).toBe(expected);
    },
  );
});

describe('V6 a tool that may have effects and is not as it was last approved', () => {
  test.each([
    ['TEXT_CHANGED', review('pending', 'text')],
    ['TEXT_CHANGED', review('pending', 'text', 'hints')],
    ['HINTS_CHANGED', review('pending', 'hints')],
    ['REVIEW_REFUSED', review('refused', 'hints')],
  ] as const)('V6 %s names the review and what changed', (reason, held) => {
    for (const effectClass of ['RESERVATION', 'WRITE', 'DESTRUCTIVE', 'UNKNOWN'] as const)
      expect(decide(facts(tool({ effectClass, ...held })))).toEqual(
        refused('REVIEW_REQUIRED', reason, { review: 'r1', changed: held.review.changed }),
      );
  });
});

describe('refused', () => {
  test.each<[string, Partial<DecisionFacts>]>([
    ['INCOMPLETE_DISCOVERY/NO_ACTIVE_GENERATION', { active: null, latestScan: null }],
    ['INCOMPLETE_DISCOVERY/NO_ACTIVE_GENERATION', latest('RETIRED')],
    ['INCOMPLETE_DISCOVERY/LATEST_SCAN_QUARANTINED', latest('QUARANTINED')],
    ['UNVERSIONED_SOURCE/NO_REVISION', latest('UNVERSIONED_OBSERVATION')],
    ['STALE_CATALOG/GENERATION_RETIRED', { ...node({ generation: 1 }), retained: [] }],
    [
      'STALE_CATALOG/GENERATION_RETIRED',
      { ...node({ generation: 1 }), retained: [{ generation: 1, state: 'QUARANTINED', expires: LATER }] },
    ],
    [
      'STALE_CATALOG/GENERATION_EXPIRED',
      { ...node({ generation: 1 }), retained: [{ generation: 1, state: 'ELIGIBLE', expires: NOW }] },
    ],
    ['STALE_CATALOG/GENERATION_EXPIRED', active({ freshUntil: epochMs(Number.NaN) })],
    ['STALE_CATALOG/TOOL_REMOVED', { ...node({ generation: 1 }), tool: null }],
    [
      'STALE_CATALOG/DESCRIPTOR_CHANGED',
      { ...node({ generation: 1 }), tool: null, currentId: parseToolId('inventory.reserve@2') },
    ],
    ['NOT_FOUND/NO_SUCH_TOOL', { tool: null }],
    ['POLICY_REVOKED/REVOKED_TOOL', { revocations: [{ kind: 'tool-id', target: 'inventory.reserve@1' }] }],
    ['POLICY_REVOKED/REVOKED_SERVER', { revocations: [{ kind: 'server', target: 'inventory' }] }],
    ['POLICY_REVOKED/REVOKED_SUBJECT', { revocations: [{ kind: 'subject', target: 'alice' }] }],
    ['POLICY_REVOKED/PERMIT_WITHDRAWN', policy({ autonomous: none, permittedBefore: true })],
    [
      'POLICY_REVOKED/PERMIT_WITHDRAWN',
      { caller: { ...base.caller, audience: null }, ...policy({ autonomous: none, permittedBefore: true }) },
    ],
    [
      'POLICY_DENIED/UNCLASSIFIED_EFFECT',
      { ...tool({ effectClass: 'UNKNOWN' }), ...policy({ autonomous: none, classified: null }) },
    ],
    [
      'STALE_CATALOG/EPOCH_REBINDING',
      { ...active({ policyEpoch: 2 }), ...policy({ autonomous: none, classified: 'WRITE' }) },
    ],
    ['STALE_CATALOG/EPOCH_REBINDING', active({ policyEpoch: 2 })],
    ['STALE_CATALOG/TRUST_REBINDING', { server: { closedReason: null, trustVersion: 2 } }],
    ['POLICY_DENIED/NO_RESOURCE_RULE', policy({ hasResourceRule: false })],
    ['PROOF_INVALID/UNBOUND_TOKEN', { requireBoundTokens: true }],
    ['CONFIRMATION_REQUIRED/NOT_CONFIRMED', policy({ autonomous: none, withConfirmation: true })],
    [
      'CONFIRMATION_REQUIRED/NOT_CONFIRMED',
      { mode: 'confirmed', ...policy({ autonomous: none, withConfirmation: true }) },
    ],
    ['CONFIRMATION_REQUIRED/NOT_CONFIRMED', { mode: 'confirmed' }],
  ])('%s', (expected, more) => {
    const decision = decide(facts(more));
    expect(decision.decision === 'refused' && `${decision.code}/${decision.reason}`).toBe(expected);
  });

  test('W2 a withdrawn permit is told at once, also while the content is not bound to the new epoch', () => {
    const withdrawn = {
      ...active({ policyEpoch: 2 }),
      ...policy({ autonomous: none, permittedBefore: true }),
    };
    expect(decide(facts(withdrawn))).toMatchObject({ code: 'POLICY_REVOKED', reason: 'PERMIT_WITHDRAWN' });
  });

  test('a stale plan is told the active generation', () => {
    for (const more of [tool({ descriptor: other }), { ...node({ generation: 1 }), tool: null }])
      expect(decide(facts(more))).toMatchObject({
        code: 'STALE_CATALOG',
        details: { activeGeneration: 2 },
      });
  });

  test('a token bound to the key is enough where bound tokens are required; READ needs none', () => {
    const bound = { ...base.caller, bound: true };
    expect(decide(facts({ requireBoundTokens: true, caller: bound })).decision).toBe('allowed');
    expect(decide(facts({ requireBoundTokens: true, ...tool({ effectClass: 'READ' }) })).decision).toBe(
      'allowed',
    );
  });

  test('arguments are looked at last, and once', () => {
    let looked = 0;
    const checkArguments: DecisionFacts['checkArguments'] = () => {
      looked += 1;
      return { ok: true, resource: '*' };
    };
    decide(facts({ checkArguments, ...policy({ autonomous: none }) }));
    expect(looked).toBe(0);
    decide(facts({ checkArguments }));
    expect(looked).toBe(1);
  });
});
