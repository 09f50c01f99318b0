/** How a scripted source numbers the states of its list. */

export class Revisions {
  incarnation = 0;
  counter = 10;
  /** Every change of any kind: cursors of a strict server belong to one. */
  states = 0;
  readonly #used = new Set(['0.10']);

  /** A number that stood for one list never stands for another within a scan: only an equivocation does that, between two. */
  count(by: number): void {
    this.counter += by;
    while (this.#used.has(`${this.incarnation}.${this.counter}`)) this.counter += Math.sign(by);
    this.set(this.counter);
  }

  set(counter: number): void {
    this.counter = counter;
    this.#used.add(`${this.incarnation}.${counter}`);
    this.states++;
  }

  beginIncarnation(): void {
    this.incarnation++;
    this.set(this.counter);
  }
}
