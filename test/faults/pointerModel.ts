/**
 * The pointer of one server and audience, one operation after another: what each may answer, said without a word of SQL.
 * The store is held to it by the checker of linearizability.ts.
 */
import type { Model, Operation } from './linearizability.js';

/** What a promotion is compared with: as the scan's claim read it. */
export interface Base {
  readonly version: number;
  readonly epoch: number;
  readonly trust: number;
}

export interface Seen extends Base {
  readonly generation: number | null;
  readonly isClosed: boolean;
  /** How often the server's fence has moved. */
  readonly fence: number;
}

export type PointerCall =
  | { readonly kind: 'claim' | 'read' }
  | { readonly kind: 'promote'; readonly generation: number; readonly base: Base }
  | { readonly kind: 'publish' | 'changeTrust'; readonly expected: number }
  | { readonly kind: 'revoke' | 'lift' | 'close' | 'open' };

export type PromoteAnswer =
  | { readonly outcome: 'promoted'; readonly generation: number }
  | { readonly outcome: 'lost'; readonly activeGeneration: number | null }
  | { readonly outcome: 'fenced'; readonly what: string };

/** Of a claim the base, of a read what was seen, of a promotion its outcome, of the others the number that came of it. */
export type PointerAnswer =
  | Base
  | Seen
  | PromoteAnswer
  | { readonly became: number | null }
  | { readonly done: true };

export type PointerOperation = Operation<PointerCall, PointerAnswer>;

export interface PointerState extends Seen {
  /** Generations that were promoted, and so answer as promoted for ever. */
  readonly promoted: ReadonlySet<number>;
}

const asJson = (value: unknown): string => JSON.stringify(value, Object.keys(value as object).sort());

/** P1: the compare-and-set, and everything it compares with; each clause is the first that holds. */
const promote = (
  state: PointerState,
  { generation, base }: Extract<PointerCall, { readonly kind: 'promote' }>,
): { readonly answer: PromoteAnswer; readonly next: PointerState } => {
  const unmoved = (answer: PromoteAnswer) => ({ answer, next: state });
  if (state.promoted.has(generation)) return unmoved({ outcome: 'promoted', generation });
  if (base.trust !== state.trust) return unmoved({ outcome: 'fenced', what: 'trust' });
  if (base.epoch !== state.epoch) return unmoved({ outcome: 'fenced', what: 'policyEpoch' });
  if (state.isClosed) return unmoved({ outcome: 'fenced', what: 'closed' });
  if (base.version !== state.version) return unmoved({ outcome: 'lost', activeGeneration: state.generation });
  const next: PointerState = {
    ...state,
    version: state.version + 1,
    generation,
    fence: state.fence + 1,
    promoted: new Set([...state.promoted, generation]),
  };
  return { answer: { outcome: 'promoted', generation }, next };
};

const seenOf = ({ promoted: _, ...seen }: PointerState): Seen => seen;
const baseOf = ({ version, epoch, trust }: PointerState): Base => ({ version, epoch, trust });
const moved = (state: PointerState, more: Partial<PointerState> = {}): PointerState => ({
  ...state,
  fence: state.fence + 1,
  ...more,
});

/** What the call answers in that state, and the state after it. */
const run = (
  state: PointerState,
  call: PointerCall,
): { readonly answer: PointerAnswer; readonly next: PointerState } => {
  switch (call.kind) {
    case 'claim':
      return { answer: baseOf(state), next: state };
    case 'read':
      return { answer: seenOf(state), next: state };
    case 'promote':
      return promote(state, call);
    case 'publish': {
      // The policy is the tenant's: its fence moves, and not the server's.
      if (call.expected !== state.epoch) return { answer: { became: null }, next: state };
      return { answer: { became: state.epoch + 1 }, next: { ...state, epoch: state.epoch + 1 } };
    }
    case 'changeTrust': {
      if (call.expected !== state.trust) return { answer: { became: null }, next: state };
      return { answer: { became: state.trust + 1 }, next: moved(state, { trust: state.trust + 1 }) };
    }
    case 'revoke':
    case 'lift':
      return { answer: { done: true }, next: moved(state) };
    case 'close':
      return { answer: { done: true }, next: moved(state, { isClosed: true }) };
    case 'open':
      return { answer: { done: true }, next: moved(state, { isClosed: false }) };
  }
};

export const pointerModel = (initial: Seen): Model<PointerState, PointerCall, PointerAnswer> => ({
  initial: { ...initial, promoted: new Set() },
  step(state, call, answer) {
    const expected = run(state, call);
    return asJson(expected.answer) === asJson(answer) ? expected.next : null;
  },
  // What was promoted follows from what is placed, which the search compares as well.
  key: (state) => asJson(seenOf(state)),
});
