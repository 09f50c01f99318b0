/** The oracle's two questions: may this have been accepted, and had this to be refused. Nothing of src here either. */
import { type Page, stampText, type Tool, type Truth, toolsText, type Window } from './history.js';
import { type Beside, holds, restsOnAcceptance } from './standing.js';

/** What speaks against a move of the pointer. */
export const contradiction = (
  window: Window,
  now: Truth & { readonly fact: 'promoted' | 'renewed' },
  beside: Beside,
): readonly string[] => {
  const { tail, tailPage, stored } = window;
  if (tail === null || tailPage === null) return ['D3: accepted without a tail'];
  const found: string[] = [];
  const must = (holdsTrue: boolean, text: string): void => {
    if (!holdsTrue) found.push(text);
  };
  const stamp = stampText(tail.stamp);
  must(tail.stamp !== null && tailPage.stamp !== null, 'D4: accepted without a revision');
  must(stampText(now.stamp) === stamp, 'D3: accepted a revision that was not current at the tail');
  must(
    toolsText(now.tools) === toolsText(tail.tools),
    'D3: accepted another list than the one current at the tail',
  );
  must(
    new Set(now.tools.map(({ name }) => name)).size === tail.tools.length,
    'V1: one name stands for two tools',
  );
  must(
    stored.every((page) => stampText(page.stamp) === stamp),
    'D3: pages of more than one revision',
  );
  must(
    stored.every((page) => page.identity === tailPage.identity),
    'D8: pages and tail of more than one identity',
  );
  must(now.identity === tailPage.identity, 'D8: accepted under another identity than the tail had');
  must(
    stored.at(-1) !== undefined && stored.at(-1)?.next === undefined,
    'D1: accepted before the list had ended',
  );
  must(beside.epoch === window.epoch, 'P1: accepted under another policy epoch than the scan began with');
  must(beside.trust === window.trust, 'P1: accepted under another trust than the scan began with');
  must(beside.pointer === window.pointer, 'P1: two candidates won beside one pointer');
  must(now.fact === 'renewed' || !beside.closed, 'P1: promoted while the server was closed');
  for (const hold of holds(now, beside)) found.push(`D8, D9: accepted though it is ${hold}`);
  const { active } = beside;
  const unchanged =
    active !== null &&
    toolsText(active.tools) === toolsText(now.tools) &&
    active.identity === now.identity &&
    active.epoch === window.epoch &&
    active.trust === window.trust;
  must(now.fact !== 'renewed' || unchanged, 'S7: renewed though something changed');
  must(
    now.fact !== 'promoted' || !unchanged || restsOnAcceptance(now, beside),
    'S7: a new generation though nothing changed',
  );
  return found;
};

/** The pages in a row that the scan had in hand at its end: those that are stored, and the last one that came. */
const chain = ({ stored, answers }: Window): readonly Page[] => {
  const last = answers.at(-1);
  return last === undefined || last === stored.at(-1) ? stored : [...stored, last];
};

const repeats = (window: Window): boolean => {
  const given = new Set<string>();
  return chain(window).some(({ cursor, next }) => {
    if (next === undefined) return false;
    const again = next === cursor || given.has(next);
    given.add(next);
    return again;
  });
};

const addsNothing = ({ stored, answers }: Window): boolean => {
  const known = new Set(stored.flatMap(({ tools }) => tools.map(({ name }) => name)));
  const last = answers.at(-1);
  return last !== undefined && last.tools.length > 0 && last.tools.every(({ name }) => known.has(name));
};

const twoVersions = (window: Window): boolean => {
  const known = new Map<string, number>();
  return chain(window).some(({ tools }) =>
    tools.some(({ name, version }) => {
      const before = known.get(name);
      known.set(name, version);
      return before !== undefined && before !== version;
    }),
  );
};

const candidateOf = ({ stored }: Window): Truth | null => {
  const [first] = stored;
  return first === undefined ? null : { ...first, tools: distinct(stored) };
};
const distinct = (pages: readonly Page[]): readonly Tool[] => [
  ...new Map(pages.flatMap(({ tools }) => tools.map((tool) => [tool.name, tool] as const))).values(),
];

/** The source did not answer, however often it was asked. */
const isDown = ({ faults }: Window): boolean =>
  faults.filter((fault) => fault === 'UPSTREAM_ERROR').length >= 3;

/** D5, D8, D9: what a candidate is held for because of what was accepted before it. */
const HOLDS: ReadonlySet<string> = new Set([
  'IDENTITY_CHANGED',
  'NEW_INCARNATION',
  'ROLLBACK',
  'FAST_FORWARD',
  'EQUIVOCATION',
  'SHRUNK',
]);

/** Held by what serves now, or maybe by what served before the pointer moved. */
const isHeld = (reason: string, window: Window, beside: Beside): boolean => {
  const candidate = candidateOf(window);
  if (!HOLDS.has(reason) || candidate === null) return false;
  return holds(candidate, beside).has(reason) || beside.pointer !== window.pointer;
};

/** Whether something that happened while the scan ran is a reason to end it so. */
export const causeOf = (reason: string, window: Window, beside: Beside, restarts: number): boolean => {
  const moved = window.stamps.size > 1;
  switch (reason) {
    case 'PROMOTED':
    case 'UNCHANGED':
      return true;
    case 'REVISION_CHANGED':
      return moved;
    case 'REVISION_UNSTABLE':
      return moved && restarts === 4;
    case 'REVISION_MISSING':
      return (
        window.answers.some((page) => page.stamp === null) &&
        window.answers.some((page) => page.stamp !== null)
      );
    case 'NO_REVISION':
      return window.stored.every((page) => page.stamp === null);
    case 'IDENTITY_TORN':
      return window.identities.size > 1;
    case 'CURSOR_REPEATED':
    case 'CURSOR_CYCLE':
      return repeats(window);
    case 'NO_PROGRESS':
      return addsNothing(window) && !repeats(window);
    case 'DUPLICATE_NAME':
      return twoVersions(window);
    case 'CURSOR_EXPIRED':
      return window.faults.includes(reason);
    case 'SESSION_LOST':
      return window.faults.includes(reason) || isDown(window) || (window.overtaken && window.claims > 1);
    case 'UPSTREAM_ERROR':
      return window.tails === 0 && isDown(window);
    case 'TAIL_UNVERIFIED':
      return window.tails > 0 && window.faults.length >= 3;
    case 'CHANGED_DURING_SCAN':
      return beside.trust !== window.trust;
    case 'FENCED':
      return beside.trust !== window.trust || beside.epoch !== window.epoch || window.wasClosed;
    case 'LOST':
      return beside.pointer !== window.pointer;
    default:
      return isHeld(reason, window, beside);
  }
};
