/** The oracle's view of a run of scans: which end asks for another round, and which hint for another scan. */

const RESTARTABLE: ReadonlySet<string> = new Set([
  'REVISION_CHANGED',
  'SESSION_LOST',
  'CURSOR_EXPIRED',
  'CHANGED_DURING_SCAN',
  'FENCED',
]);
const MOST_ROUNDS = 5;
const MOST_CURSOR_ROUNDS = 2;
const MOST_IDLE_SCANS = 3;

export class RunRules {
  /** Ends in a row that asked for another round. */
  restarts = 0;
  #cursors = 0;
  #scans = 0;
  #unanswered = 0;
  #hints = 0;
  #idle = 0;
  #last: string | null = null;
  /** Whether the last end came of a closed server; `maybe` where something else moved as well. */
  #byClosing: 'yes' | 'no' | 'maybe' = 'no';
  #unsure = false;

  hint(): void {
    this.#unanswered++;
    this.#hints++;
  }

  /** The source is asked from now on: every hint until here is answered by it. */
  asked(): void {
    this.#unanswered = 0;
  }

  /** @returns what is wrong with a scan that begins now, or null */
  scanBegins(): string | null {
    const first = this.#scans++ === 0;
    if (first || this.#asksRound()) return null;
    const fault =
      this.#unsure || this.#hintAsks() ? null : `a scan that nothing asked for, after ${this.#last}`;
    this.restarts = 0;
    this.#cursors = 0;
    return fault;
  }

  scanEnds(reason: string, byClosing: 'yes' | 'no' | 'maybe'): void {
    if (RESTARTABLE.has(reason) || reason === 'REVISION_UNSTABLE') this.restarts++;
    if (reason === 'CURSOR_EXPIRED') this.#cursors++;
    this.#last = reason;
    this.#byClosing = byClosing;
    this.#unsure ||= byClosing === 'maybe';
    if (!this.#asksRound()) this.#idle = reason === 'PROMOTED' ? 0 : this.#idle + 1;
  }

  /** @returns what is wrong with a run that ends now */
  ends(reason: string): readonly string[] {
    const wrong: string[] = [];
    if (this.#asksRound() && this.#byClosing === 'no')
      wrong.push(`D3: the run ends with ${reason} after ${this.restarts} rounds`);
    if (reason === 'REVISION_CHANGED') wrong.push('D3: five rounds that moved are not told as unstable');
    if (!this.#unsure && this.#hintAsks()) wrong.push('D2: the run ends with a hint that asks for a scan');
    return wrong;
  }

  /** D3: whether the last end asks for another round by itself. */
  #asksRound(): boolean {
    return (
      this.#last !== null &&
      RESTARTABLE.has(this.#last) &&
      this.#byClosing !== 'yes' &&
      this.restarts < MOST_ROUNDS &&
      this.#cursors < MOST_CURSOR_ROUNDS
    );
  }

  /** D2: whether a hint asks for another scan; one that told of nothing asks once more. */
  #hintAsks(): boolean {
    if (this.#last === 'REVISION_UNSTABLE') return false;
    if (this.#unanswered > 0) return this.#idle < MOST_IDLE_SCANS;
    return this.#hints > 0 && this.#last === 'UNCHANGED' && this.#idle === 1;
  }
}
