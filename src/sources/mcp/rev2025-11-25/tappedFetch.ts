/**
 * The `fetch` that the SDK's Streamable HTTP transport is given: bounded, and with a tap that hands over the raw
 * bytes of each message before the SDK parses them.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { BoundedHttp, BoundedResponse, WireEvidence } from '../../boundedHttp.js';
import { excerpt } from '../../excerpt.js';
import { SourceFault } from '../../source.js';
import { SseMessages } from '../../sseMessages.js';
import type { Exchange, ExchangeTap } from '../exchange.js';
import { statusFault } from './httpFault.js';

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

/** Passes a body on while showing it to the tap; a fault goes to the exchange even if the SDK ignores it. */
const tapBody = (
  response: BoundedResponse,
  sent: Sent,
  options: TappedFetchOptions,
): ReadableStream<Uint8Array> => {
  const { tap, pageBytes } = options;
  const sse = mediaType(response.headers.get('content-type')) === 'text/event-stream';
  const whole: Uint8Array[] = [];
  const messages = new SseMessages((raw) => tap.message(sent.exchange, raw));
  const source = response.chunks(pageBytes);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await source.next();
          if (done !== true) {
            if (sse) messages.push(value);
            else whole.push(value);
            controller.enqueue(value);
            return;
          }
          if (!sse) tap.message(sent.exchange, Buffer.concat(whole));
          else tap.ended(sent.exchange, streamEnded(sent.method));
          controller.close();
        } catch (error) {
          if (error instanceof SourceFault) tap.fault(sent.exchange, error);
          controller.error(error);
        }
      },
      async cancel() {
        await source.return();
        response.discard();
      },
    },
    // Read on only as the SDK reads on.
    { highWaterMark: 0 },
  );
};

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
