/**
 * One request and what the wire brings in answer to it. The tap beneath the SDK settles it from raw bytes, so
 * that a page counts as it was sent, and a fault is seen even where the SDK would swallow it.
 */
import { SourceFault } from '../source.js';

const LINGER_MS = 1_000;

export interface Exchange {
  readonly method: string;
  /** Aborted when the exchange is over, so that a body which nobody waits for does not hold its socket. */
  readonly signal: AbortSignal;
  /** Most bytes of everything that comes on account of the request. */
  readonly bytes: number;
}

/**
 * Most messages that come on account of one request. Notifications on the way to an answer are ordinary, a flood of
 * them is not.
 */
export const MAX_MESSAGES = 1_000;
/** Of a message that is no answer: a larger one is of no use to the SDK, which would read it once more. */
const PASSED_ON_BYTES = 64 * 1024;

/** A message that is no answer, as the SDK may see it. */
export const passOn = (raw: Uint8Array): Uint8Array | null => (raw.length <= PASSED_ON_BYTES ? raw : null);

export const tooManyMessages = (method: string): SourceFault =>
  new SourceFault('NOT_MCP', { method, rule: `more than ${MAX_MESSAGES} messages in answer to one request` });

export interface ExchangeListener {
  /**
   * A raw message that came on account of the request, before the SDK sees it.
   * @returns what the SDK is to see of it; null for nothing
   */
  message(raw: Uint8Array, requestId: string | number): Uint8Array | null;
  fault(fault: SourceFault): void;
  /** The response has come to its end. The fault is what that means if no answer was among its messages. */
  ended(fault: SourceFault): void;
}

interface Running extends Exchange {
  readonly controller: AbortController;
  readonly listener: ExchangeListener;
  requestId: string | number | null;
}

/** Stands between transport and connection. One exchange at a time. */
export class ExchangeTap {
  #running: Running | null = null;
  /** Sees what comes while nothing waits for it, or on account of an exchange that is over. */
  late: (raw: Uint8Array) => void = () => undefined;

  /** Opens an exchange for the next request of this method. */
  open(method: string, bytes: number, listener: ExchangeListener): void {
    if (this.#running !== null) throw new TypeError('a connection carries one request at a time');
    const controller = new AbortController();
    this.#running = { method, bytes, controller, signal: controller.signal, listener, requestId: null };
  }

  /**
   * Ends the exchange, and with it its response. After an answer the response is given a moment to end by
   * itself, so that its socket can be used again; a stream that stays open is cut.
   */
  close(outcome: 'answered' | 'failed'): void {
    const controller = this.#running?.controller;
    this.#running = null;
    const end = () => controller?.abort(new DOMException('the exchange is over', 'AbortError'));
    if (outcome === 'failed') end();
    else setTimeout(end, LINGER_MS).unref();
  }

  /** The transport is about to send a message. @returns the exchange if this is its request */
  sending(message: unknown): Exchange | null {
    const running = this.#running;
    if (running === null || typeof message !== 'object' || message === null) return null;
    const { method, id } = message as { method?: unknown; id?: unknown };
    if (method !== running.method || (typeof id !== 'string' && typeof id !== 'number')) return null;
    running.requestId = id;
    return running;
  }

  /**
   * @param exchange the one that the message belongs to; null where the transport cannot tell (stdio)
   * @returns what the SDK is to see of the message; null for nothing
   */
  message(exchange: Exchange | null, raw: Uint8Array): Uint8Array | null {
    const running = this.#running;
    if (running !== null && running.requestId !== null && (exchange === null || exchange === running))
      return running.listener.message(raw, running.requestId);
    this.late(raw);
    return passOn(raw);
  }

  fault(exchange: Exchange | null, fault: SourceFault): void {
    const running = this.#running;
    if (running !== null && (exchange === null || exchange === running)) running.listener.fault(fault);
  }

  ended(exchange: Exchange | null, fault: SourceFault): void {
    if (exchange !== null && exchange === this.#running) this.#running.listener.ended(fault);
  }
}
