/**
 * The `fetch` that the SDK's Streamable HTTP transport is given: bounded, and with a tap that hands over the raw
 * bytes of each message before the SDK parses them.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { BoundedHttp, BoundedResponse, WireEvidence } from '../../boundedHttp.js';
import { ByteGatherer } from '../../byteGatherer.js';
import { excerpt } from '../../excerpt.js';
import { SourceFault } from '../../source.js';
import { SseMessages } from '../../sseMessages.js';
import { type Exchange, type ExchangeTap, MAX_MESSAGES, tooManyMessages } from '../exchange.js';
import { statusFault } from './httpFault.js';

const LF = 0x0a;
const SPACE = 0x20;
const BLANK_LINE = Buffer.from('\n\n');
const DATA = Buffer.from('data: ');
/** How much of an error body is read: enough for a JSON-RPC error, little enough for anything else. */
const ERROR_BODY_BYTES = 16 * 1024;
/** How long an error body may take; its status already says what is wrong. */
const ERROR_BODY_MS = 2_000;

export interface TappedFetchOptions {
  readonly http: BoundedHttp;
  readonly tap: ExchangeTap;
  readonly pageBytes: number;
  readonly secrets: readonly string[];
  readonly onWire: (wire: WireEvidence) => void;
}

interface Sent {
  readonly method: string;
  readonly hadCursor: boolean;
  readonly hadSession: boolean;
  readonly exchange: Exchange | null;
}

const mediaType = (contentType: string | null): string =>
  (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/**
 * A message as an event of a stream, on one line: a line feed between JSON tokens is a space. The ids of the server's own
 * events are dropped, so that none is resumed.
 */
const asEvent = (message: Uint8Array): Uint8Array => {
  const line = message.map((byte) => (byte === LF ? SPACE : byte));
  return Buffer.concat([DATA, line, BLANK_LINE]);
};

/**
 * Shows each message of a body to the tap and gives the SDK what the tap lets through of it; a fault goes to the
 * exchange even if the SDK ignores it.
 */
const tapBody = (
  response: BoundedResponse,
  sent: Sent,
  options: TappedFetchOptions,
): ReadableStream<Uint8Array> => {
  const { tap } = options;
  const sse = mediaType(response.headers.get('content-type')) === 'text/event-stream';
  const whole = new ByteGatherer();
  const passed: Uint8Array[] = [];
  let count = 0;
  const messages = new SseMessages((raw) => {
    if (++count > MAX_MESSAGES) throw tooManyMessages(sent.method);
    const message = tap.message(sent.exchange, raw);
    if (message !== null) passed.push(asEvent(message));
  });
  const source = response.chunks(sent.exchange?.bytes ?? options.pageBytes);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          while (passed.length === 0) {
            const { value, done } = await source.next();
            if (done === true) {
              if (sse) tap.ended(sent.exchange, streamEnded(sent.method));
              else {
                const message = tap.message(sent.exchange, whole.take());
                if (message !== null) controller.enqueue(message);
                // Nothing comes after it: whoever still waits for an answer waits in vain.
                tap.ended(sent.exchange, noAnswer(sent.method));
              }
              controller.close();
              return;
            }
            if (sse) messages.push(value);
            else whole.append(value);
          }
          for (const message of passed.splice(0)) controller.enqueue(message);
        } catch (error) {
          if (error instanceof SourceFault) tap.fault(sent.exchange, error);
          controller.error(error);
        }
      },
      async cancel() {
        response.discard();
        await source.return();
      },
    },
    // Read on only as the SDK reads on.
    { highWaterMark: 0 },
  );
};

/** It is looked for, in every spelling, in all that is told of the source: that takes time with its length. */
const MAX_SESSION_ID = 1_024;

const noAnswer = (method: string): SourceFault =>
  new SourceFault('PAGE_MALFORMED', { method, rule: 'the body is no answer to the request' });

const streamEnded = (method: string): SourceFault =>
  new SourceFault(
    'UPSTREAM_ERROR',
    { method, rule: 'the event stream ended without an answer' },
    { transient: true },
  );

const describeRequest = (body: string | undefined, headers: Headers, tap: ExchangeTap): Sent => {
  const message: unknown = body === undefined ? null : JSON.parse(body);
  const { method, params } = (message ?? {}) as { method?: string; params?: { cursor?: unknown } };
  return {
    method: method ?? 'unknown',
    hadCursor: params?.cursor !== undefined,
    hadSession: headers.has('mcp-session-id'),
    exchange: tap.sending(message),
  };
};

const refusal = async (
  response: BoundedResponse,
  sent: Sent,
  secrets: readonly string[],
): Promise<SourceFault> => {
  const slow = setTimeout(() => response.discard(), ERROR_BODY_MS);
  const body = await response.prefix(ERROR_BODY_BYTES);
  clearTimeout(slow);
  const contentType = response.headers.get('content-type');
  if (response.status < 300) {
    const evidence = {
      status: response.status,
      contentType,
      method: sent.method,
      start: excerpt(body, secrets),
    };
    return new SourceFault('NOT_MCP', evidence);
  }
  return statusFault({ ...sent, status: response.status, contentType, body, secrets });
};

/** @returns a fetch that rejects with SourceFault, or with the reason of the signal that aborted it */
export const createTappedFetch = (options: TappedFetchOptions): FetchLike => {
  const { http, tap, secrets } = options;
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    const verb = init?.method ?? 'GET';
    // A scan rests on no change signal (D2), so the SDK's optional listening stream is not opened at all.
    if (verb === 'GET') return new Response(null, { status: 405 });
    const body = typeof init?.body === 'string' ? init.body : undefined;
    const sent = describeRequest(body, headers, tap);
    const signals = [init?.signal, sent.exchange?.signal].filter((s) => s !== undefined && s !== null);
    const response = await http.send(new URL(url), {
      method: verb,
      headers: Object.fromEntries(headers),
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.any(signals),
    });
    const session = response.headers.get('mcp-session-id') ?? '';
    if (session.length > MAX_SESSION_ID) {
      response.discard();
      const rule = `a session id has at most ${MAX_SESSION_ID} characters`;
      throw new SourceFault('NOT_MCP', { method: sent.method, rule, characters: session.length });
    }
    options.onWire(response.wire);
    const { status } = response;
    if (verb === 'DELETE' || status === 202 || status === 204) {
      response.discard();
      return new Response(null, { status });
    }
    const type = mediaType(response.headers.get('content-type'));
    if (status >= 300 || status < 200 || (type !== 'application/json' && type !== 'text/event-stream')) {
      throw await refusal(response, sent, secrets);
    }
    return new Response(tapBody(response, sent, options), { status, headers: response.headers });
  };
};
