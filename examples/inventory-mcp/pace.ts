/** Slows pages down on purpose: a delay for each, and pages that are held until they are released. */
export class Pace {
  #delayMs: number;
  readonly #held = new Set<number>();
  readonly #waiting = new Set<() => void>();

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  setDelay(ms: number): void {
    this.#delayMs = ms;
  }

  /** @param page from 0 */
  hold(page: number): void {
    this.#held.add(page);
  }

  /** Lets every page go that is or would be held. */
  release(): void {
    this.#held.clear();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const go of waiting) go();
  }

  /** Number of requests that wait to be released. */
  get waiting(): number {
    return this.#waiting.size;
  }

  async before(page: number): Promise<void> {
    if (this.#delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#delayMs));
    if (this.#held.has(page)) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }
}
