/** Guards of what may be promoted or renewed beside what was accepted before, one less each. */
import { CORE, type Core } from './core.js';
import { fencing, letting, type Mutant } from './mutant.js';

type Candidate = Parameters<Core['isUnchanged']>[1];

/** S7: `unchanged` told without a look at a part of what it is of. */
const overlooking = (
  part: string,
  kinds: Mutant['kinds'],
  taken: (candidate: Candidate) => Partial<Candidate>,
): Mutant => ({
  name: `unchanged is of equal ${part}`,
  kinds,
  core: {
    ...CORE,
    isUnchanged: (active, candidate, times) =>
      CORE.isUnchanged(active && { ...active, ...taken(candidate) }, candidate, times),
  },
});

export const PROMOTION_MUTANTS: readonly Mutant[] = [
  fencing('fence of stale attempts', ['freeze'], 'hasClaim'),
  fencing('policy epoch at the promotion', ['policy'], 'epochAtPromotion'),
  fencing('trust version at the promotion', ['trust'], 'trustAtPromotion'),
  fencing('pointer version at the promotion', ['competitor'], 'pointerAtPromotion'),
  fencing('closed server at the promotion', ['closed'], 'isOpen'),
  fencing('policy epoch at the renewal', ['policy'], 'epochAtRenewal'),
  fencing('trust version at the renewal', ['trust'], 'trustAtRenewal'),
  fencing('pointer version at the renewal', ['competitor'], 'pointerAtRenewal'),
  fencing('pointer version of an acceptance', ['acceptedLate'], 'pointerOfAcceptance'),
  letting('rollback', ['rollback'], 'ROLLBACK'),
  letting('equivocation', ['equivocation'], 'EQUIVOCATION'),
  letting('fast-forward', ['fastForward'], 'FAST_FORWARD'),
  letting('new incarnation', ['reincarnation'], 'NEW_INCARNATION'),
  letting('changed identity', ['identity'], 'IDENTITY_CHANGED'),
  {
    name: 'one credential sees one list at one revision',
    kinds: ['equivocation'],
    core: {
      ...CORE,
      judgeWithAcceptances: (active, earlier, proposed, acceptances) =>
        CORE.judgeWithAcceptances(active, earlier, { ...proposed, sameCredential: false }, acceptances),
    },
  },
  {
    name: 'shrink',
    kinds: ['shrink'],
    core: { ...CORE, isShrunk: () => false },
  },
  {
    name: 'an acceptance is of what was looked at',
    kinds: ['accepted'],
    core: {
      ...CORE,
      judgeWithAcceptances: (active, earlier, proposed, acceptances) => {
        const judged = CORE.judgeWithAcceptances(active, earlier, proposed, acceptances);
        return acceptances.length > 0
          ? { continuity: { kind: 'follows' }, restsOn: [...acceptances] }
          : judged;
      },
    },
  },
  overlooking('content', ['change'], ({ contentRoot }) => ({ contentRoot })),
  overlooking('identity', ['identityAnnounced'], ({ identity }) => ({ identity })),
  overlooking('policy epoch', ['policy'], ({ policyEpoch }) => ({ policyEpoch })),
  overlooking('trust version', ['trust'], ({ trustVersion }) => ({ trustVersion })),
  {
    name: 'an unchanged list is only renewed',
    kinds: ['hintSpurious', 'reorder'],
    core: { ...CORE, isUnchanged: () => false },
  },
];
