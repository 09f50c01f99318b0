/**
 * Answers a request whose body was refused before it was read. A connection that is closed while the client still sends
 * is reset, and with it goes the answer: so the answer is sent first, and what still arrives is dropped up to a bound.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface DrainBounds {
  /** Bytes; default twice the largest body that any operation takes. */
  readonly maxBytes?: number;
  /** Milliseconds; default 10 s. */
  readonly maxTime?: number;
}

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_TIME = 10_000;

/** @param payload the whole body of the answer, whose head is set and not sent yet */
export const endAfterBody = (
  request: IncomingMessage,
  response: ServerResponse,
  payload: string,
  { maxBytes = MAX_BYTES, maxTime = MAX_TIME }: DrainBounds = {},
): void => {
  if (!isArriving(request)) {
    response.end(payload);
    return;
  }
  response.setHeader('Content-Length', Buffer.byteLength(payload));
  response.write(payload);
  let dropped = 0;
  const stop = (): void => {
    clearTimeout(timer);
    request.off('data', drop).off('end', stop).off('close', stop);
    response.end();
    // More is on its way than anybody sends by mistake.
    if (!request.complete) request.destroy();
  };
  const drop = (chunk: Buffer): void => {
    dropped += chunk.length;
    if (dropped > maxBytes) stop();
  };
  const timer = setTimeout(stop, maxTime);
  request.on('data', drop).once('end', stop).once('close', stop);
  request.resume();
};

const isArriving = ({ complete, destroyed, headers }: IncomingMessage): boolean =>
  !complete &&
  !destroyed &&
  (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined);
