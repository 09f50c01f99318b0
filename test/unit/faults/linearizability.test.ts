/** The checker that judges the race for the pointer: it accepts what one order explains, and refuses the rest. */
import { describe, expect, test } from 'vitest';
import { checkLinearizable, type Model, type Operation } from '../../faults/linearizability.js';
import {
  type PointerAnswer,
  type PointerCall,
  type PointerOperation,
  pointerModel,
  type Seen,
} from '../../faults/pointerModel.js';
import { createRandom } from '../../interleavings/random.js';

type Register = Operation<{ readonly write: number } | 'read', number>;
/** A number that is written and read; a write answers with what it wrote. */
const register: Model<number, Register['call'], number> = {
  initial: 0,
  step: (state, call, answer) => {
    if (call === 'read') return answer === state ? state : null;
    return answer === call.write ? call.write : null;
  },
  key: String,
};
const read = (answer: number, invoked: number, returned: number): Register => ({
  call: 'read',
  answer,
  invoked: BigInt(invoked),
  returned: BigInt(returned),
});
const write = (value: number, invoked: number, returned: number): Register => ({
  call: { write: value },
  answer: value,
  invoked: BigInt(invoked),
  returned: BigInt(returned),
});
const holds = (...history: Register[]): boolean => checkLinearizable(register, history).linearizable;

describe('a register', () => {
  test('no operation, and one after another', () => {
    expect(holds()).toBe(true);
    expect(holds(write(1, 0, 1), read(1, 2, 3), write(2, 4, 5), read(2, 6, 7))).toBe(true);
  });

  test('what overlaps may take effect in either order, and what is written last need not be read last', () => {
    expect(holds(write(1, 0, 9), read(0, 1, 8))).toBe(true);
    expect(holds(write(1, 0, 9), read(1, 1, 8))).toBe(true);
    expect(holds(write(1, 0, 9), write(2, 1, 8), read(1, 10, 11))).toBe(true);
    // One order only: 2 is written, 1 over it, both within the first write's time.
    expect(holds(write(1, 0, 9), write(2, 1, 2), read(2, 3, 4), read(1, 5, 6))).toBe(true);
  });

  test.each<[string, Register[]]>([
    ['a read that misses a write that was answered before', [write(1, 0, 1), read(0, 2, 3)]],
    ['a read of what nobody wrote', [write(1, 0, 9), read(7, 1, 8)]],
    ['a read that knows a write that comes later', [read(1, 0, 1), write(1, 2, 3)]],
    [
      'two readers who see two writes in two orders',
      [write(1, 0, 20), write(2, 0, 20), read(1, 1, 2), read(2, 3, 4), read(1, 5, 6)],
    ],
    ['a value that comes back', [write(1, 0, 1), write(2, 2, 3), read(2, 4, 9), read(1, 5, 8)]],
  ])('refused: %s', (_, history) => {
    expect(holds(...history)).toBe(false);
  });

  test('it says how far it came, and what it could not place', () => {
    const stale = read(0, 4, 5);
    const verdict = checkLinearizable(register, [write(1, 0, 1), read(1, 2, 3), stale]);
    expect(verdict).toEqual({
      linearizable: false,
      longest: [write(1, 0, 1), read(1, 2, 3)],
      stuck: [stale],
    });
  });
});

const START: Seen = { version: 0, epoch: 0, trust: 1, generation: null, isClosed: false, fence: 1 };
const BASE = { version: 0, epoch: 0, trust: 1 };
let clock = 0n;
/** After everything before it. */
const then = (call: PointerCall, answer: PointerAnswer): PointerOperation => ({
  call,
  answer,
  invoked: ++clock,
  returned: ++clock,
});
/** Beside each other. */
const beside = (...ops: readonly PointerOperation[]): readonly PointerOperation[] => {
  const [invoked, returned] = [++clock, ++clock];
  return ops.map((op) => ({ ...op, invoked, returned }));
};
const promote = (generation: number, base = BASE): PointerCall => ({ kind: 'promote', generation, base });
const promoted = (generation: number): PointerAnswer => ({ outcome: 'promoted', generation });
const lost = (activeGeneration: number | null): PointerAnswer => ({ outcome: 'lost', activeGeneration });
const fenced = (what: string): PointerAnswer => ({ outcome: 'fenced', what });
const judged = (...history: readonly PointerOperation[]): boolean =>
  checkLinearizable(pointerModel(START), history).linearizable;

