/** What is to happen in one round, and at which moments: made from a seed, so that a failing round can be run again. */
import { type Act, KINDS, type Kind, type Misbehaviour } from './acts.js';
import { createRandom, type Random } from './random.js';

export interface Planned {
  readonly run: number;
  /** Counted from the first moment of the run; −1 is before it. */
  readonly at: number;
  readonly act: Act;
  readonly kind: Kind;
}

export interface Schedule {
  readonly seed: number;
  readonly round: number;
  readonly stamps: 'counter' | 'token' | 'contentToken' | 'none';
  readonly sessions: boolean;
  /** Whether its identity is a TLS key, to which a connection is bound before anything is asked. */
  readonly keyed: boolean;
  /** A strict server refuses cursors of another state of its list; a sloppy one goes on at the offset. */
  readonly strictCursors: boolean;
  readonly tools: number;
  readonly pageSize: number;
  readonly runs: number;
  readonly plan: readonly Planned[];
}

type Place = (act: Act, at?: number) => number;
interface Making {
  readonly random: Random;
  /** Somewhere in the run; answers where. */
  readonly place: Place;
  /** Before the run, or before one of those after it. */
  readonly before: (act: Act, later?: number) => number;
}

const change = ({ below, pick }: Random): Act => ({
  do: 'change',
  edit: pick(['add', 'edit', 'edit', 'remove']),
  pick: below(64),
});
const misbehaviour =
  (how: Misbehaviour) =>
  ({ random, place, before }: Making) =>
    (random.chance(60) ? before : place)({ do: 'misbehave', how });

/** How each kind is put into a run. */
const MAKERS: { readonly [K in Kind]: (making: Making) => unknown } = {
  change: ({ random, place }) => place({ do: 'hint' }, place(change(random))),
  aba: ({ random, place }) =>
    place({ do: 'restore', withStamp: false }, place(change(random)) + 1 + random.below(6)),
  abaStamp: ({ random, place }) =>
    place({ do: 'restore', withStamp: true }, place(change(random)) + 1 + random.below(6)),
  unstable: ({ random, place }) => {
    const gap = 2 + random.below(3);
    for (let at = 1; at < 40; at += gap) place(change(random), at);
  },
  hintLost: ({ random, place }) => place(change(random)),
  hintLate: ({ random, place }) => place({ do: 'hint' }, place(change(random)) + 1 + random.below(8)),
  hintDuplicated: ({ random, place }) =>
    place({ do: 'hint' }, place({ do: 'hint' }, place(change(random))) + random.below(3)),
  hintSpurious: ({ place }) => place({ do: 'hint' }),
  hintStorm: ({ random, place }) => {
    const gap = 1 + random.below(3);
    for (let at = random.below(9); at < 50; at += gap) place({ do: 'hint' }, at);
  },
  crash: ({ place }) => place({ do: 'crash' }),
  crashes: ({ random, place }) => place({ do: 'crash' }, place({ do: 'crash' }) + random.below(4)),
  freeze: ({ random, place }) => place({ do: 'freeze', moments: 1 + random.below(9) }),
  retry: ({ random, place }) => place({ do: 'fail', times: 1 + random.below(4) }),
  sessionDropped: ({ place }) => place({ do: 'dropSessions' }),
  cursorRefused: ({ random, place }) => {
    const at = place({ do: 'refuseCursor' });
    if (random.chance(40)) place({ do: 'refuseCursor' }, at + 4);
  },
  policy: ({ place }) => place({ do: 'policy' }),
  trust: ({ place }) => place({ do: 'trust' }),
  closed: ({ random, place }) => {
    const at = place({ do: 'close' });
    if (random.chance(30)) place({ do: 'open' }, at + 1 + random.below(6));
  },
  competitor: ({ random, place }) => {
    const at = place({ do: 'compete' });
    if (random.chance(50)) place(change(random), at);
  },
  identity: ({ random, place, before }) => (random.chance(30) ? before : place)({ do: 'identity' }),
  identityReturned: ({ random, place }) =>
    place({ do: 'identity' }, place({ do: 'identity' }) + 1 + random.below(4)),
  identityAnnounced: ({ random, before }) => [
    before({ do: 'announce' }),
    before({ do: 'identity' }, random.below(2)),
  ],
  rollback: ({ random, before }) => [
    before({ do: 'count', by: -3 - random.below(3) }),
    random.chance(50) && before(change(random)),
  ],
  equivocation: ({ before }) => before({ do: 'equivocate' }),
  fastForward: ({ before }) => before({ do: 'count', by: 2_000_000_000 }),
  reincarnation: ({ random, place, before }) => (random.chance(60) ? before : place)({ do: 'reincarnate' }),
  shrink: ({ random, place, before }) => (random.chance(70) ? before : place)({ do: 'shrink' }),
  reorder: ({ before }) => before({ do: 'reorder' }),
  unstamped: ({ place }) => place({ do: 'unstamp' }),
  accepted: ({ random, before }) => {
    if (random.chance(25)) before({ do: 'identity' });
    before({ do: 'accept' });
  },
  // What was accepted is gone again, and comes back after the pointer has moved.
  acceptedLate: ({ before }) => [
    before({ do: 'identity' }),
    before({ do: 'accept' }, 1),
    before({ do: 'identity' }, 1),
    before({ do: 'identity' }, 2),
  ],
  repeats: misbehaviour('repeats'),
  cycles: misbehaviour('cycles'),
  stands: misbehaviour('stands'),
  // Within a scan it would be another list under the same stamp, which nobody could tell.
  doubles: ({ before }) => before({ do: 'misbehave', how: 'doubles' }),
  gaps: misbehaviour('gaps'),
};

