/**
 * Cuts a server-sent event stream into the raw messages it carries, on bytes: a decoder in between would
 * already have replaced what is no UTF-8, and the strict reader must see what was sent.
 */
import { ByteGatherer } from './byteGatherer.js';

const LF = 0x0a;
const CR = 0x0d;
const NEWLINE = Uint8Array.of(LF);

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
  /** An unfinished line. */
  readonly #pending = new ByteGatherer();
  /** The `data:` lines of the event so far, joined; null before the first. */
  #data: ByteGatherer | null = null;
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
    if (start < chunk.length) this.#pending.append(chunk.subarray(start));
  }

  #join(tail: Uint8Array): Uint8Array {
    if (this.#pending.length === 0) return tail;
    this.#pending.append(tail);
    return this.#pending.take();
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
      if (this.#data === null) this.#data = new ByteGatherer();
      else this.#data.append(NEWLINE);
      this.#data.append(data);
      return;
    }
    const event = fieldValue(line, 'event');
    if (event !== null) this.#event = Buffer.from(event).toString('latin1');
  }

  #dispatch(): void {
    const raw = this.#data?.take();
    const named = this.#event;
    this.#data = null;
    this.#event = '';
    if (raw === undefined || (named !== '' && named !== 'message')) return;
    if (raw.length > 0) this.#onMessage(raw);
  }
}