describe('P1 the pointer', () => {
  test('one winner, losers, fences, a repeat of the winner, and a read of all of it', () => {
    expect(
      judged(
        ...beside(then(promote(1), lost(2)), then(promote(2), promoted(2)), then(promote(3), lost(2))),
        then(promote(2), promoted(2)),
        then({ kind: 'publish', expected: 0 }, { became: 1 }),
        then({ kind: 'publish', expected: 0 }, { became: null }),
        then(promote(4, { ...BASE, version: 1 }), fenced('policyEpoch')),
        then({ kind: 'changeTrust', expected: 1 }, { became: 2 }),
        then(promote(1), fenced('trust')),
        then({ kind: 'revoke' }, { done: true }),
        then({ kind: 'claim' }, { version: 1, epoch: 1, trust: 2 }),
        then({ kind: 'close' }, { done: true }),
        then(promote(5, { version: 1, epoch: 1, trust: 2 }), fenced('closed')),
        then({ kind: 'open' }, { done: true }),
        then({ kind: 'read' }, { version: 1, epoch: 1, trust: 2, generation: 2, isClosed: false, fence: 6 }),
      ),
    ).toBe(true);
  });

  test.each<[string, () => readonly PointerOperation[]]>([
    [
      'two winners of one version',
      () => beside(then(promote(1), promoted(1)), then(promote(2), promoted(2))),
    ],
    ['a loser where nobody won', () => [then(promote(1), lost(null))]],
    [
      'a loser that names another winner',
      () => beside(then(promote(1), promoted(1)), then(promote(2), lost(3))),
    ],
    [
      'a loser who was answered before the winner began',
      () => [then(promote(2), lost(1)), then(promote(1), promoted(1))],
    ],
    [
      'a winner under an epoch that was over',
      () => [then({ kind: 'publish', expected: 0 }, { became: 1 }), then(promote(1), promoted(1))],
    ],
    [
      'a winner under a trust that was over',
      () => [then({ kind: 'changeTrust', expected: 1 }, { became: 2 }), then(promote(1), promoted(1))],
    ],
    [
      'a winner at a closed server',
      () => [then({ kind: 'close' }, { done: true }), then(promote(1), promoted(1))],
    ],
    ['a fence that nothing moved', () => [then(promote(1), fenced('policyEpoch'))]],
    [
      'a revocation that moved no fence',
      () => [then({ kind: 'revoke' }, { done: true }), then({ kind: 'read' }, START)],
    ],
    [
      'a promotion that moved no fence',
      () => [then(promote(1), promoted(1)), then({ kind: 'read' }, { ...START, version: 1, generation: 1 })],
    ],
    [
      'a claim that reads an old version',
      () => [then(promote(1), promoted(1)), then({ kind: 'claim' }, BASE)],
    ],
    [
      'one epoch that two published',
      () =>
        beside(
          then({ kind: 'publish', expected: 0 }, { became: 1 }),
          then({ kind: 'publish', expected: 0 }, { became: 1 }),
        ),
    ],
  ])('refused: %s', (_, history) => {
    expect(judged(...history())).toBe(false);
  });

  test('long histories that came of one order are accepted, and refused once a single read of them is off by one', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = createRandom(seed, 0);
      const ops: PointerOperation[] = [];
      const state = { ...START };
      for (let n = 1; n <= 120; n++) {
        const base = { version: state.version, epoch: state.epoch, trust: state.trust };
        const at = BigInt(n * 100);
        // Within so much of each other's time that several are open at each moment.
        const spread = { invoked: at - BigInt(random.below(350)), returned: at + BigInt(random.below(350)) };
        const add = (call: PointerCall, answer: PointerAnswer) => ops.push({ call, answer, ...spread });
        const kind = random.below(4);
        if (kind === 0) {
          Object.assign(state, { version: state.version + 1, generation: n, fence: state.fence + 1 });
          add(promote(n, base), promoted(n));
        } else if (kind === 1) {
          state.fence++;
          add({ kind: 'revoke' }, { done: true });
        } else if (kind === 2) {
          state.epoch++;
          add({ kind: 'publish', expected: base.epoch }, { became: state.epoch });
        } else add({ kind: 'read' }, { ...state });
      }
      expect(judged(...ops), `seed ${seed}`).toBe(true);
      const reads = ops.filter(({ call }) => call.kind === 'read');
      const off = reads[random.below(reads.length)];
      const bent = ops.map((op) =>
        op === off
          ? { ...op, answer: { ...(op.answer as Seen), fence: (op.answer as Seen).fence + 500 } }
          : op,
      );
      expect(judged(...bent), `seed ${seed}, bent`).toBe(false);
    }
  });
});
