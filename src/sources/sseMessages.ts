/**
 * Cuts a server-sent event stream into the raw messages it carries, on bytes: a decoder in between would
 * already have replaced what is no UTF-8, and the strict reader must see what was sent.
 */
const LF = 0x0a;
const CR = 0x0d;

/** The value of a line if it is that field, without the one leading space that the format allows. */
const fieldValue = (line: Uint8Array, field: 'data' | 'event'): Uint8Array | null => {
  const name = Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, field.length)).toString(
    'latin1',
  );
  if (name !== field) return null;
  if (line.length === field.length) return line.subarray(line.length);
  if (line[field.length] !== 0x3a) return null;
  const start = field.length + 1;
  return line.subarray(line[start] === 0x20 ? start + 1 : start);
};

/** HTML standard, 9.2.6: lines end with LF, CR LF or CR; a blank line ends an event. */
export class SseMessages {
  readonly #onMessage: (raw: Uint8Array) => void;
  /** Pieces of an unfinished line, joined once per line: a long line in small chunks costs no quadratic time. */
  readonly #pending: Uint8Array[] = [];
  #data: Uint8Array[] = [];
  #event = '';
  #afterCr = false;
  #first = true;

  /** @param onMessage called with the joined `data:` lines of each event whose type is `message` or unnamed */
  constructor(onMessage: (raw: Uint8Array) => void) {
    this.#onMessage = onMessage;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === LF && this.#afterCr) {
        this.#afterCr = false;
        start = at + 1;
      } else if (byte === LF || byte === CR) {
        this.#line(this.#join(chunk.subarray(start, at)));
        this.#afterCr = byte === CR;
        start = at + 1;
      } else {
        this.#afterCr = false;
      }
    }
    if (start < chunk.length) this.#pending.push(chunk.slice(start));
  }

  #join(tail: Uint8Array): Uint8Array {
    if (this.#pending.length === 0) return tail;
    const line = Buffer.concat([...this.#pending, tail]);
    this.#pending.length = 0;
    return line;
  }

  #line(raw: Uint8Array): void {
    const bom = this.#first && raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf;
    this.#first = false;
    const line = bom ? raw.subarray(3) : raw;
    if (line.length === 0) {
      this.#dispatch();
      return;
    }
    const data = fieldValue(line, 'data');
    if (data !== null) {
      this.#data.push(data.slice());
      return;
    }
    const event = fieldValue(line, 'event');
    if (event !== null) this.#event = Buffer.from(event).toString('latin1');
  }

  #dispatch(): void {
    const parts = this.#data;
    const named = this.#event;
    this.#data = [];
    this.#event = '';
    if (parts.length === 0 || (named !== '' && named !== 'message')) return;
    const joined = parts.flatMap((part, index) => (index === 0 ? [part] : [Uint8Array.of(LF), part]));
    const raw = joined.length === 1 ? joined[0] : Buffer.concat(joined);
    if (raw !== undefined && raw.length > 0) this.#onMessage(raw);
  }
}
