/**
 * Bytes that come in pieces, kept in one growing block. A list of pieces would cost a hundred bytes for each, and a
 * hostile sender chooses how small they are.
 */
const FIRST_BYTES = 1_024;

export class ByteGatherer {
  #block = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#block.length) {
      const larger = new Uint8Array(Math.max(FIRST_BYTES, length, this.#block.length * 2));
      larger.set(this.#block.subarray(0, this.#length));
      this.#block = larger;
    }
    this.#block.set(bytes, this.#length);
    this.#length = length;
  }

  /** What has come so far; the gatherer is empty afterwards. */
  take(): Buffer {
    const taken = Buffer.from(this.#block.buffer, this.#block.byteOffset, this.#length);
    this.#block = new Uint8Array(0);
    this.#length = 0;
    return taken;
  }
}
