/**
 * The server of a round: its list, how it pages it, and everything that can go wrong with it. The simulation asks it
 * directly, the real rounds over HTTP; what it answered and what was true then is what the oracle judges by.
 */

import type { Act, Misbehaviour } from './acts.js';
import type { Page, Stamp, Tool, Truth } from './history.js';
import { type Slice, slice } from './paging.js';
import { Revisions } from './revisions.js';
import type { Schedule } from './schedule.js';

export type Answer =
  | { readonly kind: 'page'; readonly page: Page }
  | { readonly kind: 'fault'; readonly what: 'CURSOR_EXPIRED' | 'SESSION_LOST' | 'UPSTREAM_ERROR' };

/** Acts that change the source; the others happen to the worker or the store. */
export type SourceAct = Exclude<
  Act,
  {
    do:
      | 'crash'
      | 'freeze'
      | 'hint'
      | 'policy'
      | 'trust'
      | 'announce'
      | 'close'
      | 'open'
      | 'compete'
      | 'accept';
  }
>;

export class ScriptedSource {
  readonly #schedule: Schedule;
  #tools: readonly Tool[];
  #before: {
    readonly tools: readonly Tool[];
    readonly counter: number;
    readonly incarnation: number;
  } | null = null;
  readonly #revisions = new Revisions();
  #identity = 'a';
  #versions = 1;
  #sessions = 0;
  #firstSession = 1;
  #unstamped = 0;
  #refusals = 0;
  #failures = 0;
  readonly #misbehaves = new Set<Misbehaviour>();
  #turns = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#tools = Array.from({ length: schedule.tools }, (_, index) => ({ name: `t${index}`, version: 1 }));
  }

  get identity(): string {
    return this.#identity;
  }

  get truth(): Truth {
    return { stamp: this.#stamp(), identity: this.#identity, tools: this.#listed() };
  }

  /** A session for a connection that begins; null from a server that has none. */
  openSession(): number | null {
    return this.#schedule.sessions ? ++this.#sessions : null;
  }

  answer(cursor: string | undefined, session: number | null): Answer {
    const fault = (what: Extract<Answer, { kind: 'fault' }>['what']): Answer => ({ kind: 'fault', what });
    if (session !== null && session < this.#firstSession) return fault('SESSION_LOST');
    if (this.#failures > 0) {
      this.#failures--;
      return fault('UPSTREAM_ERROR');
    }
    const [offset = 0, state = this.#revisions.states] =
      cursor === undefined ? [] : cursor.split('.').map(Number);
    if (
      cursor !== undefined &&
      (this.#refusals > 0 || (this.#schedule.strictCursors && state !== this.#revisions.states))
    ) {
      this.#refusals = Math.max(0, this.#refusals - 1);
      return fault('CURSOR_EXPIRED');
    }
    const stamp = this.#unstamped > 0 ? null : this.#stamp();
    this.#unstamped = Math.max(0, this.#unstamped - 1);
    return {
      kind: 'page',
      page: { cursor, stamp, identity: this.#identity, ...this.#pageAt(cursor, offset) },
    };
  }

  apply(act: SourceAct): void {
    switch (act.do) {
      case 'change':
        this.#move(this.#edited(act.edit, act.pick));
        return;
      case 'restore':
        this.#restore(act.withStamp);
        return;
      case 'reorder':
        this.#tools = [...this.#tools].reverse();
        return;
      case 'shrink':
        this.#move(this.#tools.slice(0, Math.floor(this.#tools.length / 2)));
        return;
      case 'equivocate':
        this.#tools = this.#edited('edit', 0);
        this.#before = null;
        this.#revisions.states++;
        return;
      case 'reincarnate':
        this.#revisions.beginIncarnation();
        return;
      case 'count':
        this.#revisions.count(act.by);
        return;
      case 'identity':
        this.#identity = this.#identity === 'a' ? 'b' : 'a';
        return;
      case 'misbehave':
        this.#misbehaves.add(act.how);
        return;
      case 'unstamp':
        this.#unstamped++;
        return;
      case 'refuseCursor':
        this.#refusals++;
        return;
      case 'dropSessions':
        this.#firstSession = this.#sessions + 1;
        return;
      case 'fail':
        this.#failures += act.times;
    }
  }

  #stamp(): Stamp {
    const { incarnation, counter } = this.#revisions;
    switch (this.#schedule.stamps) {
      case 'none':
        return null;
      case 'counter':
        return { incarnation: `i${incarnation}`, counter };
      case 'token':
        return { token: `${incarnation}.${counter}` };
      case 'contentToken':
        return { token: `c${this.#tools.map(({ name, version }) => `${name}#${version}`).join('+')}` };
    }
  }

  #listed(): readonly Tool[] {
    const [first] = this.#tools;
    return first !== undefined && this.#misbehaves.has('doubles')
      ? [...this.#tools, { ...first, version: 99 }]
      : this.#tools;
  }

  #pageAt(cursor: string | undefined, offset: number): Slice {
    const how = {
      misbehaves: this.#misbehaves,
      state: this.#revisions.states,
      pageSize: this.#schedule.pageSize,
    };
    return slice(this.#listed(), { cursor, offset, turn: ++this.#turns }, how);
  }

  #edited(edit: 'add' | 'edit' | 'remove', pick: number): readonly Tool[] {
    const version = ++this.#versions;
    const at = this.#tools.length === 0 ? 0 : pick % this.#tools.length;
    if (edit === 'add' || this.#tools.length === 0) {
      const tool = { name: `n${version}`, version: 1 };
      return [...this.#tools.slice(0, at), tool, ...this.#tools.slice(at)];
    }
    return this.#tools.flatMap((tool, index) =>
      index !== at ? [tool] : edit === 'edit' ? [{ ...tool, version }] : [],
    );
  }

  #move(tools: readonly Tool[]): void {
    const { counter, incarnation } = this.#revisions;
    this.#before = { tools: this.#tools, counter, incarnation };
    this.#tools = tools;
    this.#revisions.count(1);
  }

  #restore(withStamp: boolean): void {
    const before = this.#before;
    if (before === null) return;
    this.#move(before.tools);
    if (withStamp && before.incarnation === this.#revisions.incarnation) this.#revisions.set(before.counter);
  }
}
