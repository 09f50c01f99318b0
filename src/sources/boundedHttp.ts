/**
 * HTTP requests with every bound that a scan needs: bytes, addresses, no redirects, no compression, TLS evidence.
 * Built on node:http because the global fetch hides the socket, and with it the server's key (D8).
 */
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Digest } from '../domain/ids.js';
import { checkLiteralHost, guardedLookup, type ResolveName } from './addressRules.js';
import { networkFault } from './networkFault.js';
import { SourceFault, type SourceTrust } from './source.js';
import { identityCheck, spkiOfSocket } from './tlsEvidence.js';

/** What the socket that carried an answer shows. */
export interface WireEvidence {
  readonly address: string | null;
  readonly spki: Digest | null;
}

export interface BoundedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly wire: WireEvidence;
  /**
   * The body, piece by piece. It ends the connection as soon as more than `limit` bytes have come, so that a
   * body of any size costs no more memory than the limit.
   * @throws SourceFault PAGE_TOO_LARGE, UPSTREAM_ERROR (cut off), TLS_FAILED
   */
  chunks(limit: number): AsyncGenerator<Uint8Array, void, undefined>;
  /** At most `limit` bytes of the body, without a complaint about more. Ends the connection. */
  prefix(limit: number): Promise<Uint8Array>;
  /** Throws the body away and ends the connection. */
  discard(): void;
}

export interface BoundedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface BoundedHttp {
  /** @throws SourceFault, IDENTITY_CHANGED and IDENTITY_TORN among them; or `signal.reason` where it was aborted */
  send(url: URL, request: BoundedRequest): Promise<BoundedResponse>;
  /** Ends every socket. */
  close(): void;
}

const headersOf = (message: IncomingMessage): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) headers.append(name, one);
  }
  return headers;
};

const wireOf = (message: IncomingMessage): WireEvidence => {
  const { remoteAddress, remotePort, remoteFamily } = message.socket;
  const host = remoteFamily === 'IPv6' ? `[${remoteAddress}]` : remoteAddress;
  return {
    address: remoteAddress === undefined ? null : `${host}:${remotePort}`,
    spki: spkiOfSocket(message.socket),
  };
};

/** Where a redirect points, without user info, query or fragment: those can hold secrets. */
const redirectTarget = (location: string | null, base: URL): string | null => {
  if (location === null || !URL.canParse(location, base)) return null;
  const target = new URL(location, base);
  return `${target.origin}${target.pathname}`;
};

const tooLarge = (limit: number, declared: number | null): SourceFault =>
  new SourceFault('PAGE_TOO_LARGE', { limit, ...(declared === null ? {} : { declared }) });

const respond = (message: IncomingMessage, where: string, signal: AbortSignal): BoundedResponse => {
  const headers = headersOf(message);
  const failed = (error: unknown) => (signal.aborted ? signal.reason : networkFault(error, 'body', where));
  return {
    status: message.statusCode ?? 0,
    headers,
    wire: wireOf(message),
    async *chunks(limit) {
      const declared = Number(headers.get('content-length') ?? Number.NaN);
      let length = 0;
      try {
        if (declared > limit) throw tooLarge(limit, declared);
        for await (const chunk of message as AsyncIterable<Buffer>) {
          length += chunk.length;
          if (length > limit) throw tooLarge(limit, null);
          yield chunk;
        }
        if (!message.complete) throw Object.assign(new Error('cut off'), { code: 'ECONNRESET' });
      } catch (error) {
        throw failed(error);
      } finally {
        if (!message.complete) message.destroy();
      }
    },
    async prefix(limit) {
      const parts: Buffer[] = [];
      let length = 0;
      try {
        for await (const chunk of message as AsyncIterable<Buffer>) {
          parts.push(chunk);
          length += chunk.length;
          if (length >= limit) break;
        }
      } catch {
        // Whatever came until then is all that the excerpt needs.
      }
      message.destroy();
      return Buffer.concat(parts).subarray(0, limit);
    },
    discard() {
      message.destroy();
    },
  };
};

/** Refuses what no answer of an MCP server or document host may do. */
const refuse = (response: BoundedResponse, url: URL): SourceFault | null => {
  const { status, headers } = response;
  if (status >= 300 && status < 400) {
    return new SourceFault('REDIRECT_REFUSED', {
      status,
      location: redirectTarget(headers.get('location'), url),
    });
  }
  const encoding = headers.get('content-encoding');
  return encoding === null || encoding === 'identity'
    ? null
    : new SourceFault('PAGE_MALFORMED', {
        status,
        rule: 'a content encoding that was not asked for',
        encoding,
      });
};

const guarded = new WeakSet<Socket>();

/**
 * Node.js 20 takes its own error listener off a socket just before it gives it back to the agent. An abort in
 * that moment would be an uncaught exception, which ends the process. Real errors still reach the request.
 */
const guard = (socket: Socket): void => {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  socket.on('error', () => undefined);
};

/** A pin that no handshake will ever be held against must not look like one that held. */
const checkPinnable = (url: URL, { spkiPins }: SourceTrust): void => {
  if (url.protocol === 'http:' && spkiPins !== undefined && spkiPins.length > 0)
    throw new SourceFault('IDENTITY_CHANGED', { endpoint: url.host, pinned: spkiPins, spki: null });
};

/**
 * Sockets of one connection to a source; nothing is shared between two of them.
 * @param resolveName asked for the addresses of each name, at each connection; what it answers is checked
 */
export const createBoundedHttp = (trust: SourceTrust, resolveName?: ResolveName): BoundedHttp => {
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets: 4 }),
    // A resumed TLS session shows no certificate, so none is ever resumed.
    'https:': new HttpsAgent({ keepAlive: true, maxSockets: 4, maxCachedSessions: 0 }),
  };
  const lookup = guardedLookup(trust.allowPrivateAddresses, resolveName);
  const checkKey = identityCheck({ pins: trust.spkiPins ?? [], scanned: trust.scannedSpki ?? null });

  const send = async (url: URL, request: BoundedRequest): Promise<BoundedResponse> => {
    request.signal.throwIfAborted();
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new SourceFault('ADDRESS_REFUSED', { rule: 'only http and https', protocol: url.protocol });
    }
    checkLiteralHost(url.hostname, trust.allowPrivateAddresses);
    checkPinnable(url, trust);
    const options: RequestOptions = {
      method: request.method,
      headers: {
        ...request.headers,
        'accept-encoding': 'identity',
        ...(request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) }),
      },
      lookup,
      signal: request.signal,
    };
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent =
        url.protocol === 'https:'
          ? httpsRequest(url, {
              ...options,
              agent: agents['https:'],
              checkServerIdentity: checkKey,
              ...(trust.tlsCaPem === undefined ? {} : { ca: trust.tlsCaPem }),
            })
          : httpRequest(url, { ...options, agent: agents['http:'] });
      sent.once('socket', guard);
      sent.once('response', resolve);
      // `on`, since a second error after the first must not go unheard.
      sent.on('error', (error) => {
        reject(request.signal.aborted ? request.signal.reason : networkFault(error, 'connect', url.host));
      });
      sent.end(request.body);
    });
    // An error between here and the first read of the body is seen again by that read.
    message.on('error', () => undefined);
    const response = respond(message, url.host, request.signal);
    const refusal = refuse(response, url);
    if (refusal === null) return response;
    response.discard();
    throw refusal;
  };

  return {
    send,
    close() {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
};
