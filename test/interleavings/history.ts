/** What a history is made of: facts in the order in which they happened, in words of their own and none of the product's. */

export interface Tool {
  readonly name: string;
  readonly version: number;
}

/** Which state of its list a source says that it serves. Tokens have no order. */
export type Stamp =
  | { readonly incarnation: string; readonly counter: number }
  | { readonly token: string }
  | null;

/** The source as it is from one moment on. */
export interface Truth {
  readonly stamp: Stamp;
  readonly identity: string;
  readonly tools: readonly Tool[];
}

export interface Page {
  readonly cursor: string | undefined;
  readonly next: string | undefined;
  readonly tools: readonly Tool[];
  readonly stamp: Stamp;
  readonly identity: string;
}

export type Fact =
  | ({ readonly fact: 'source' } & Truth)
  | { readonly fact: 'claim'; readonly scan: string; readonly segment: number; readonly attempt: number }
  | { readonly fact: 'page' | 'tail'; readonly scan: string; readonly claim: string; readonly page: Page }
  | { readonly fact: 'fault'; readonly scan: string; readonly what: string }
  /** The page that was asked for with this cursor. */
  | {
      readonly fact: 'stored';
      readonly scan: string;
      readonly claim: string;
      readonly cursor: string | undefined;
    }
  /** The run asks for a step of a scan. */
  | { readonly fact: 'step'; readonly scan: string; readonly step: string }
  | { readonly fact: 'hint' | 'policy' | 'trust' | 'closed' | 'opened' | 'runBegin' }
  | { readonly fact: 'announced'; readonly identity: string }
  /** An operator accepts what a scan was held for. */
  | { readonly fact: 'accepted'; readonly scan: string }
  | ({ readonly fact: 'promoted' | 'renewed'; readonly scan: string } & Truth)
  | { readonly fact: 'scanEnd'; readonly scan: string; readonly state: string; readonly reason: string }
  | { readonly fact: 'runEnd'; readonly scan: string; readonly reason: string }
  /** What callers are served after a run; null for nothing. */
  | { readonly fact: 'serving'; readonly tools: readonly Tool[] | null };

/** What happened while one scan ran. */
export interface Window {
  readonly epoch: number;
  readonly trust: number;
  readonly pointer: number;
  /** Newest claim, as `segment.attempt`. */
  claim: string;
  readonly stamps: Set<string>;
  readonly identities: Set<string>;
  readonly answers: Page[];
  /** The newest answer by claim and cursor. */
  readonly answerTo: Map<string, Page>;
  readonly stored: Page[];
  /** Since the source last answered, or an attempt or the tail began: only these are a reason to give up. */
  faults: readonly string[];
  claims: number;
  /** Whether another scan of the list began meanwhile. */
  overtaken: boolean;
  closed: boolean;
  /** Whether it was closed at any moment of the scan. */
  wasClosed: boolean;
  tail: Truth | null;
  tailPage: Page | null;
  tails: number;
  hints: number;
  promoted: boolean;
  renewed: boolean;
  ended: string | null;
}

export const stampText = (stamp: Stamp): string =>
  stamp === null ? 'none' : 'token' in stamp ? `t:${stamp.token}` : `${stamp.incarnation}:${stamp.counter}`;

export const toolsText = (tools: readonly Tool[]): string =>
  tools
    .map(({ name, version }) => `${name}#${version}`)
    .sort()
    .join(' ');

/** By which an answer is found again when it is stored: a page may be on its way while the one before it is stored. */
export const askedBy = (claim: string, cursor: string | undefined): string =>
  cursor === undefined ? claim : `${claim} ${cursor}`;

/** @param now what a scan that begins now rests on */
export const newWindow = (
  now: Pick<Window, 'epoch' | 'trust' | 'pointer' | 'closed'>,
  source: Truth,
): Window => ({
  ...now,
  wasClosed: now.closed,
  claim: '',
  claims: 0,
  overtaken: false,
  answerTo: new Map(),
  answers: [],
  stored: [],
  faults: [],
  stamps: new Set([stampText(source.stamp)]),
  identities: new Set([source.identity]),
  tail: null,
  tailPage: null,
  tails: 0,
  hints: 0,
  promoted: false,
  renewed: false,
  ended: null,
});