/** Kinds that say something only of a run that follows another. */
const NEEDS_A_PAST: ReadonlySet<Kind> = new Set<Kind>([
  'identityAnnounced',
  'rollback',
  'equivocation',
  'fastForward',
  'reincarnation',
  'shrink',
  'reorder',
]);
const HOLDS: readonly [Kind, ...Kind[]] = ['identity', 'rollback', 'fastForward', 'reincarnation', 'shrink'];

const CHOICES = KINDS as unknown as readonly [Kind, ...Kind[]];

/** @param only where given, what may happen is of these kinds */
export const scheduleOf = (
  seed: number,
  round: number,
  only: readonly [Kind, ...Kind[]] = CHOICES,
): Schedule => {
  const random = createRandom(seed, round);
  const tools = random.below(9);
  const pageSize = 1 + random.below(4);
  const stamps = random.pick([
    'counter',
    'counter',
    'counter',
    'token',
    'contentToken',
    'contentToken',
    'none',
  ] as const);
  let runs: number = random.pick([1, 2, 2, 3] as const);
  const moments = 2 * Math.ceil((tools + 1) / pageSize) + 9;
  const plan: Planned[] = [];
  const put = (kind: Kind, run: number): void => {
    const add = (act: Act, at: number, when = run): number => {
      plan.push({ run: when, at, act, kind });
      return at;
    };
    MAKERS[kind]({
      random,
      place: (act, at = random.below(moments)) => add(act, at),
      before: (act, later = 0) => add(act, -1, run + later),
    });
  };
  for (let faults = random.pick([0, 1, 1, 1, 2, 2, 3] as const); faults > 0; faults--) {
    const kind = random.pick(only);
    if (NEEDS_A_PAST.has(kind) && runs === 1) runs = 2;
    const run = NEEDS_A_PAST.has(kind) ? 1 + random.below(runs - 1) : random.below(runs);
    if (kind === 'accepted') {
      runs = Math.max(runs, 3);
      put(random.pick(HOLDS), 1);
      put('accepted', 2);
    } else if (kind === 'acceptedLate') {
      runs = 4;
      put(kind, 1);
    } else put(kind, run);
  }
  return {
    seed,
    round,
    stamps,
    tools,
    pageSize,
    runs,
    sessions: random.chance(30),
    keyed: random.chance(50),
    strictCursors: random.chance(40),
    plan: plan.sort((a, b) => a.run - b.run || a.at - b.at),
  };
};
