/** D5 written out once more by hand: the table of the code must be this one, edge for edge. */
import { describe, expect, test } from 'vitest';
import type { Candidate, CandidateState } from '../../../src/domain/generation.js';
import { parseAudienceClass, parseDigest, parseServerName, parseTenantId } from '../../../src/domain/ids.js';
import { EDGES, hasEdge, type ScanEvent, step } from '../../../src/domain/transitions.js';

const key = {
  tenant: parseTenantId('acme'),
  server: parseServerName('inventory'),
  audience: parseAudienceClass('warehouse.policy-1'),
};
const digest = parseDigest(`sha256:${'a'.repeat(64)}`);
const revision = { binding: 'SERVER_REVISION', value: { incarnation: 'i', counter: 7 } } as const;
const base = { key, scan: 'run/0' };

const CANDIDATES: Readonly<Record<CandidateState, Candidate>> = {
  DISCOVERING: { state: 'DISCOVERING', ...base },
  VALIDATING: { state: 'VALIDATING', ...base, pages: 5, tools: 120, revision },
  SNAPSHOT_PROVEN: { state: 'SNAPSHOT_PROVEN', ...base, pages: 5, tools: 120, revision, pageRoot: digest },
  ELIGIBLE: { state: 'ELIGIBLE', ...base, generation: 1, policyEpoch: 1, receipt: 'r' },
  UNVERSIONED_OBSERVATION: {
    state: 'UNVERSIONED_OBSERVATION',
    ...base,
    pages: 1,
    tools: 13,
    observed: digest,
    reason: 'NO_REVISION',
  },
  INCOMPLETE: { state: 'INCOMPLETE', ...base, reason: 'UNREACHABLE', evidence: {} },
  QUARANTINED: { state: 'QUARANTINED', ...base, reason: 'SHRUNK', evidence: {} },
  RETIRED: { state: 'RETIRED', ...base, reason: 'UNCHANGED', successor: 1, freshUntil: null, evidence: {} },
};

const EVENTS = {
  pagesComplete: { type: 'pagesComplete', pages: 5, tools: 120, revision },
  pagesUnversioned: { type: 'pagesUnversioned', pages: 1, tools: 13, observed: digest },
  tailBound: { type: 'tailBound', pageRoot: digest },
  promoted: { type: 'promoted', generation: 2, policyEpoch: 1, receipt: 'r2' },
  retired: { type: 'retired', reason: 'LOST', successor: 3, freshUntil: null, evidence: {} },
  incomplete: { type: 'incomplete', reason: 'CURSOR_CYCLE', evidence: { page: 2 } },
  quarantined: { type: 'quarantined', reason: 'DUPLICATE_NAME', evidence: { name: 'a' } },
} as const satisfies Record<ScanEvent['type'], ScanEvent>;

/** D5, state by state: the event that leads to each state that may follow. Every other event is refused. */
const ALLOWED: Readonly<Record<CandidateState, Partial<Record<ScanEvent['type'], CandidateState>>>> = {
  DISCOVERING: {
    pagesComplete: 'VALIDATING',
    pagesUnversioned: 'UNVERSIONED_OBSERVATION',
    incomplete: 'INCOMPLETE',
    quarantined: 'QUARANTINED',
  },
  VALIDATING: { tailBound: 'SNAPSHOT_PROVEN', incomplete: 'INCOMPLETE', quarantined: 'QUARANTINED' },
  SNAPSHOT_PROVEN: {
    promoted: 'ELIGIBLE',
    quarantined: 'QUARANTINED',
    incomplete: 'INCOMPLETE',
    retired: 'RETIRED',
  },
  ELIGIBLE: { retired: 'RETIRED', quarantined: 'QUARANTINED' },
  UNVERSIONED_OBSERVATION: {},
  INCOMPLETE: {},
  QUARANTINED: {},
  RETIRED: {},
};

const states = Object.keys(CANDIDATES) as CandidateState[];
const events = Object.keys(EVENTS) as ScanEvent['type'][];

describe('D5 states and edges', () => {
  test('D5 the table is exactly this one', () => {
    expect(EDGES).toEqual({
      DISCOVERING: ['VALIDATING', 'INCOMPLETE', 'QUARANTINED', 'UNVERSIONED_OBSERVATION'],
      VALIDATING: ['SNAPSHOT_PROVEN', 'INCOMPLETE', 'QUARANTINED'],
      SNAPSHOT_PROVEN: ['ELIGIBLE', 'QUARANTINED', 'INCOMPLETE', 'RETIRED'],
      ELIGIBLE: ['RETIRED', 'QUARANTINED'],
      UNVERSIONED_OBSERVATION: [],
      INCOMPLETE: [],
      QUARANTINED: [],
      RETIRED: [],
    });
  });

  test('D5 hasEdge says the same of every pair of states', () => {
    const pairs = states.flatMap((from) => states.filter((to) => hasEdge(from, to)).map((to) => [from, to]));
    expect(pairs).toHaveLength(13);
    expect(hasEdge('QUARANTINED', 'ELIGIBLE')).toBe(false);
    expect(hasEdge('UNVERSIONED_OBSERVATION', 'SNAPSHOT_PROVEN')).toBe(false);
  });

  const cases = states.flatMap((from) => events.map((event) => [from, event] as const));
  test.each(cases)('D5 from %s, %s leads where the table says or is refused by name', (from, event) => {
    const before = structuredClone(CANDIDATES[from]);
    const result = step(CANDIDATES[from], EVENTS[event]);
    const next = ALLOWED[from][event];
    if (next === undefined) {
      expect(result).toEqual({ ok: false, refusal: 'NO_SUCH_EDGE', from, event });
    } else {
      expect(result).toMatchObject({ ok: true, next: { state: next, ...base } });
    }
    expect(CANDIDATES[from]).toEqual(before);
  });

  test('D5 a state holds what is then known, and nothing of what is not', () => {
    const proven = step(CANDIDATES.VALIDATING, EVENTS.tailBound);
    expect(proven).toEqual({
      ok: true,
      next: { state: 'SNAPSHOT_PROVEN', ...base, pages: 5, tools: 120, revision, pageRoot: digest },
    });
    expect(step(CANDIDATES.SNAPSHOT_PROVEN, EVENTS.promoted)).toEqual({
      ok: true,
      next: { state: 'ELIGIBLE', ...base, generation: 2, policyEpoch: 1, receipt: 'r2' },
    });
    expect(step(CANDIDATES.VALIDATING, EVENTS.quarantined)).toEqual({
      ok: true,
      next: { state: 'QUARANTINED', ...base, reason: 'DUPLICATE_NAME', evidence: { name: 'a' } },
    });
  });
});
