/**
 * Runs one exchange to its first outcome: an answer on the wire, a fault, the time limit or the caller's abort.
 */
import type { DurationMs } from '../../domain/ids.js';
import { SourceFault } from '../source.js';
import type { ExchangeListener, ExchangeTap } from './exchange.js';

/** How many messages that were no answer the evidence of a time-out names. */
const NOTED_MESSAGES = 5;

export interface ExchangeRequest {
  readonly tap: ExchangeTap;
  readonly method: string;
  readonly pageTime: DurationMs;
  /** Most bytes of everything that comes in answer. */
  readonly bytes: number;
  readonly signal: AbortSignal;
  /** Why nothing can be asked any more, or null. */
  ended(): SourceFault | null;
}

export interface RunningExchange<T> {
  readonly settle: { resolve(value: T): void; reject(reason: unknown): void };
  /** Aborted where the exchange fails, so that the SDK gives its request up too. */
  readonly over: AbortSignal;
  /** Remembers a message that is no answer; only of the first few is it asked what they are. */
  note(what: () => string): void;
}

type Listener = Omit<ExchangeListener, 'fault'>;

const withMessages = (fault: SourceFault, others: readonly string[]): SourceFault =>
  others.length === 0
    ? fault
    : new SourceFault(
        fault.reason,
        { ...fault.evidence, otherMessages: others },
        { transient: fault.transient },
      );

/**
 * @param start sends the request and says how to listen for its answer
 * @throws SourceFault PAGE_TIMEOUT or what `start` rejects with; or `signal.reason`
 */
export const runExchange = async <T>(
  request: ExchangeRequest,
  start: (running: RunningExchange<T>) => Listener,
): Promise<T> => {
  const { tap, method, bytes, pageTime, signal } = request;
  signal.throwIfAborted();
  const ended = request.ended();
  if (ended !== null) throw ended;

  return await new Promise<T>((resolve, reject) => {
    const controller = new AbortController();
    const others: string[] = [];
    let finished = false;
    const finish = (outcome: 'answered' | 'failed', then: () => void): void => {
      if (finished) return;
      finished = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      tap.close(outcome);
      if (outcome === 'failed') controller.abort();
      then();
    };
    const settle: RunningExchange<T>['settle'] = {
      resolve: (value) => finish('answered', () => resolve(value)),
      reject: (reason) => finish('failed', () => reject(reason)),
    };
    const aborted = () => settle.reject(signal.reason);
    const timer = setTimeout(() => {
      const late = new SourceFault('PAGE_TIMEOUT', { method, limitMs: pageTime }, { transient: true });
      settle.reject(withMessages(late, others));
    }, pageTime);
    signal.addEventListener('abort', aborted, { once: true });

    let listener: Listener = { message: () => null, ended: settle.reject };
    // Opened before `start`, which sends.
    tap.open(method, bytes, {
      message: (raw, id) => listener.message(raw, id),
      ended: (fault) => listener.ended(withMessages(fault, others)),
      fault: settle.reject,
    });
    const note = (what: () => string): void => {
      if (others.length < NOTED_MESSAGES) others.push(what());
    };
    listener = start({ settle, over: controller.signal, note });
  });
};
