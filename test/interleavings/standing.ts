/** How a candidate stands to what was accepted before it, as the oracle has it: D8, D9 and the shrink guard, written anew. */
import { type Stamp, type Truth, toolsText } from './history.js';

export interface Beside {
  readonly active: (Truth & { readonly epoch: number; readonly trust: number }) | null;
  /** What was last accepted of each identity. */
  readonly acceptedBy: ReadonlyMap<string, Truth>;
  readonly announced: ReadonlySet<string>;
  readonly epoch: number;
  readonly trust: number;
  readonly pointer: number;
  readonly closed: boolean;
  /** What operators accepted beside the pointer that the scan began with. */
  readonly held: readonly (Truth & { readonly kind: string; readonly pointer: number })[];
}

const MOST = 1_000_000_000;
const SHARE = 0.3;

/** Why a revision cannot follow another of the same source; null where it can. */
const obstacle = (before: Truth, after: Truth): string | null => {
  const [a, b]: [Stamp, Stamp] = [before.stamp, after.stamp];
  if (a === null || b === null) return 'NO_REVISION';
  const same = toolsText(before.tools) === toolsText(after.tools);
  if ('token' in a || 'token' in b) {
    if (!('token' in a && 'token' in b)) return 'NEW_INCARNATION';
    return a.token === b.token && !same ? 'EQUIVOCATION' : null;
  }
  if (a.incarnation !== b.incarnation) return 'NEW_INCARNATION';
  if (b.counter < a.counter) return 'ROLLBACK';
  if (b.counter === a.counter) return same ? null : 'EQUIVOCATION';
  return b.counter - a.counter > MOST ? 'FAST_FORWARD' : null;
};

/** What a candidate would be held for beside what serves, and no operator has accepted. */
export const holds = (candidate: Truth, beside: Beside): ReadonlySet<string> => {
  const found = new Set<string>();
  const { active, acceptedBy, announced, held } = beside;
  if (active !== null && active.identity !== candidate.identity && !announced.has(candidate.identity))
    found.add('IDENTITY_CHANGED');
  const before = acceptedBy.get(candidate.identity);
  const why = before === undefined ? null : obstacle(before, candidate);
  if (why !== null) found.add(why);
  if (active !== null) {
    const names = new Set(candidate.tools.map(({ name }) => name));
    const lost = active.tools.filter(({ name }) => !names.has(name)).length;
    if (active.tools.length > 0 && lost / active.tools.length > SHARE) found.add('SHRUNK');
  }
  for (const one of held) {
    if (one.identity !== candidate.identity) continue;
    const same = toolsText(one.tools) === toolsText(candidate.tools);
    const covers =
      one.kind === 'IDENTITY_CHANGED' ||
      (one.kind === 'SHRUNK' ? same : obstacle(one, candidate) === null && one.stamp !== null);
    if (covers) found.delete(one.kind);
  }
  return found;
};

export const restsOnAcceptance = (candidate: Truth, beside: Beside): boolean => {
  const without = holds(candidate, { ...beside, held: [] });
  return without.size > holds(candidate, beside).size;
};
