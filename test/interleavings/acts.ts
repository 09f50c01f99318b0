/** What can happen in a round, and the kinds that it is counted by. */

export type Misbehaviour = 'repeats' | 'cycles' | 'stands' | 'doubles' | 'gaps';

export type Act =
  | { readonly do: 'change'; readonly edit: 'add' | 'edit' | 'remove'; readonly pick: number }
  /** Back to the list before the last change; with its stamp as well where the server takes that back too. */
  | { readonly do: 'restore'; readonly withStamp: boolean }
  | { readonly do: 'reorder' | 'shrink' | 'equivocate' | 'reincarnate' | 'unstamp' }
  | { readonly do: 'count'; readonly by: number }
  | { readonly do: 'identity' }
  | { readonly do: 'misbehave'; readonly how: Misbehaviour }
  | { readonly do: 'refuseCursor' | 'dropSessions' }
  | { readonly do: 'fail'; readonly times: number }
  | { readonly do: 'crash' }
  /** The worker stands still before it stores a page, and wakes so many moments later. */
  | { readonly do: 'freeze'; readonly moments: number }
  | { readonly do: 'hint' | 'policy' | 'trust' | 'announce' | 'close' | 'open' | 'compete' | 'accept' };

/** What is counted in the end: each kind must have had its share of the rounds. */
export const KINDS = [
  'change',
  'aba',
  'abaStamp',
  'unstable',
  'hintLost',
  'hintLate',
  'hintDuplicated',
  'hintSpurious',
  'hintStorm',
  'crash',
  'crashes',
  'freeze',
  'retry',
  'sessionDropped',
  'cursorRefused',
  'policy',
  'trust',
  'closed',
  'competitor',
  'identity',
  'identityReturned',
  'identityAnnounced',
  'rollback',
  'equivocation',
  'fastForward',
  'reincarnation',
  'shrink',
  'reorder',
  'unstamped',
  'accepted',
  'acceptedLate',
  'repeats',
  'cycles',
  'stands',
  'doubles',
  'gaps',
] as const;
export type Kind = (typeof KINDS)[number];
