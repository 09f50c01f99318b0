/** Guards of what follows the end of a scan, one less each. */
import { CORE } from './core.js';
import { type Mutant, ruling } from './mutant.js';

export const RULE_MUTANTS: readonly Mutant[] = [
  ruling('a hint before the promotion asks for the tail again', ['hintSpurious', 'hintLate'], {
    asksTailAgain: () => false,
  }),
  ruling('an unanswered hint asks for a scan', ['hintSpurious', 'hintLate'], { asksScan: () => false }),
  ruling('a moved revision begins another round', ['hintLost', 'change'], {
    afterScan: (restarts, ended) => ({ ...CORE.rounds.afterScan(restarts, ended), again: false }),
  }),
  ruling('five rounds at most', ['unstable'], {
    afterScan: (restarts, ended) =>
      CORE.rounds.afterScan({ ...restarts, all: Math.min(restarts.all, 2) }, ended),
  }),
  ruling('a cursor refused twice ends the run', ['cursorRefused'], {
    afterScan: (restarts, ended) => CORE.rounds.afterScan({ ...restarts, forCursors: 0 }, ended),
  }),
  ruling('three tails at most', ['hintStorm'], {
    asksTailAgain: ({ arrived, answered }) => arrived !== answered,
  }),
  ruling('three idle scans at most', ['hintStorm'], {
    asksScan: (hints, ended, idle) => CORE.rounds.asksScan(hints, ended, Math.min(idle, 2)),
  }),
  ruling('a hint that told of nothing asks once more', ['hintSpurious'], {
    asksScan: (hints, ended, idle) =>
      hints.arrived !== hints.answered && CORE.rounds.asksScan(hints, ended, idle),
  }),
  ruling('a closed server is not scanned again', ['closed'], {
    afterScan: (restarts, ended) => ({
      ...CORE.rounds.afterScan(restarts, ended.state === 'RETIRED' ? { ...ended, evidence: {} } : ended),
      ended,
    }),
  }),
  ruling('no hint follows an unstable list', ['unstable', 'hintStorm'], {
    asksScan: (hints, ended, idle) =>
      CORE.rounds.asksScan(
        hints,
        ended.state === 'INCOMPLETE' && ended.reason === 'REVISION_UNSTABLE'
          ? { ...ended, reason: 'REVISION_CHANGED' }
          : ended,
        idle,
      ),
  }),
];
