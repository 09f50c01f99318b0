/**
 * Lets few of many hints through (D2). A signal is an event of the run's history, and a history of thousands of them is
 * what a worker that takes the run over replays, where one hint that comes after them all says as much.
 */

/** Between two hints of one key that this process sends. */
export const HINT_INTERVAL_MS = 500;

/**
 * The first hint of a key goes out at once. Those that come while it is on its way, or before `pause` has passed since,
 * share the next one: it goes out after each of them came, so that none is lost.
 * @param send what a hint is; each caller that shares one gets its answer, or its failure
 */
export const createHintGate = <K, T>(
  send: (key: K) => Promise<T>,
  options: { readonly idOf: (key: K) => string; readonly pause: () => Promise<unknown> },
): ((key: K) => Promise<T>) => {
  /** For keys that are quiet there is no entry. `next` is the hint that has not gone out. */
  const busy = new Map<string, { next: Promise<T> | null; rest: Promise<unknown> }>();

  return (key) => {
    const id = options.idOf(key);
    const before = busy.get(id);
    if (before?.next != null) return before.next;
    const gate = before ?? { next: null, rest: Promise.resolve() };
    busy.set(id, gate);
    const go = (): Promise<T> => {
      gate.next = null;
      const sent = send(key);
      const rest = sent.then(options.pause, options.pause).finally(() => {
        if (gate.rest === rest && gate.next === null) busy.delete(id);
      });
      gate.rest = rest;
      return sent;
    };
    if (before === undefined) return go();
    gate.next = gate.rest.then(go);
    return gate.next;
  };
};
