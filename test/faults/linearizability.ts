/**
 * Whether a history of concurrent operations could have come of one after another: Wing and Gong's search, in which an
 * operation takes effect at one moment between its call and its answer. Knows nothing of what is checked.
 */
export interface Operation<Call, Answer> {
  readonly call: Call;
  readonly answer: Answer;
  /** Of one monotonic clock. */
  readonly invoked: bigint;
  readonly returned: bigint;
}

export interface Model<State, Call, Answer> {
  readonly initial: State;
  /** @returns the state after the call, the very same object where it changes nothing; null where it is answered otherwise */
  step(state: State, call: Call, answer: Answer): State | null;
  /** Equal for states that no later call can tell apart. */
  key(state: State): string;
}

export type Verdict<Call, Answer> =
  | { readonly linearizable: true; readonly order: readonly Operation<Call, Answer>[] }
  | {
      readonly linearizable: false;
      /** The longest way that the search came, and what could have been next after it, none of which the model answers so. */
      readonly longest: readonly Operation<Call, Answer>[];
      readonly stuck: readonly Operation<Call, Answer>[];
    };

interface Frame<State> {
  readonly state: State;
  /** What is left to try from here. */
  readonly branches: { readonly index: number; readonly next: State }[];
  /** The operation that is placed now. */
  placed: number | null;
}

export const checkLinearizable = <State, Call, Answer>(
  model: Model<State, Call, Answer>,
  history: readonly Operation<Call, Answer>[],
): Verdict<Call, Answer> => {
  const ops = history.toSorted((a, b) => (a.invoked < b.invoked ? -1 : a.invoked > b.invoked ? 1 : 0));
  const isPlaced = new Uint8Array(ops.length);
  const way: number[] = [];
  /** Everything before it is placed. */
  let low = 0;
  let longest: { readonly way: readonly number[]; readonly stuck: readonly number[] } = {
    way: [],
    stuck: [],
  };

  /** What no other open operation had answered before it was called. */
  const candidates = (): readonly number[] => {
    const open: number[] = [];
    let firstAnswer: bigint | null = null;
    for (let index = low; index < ops.length; index++) {
      const op = ops[index];
      if (op === undefined || isPlaced[index] === 1) continue;
      if (firstAnswer !== null && op.invoked > firstAnswer) break;
      open.push(index);
      if (firstAnswer === null || op.returned < firstAnswer) firstAnswer = op.returned;
    }
    return open.filter((index) => firstAnswer === null || (ops[index]?.invoked ?? 0n) <= firstAnswer);
  };

  const open = (state: State): Frame<State> => {
    const next = candidates();
    const branches: { index: number; next: State }[] = [];
    for (const index of next) {
      const op = ops[index];
      if (op === undefined) continue;
      const after = model.step(state, op.call, op.answer);
      if (after === null) continue;
      // What changes nothing can take effect now: whatever order there is, there is one in which it does.
      if (after === state) return { state, branches: [{ index, next: after }], placed: null };
      branches.push({ index, next: after });
    }
    if (branches.length === 0 && way.length >= longest.way.length) longest = { way: [...way], stuck: next };
    return { state, branches, placed: null };
  };

  /** The set of what is placed, and the state: from there on two ways are one. */
  const keyOf = (state: State): string => {
    while (isPlaced[low] === 1) low++;
    const beyond: number[] = [];
    for (let index = low, left = way.length - low; left > 0; index++) {
      if (isPlaced[index] !== 1) continue;
      beyond.push(index);
      left--;
    }
    return `${low}|${beyond.join()}|${model.key(state)}`;
  };

  const opsOf = (indexes: readonly number[]) => indexes.flatMap((index) => ops[index] ?? []);
  const seen = new Set<string>();
  const frames: Frame<State>[] = [open(model.initial)];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (way.length === ops.length) return { linearizable: true, order: opsOf(way) };
    if (frame.placed !== null) {
      isPlaced[frame.placed] = 0;
      low = Math.min(low, frame.placed);
      way.pop();
      frame.placed = null;
    }
    const branch = frame.branches.pop();
    if (branch === undefined) {
      frames.pop();
      continue;
    }
    frame.placed = branch.index;
    isPlaced[branch.index] = 1;
    way.push(branch.index);
    const key = keyOf(branch.next);
    if (seen.has(key)) continue;
    seen.add(key);
    frames.push(open(branch.next));
  }
  return { linearizable: false, longest: opsOf(longest.way), stuck: opsOf(longest.stuck) };
};
