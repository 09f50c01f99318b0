/**
 * A connection to an MCP 2025-11-25 server: the SDK's client speaks the protocol, the tap beneath it delivers
 * the bytes. The list is asked for page by page here, never through the SDK's `listTools`.
 */
import { randomInt } from 'node:crypto';
import { setImmediate as immediate } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { epochMs } from '../../../domain/ids.js';
import type { JsonValue } from '../../../domain/json.js';
import { errorCode, excerpt } from '../../excerpt.js';
import {
  type ConnectionEvidence,
  type FetchedPage,
  type KnownPage,
  type KnownReadings,
  type SourceConnection,
  SourceFault,
  type SourceSession,
  type SourceTarget,
} from '../../source.js';
import { type ExchangeTap, passOn } from '../exchange.js';
import { type ListPageContext, readKnownPage, readListPage } from '../readListPage.js';
import { runExchange } from '../runExchange.js';
import { rpcFault } from './httpFault.js';

/** What the transport knows of the other side; asked for again with each answer. */
export type TransportEvidence = Omit<ConnectionEvidence, 'serverInfo' | 'announcesTools'>;

export interface ConnectionParts {
  readonly target: SourceTarget;
  readonly transport: Transport;
  readonly tap: ExchangeTap;
  readonly secrets: readonly string[];
  evidence(): TransportEvidence;
  /** The session that another connection may go on with, or null. Where there is one before the start, it is gone on with. */
  session(): SourceSession | null;
  /** Why nothing can be asked any more, or null. */
  ended(): SourceFault | null;
  /** Takes leave of the server while the transport still works. Never throws. */
  farewell(): Promise<void>;
  /** Ends what the transport holds. Never throws. */
  shutdown(): Promise<void>;
}

const CLIENT = { name: 'genlock', version: '0.1.0' };
/** The SDK's own timer only backs ours up, which knows the reason. */
const SDK_GRACE_MS = 5_000;
/** A server's description of itself is evidence of little; a large one is cut to its name and version. */
const SERVER_INFO_CHARACTERS = 8_192;

/** The SDK's complaint about a start that failed, as a fault. */
const startFault = (error: unknown, first: Uint8Array | null, secrets: readonly string[]): unknown => {
  if (error instanceof SourceFault) return error;
  if (error instanceof McpError)
    return rpcFault(error.code, excerpt(error.message, secrets), false, 'initialize');
  // What is left: a body that is no JSON, no JSON-RPC, no initialize result, or of an unknown protocol version.
  const said = error instanceof Error && errorCode(error) === null ? excerpt(error.message, secrets) : null;
  const start = first === null ? {} : { start: excerpt(first, secrets) };
  return new SourceFault('NOT_MCP', { method: 'initialize', ...start, ...(said === null ? {} : { said }) });
};

const serverInfoOf = (client: Client): JsonValue => {
  const info = client.getServerVersion();
  if (info === undefined) return null;
  const text = JSON.stringify(info);
  if (text.length <= SERVER_INFO_CHARACTERS) return JSON.parse(text) as JsonValue;
  return { name: info.name.slice(0, 256), version: info.version.slice(0, 256), cut: true };
};

/** Whether the server announces tools; null where nothing was agreed on anew. It is asked for them all the same. */
const announcesTools = (client: Client): boolean | null => {
  const capabilities = client.getServerCapabilities();
  return capabilities === undefined ? null : capabilities.tools !== undefined;
};

/** An answer to `initialize` is a few kilobytes; the SDK reads it whole and without bounds of its own. */
const INITIALIZE_BYTES = 1024 * 1024;

/** What the SDK is told of an answer that was read here, so that nothing of a page is built twice. */
const answered = (id: string | number): Uint8Array =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));

const partsOf = (parts: ConnectionParts) => ({
  tap: parts.tap,
  ended: parts.ended,
  pageTime: parts.target.limits.pageTime,
});

const initialize = async (client: Client, parts: ConnectionParts, signal: AbortSignal): Promise<void> => {
  const bytes = Math.min(parts.target.limits.pageBytes, INITIALIZE_BYTES);
  const request = { ...partsOf(parts), method: 'initialize', bytes, signal };
  await runExchange<void>(request, ({ settle, note, over }) => {
    let first: Uint8Array | null = null;
    const timeout = parts.target.limits.pageTime + SDK_GRACE_MS;
    client
      .connect(parts.transport, { timeout, signal: over })
      .then(settle.resolve, (error: unknown) => settle.reject(startFault(error, first, parts.secrets)));
    return {
      message(raw) {
        first ??= raw;
        note(() => excerpt(raw, parts.secrets, { cap: 80 }));
        return raw;
      },
      // The SDK goes on after its answer, while the stream that brought it ends.
      ended(fault) {
        if (first === null) settle.reject(fault);
      },
    };
  });
};

/** Ids of requests that were sent before in a session that is gone on with lie below; most servers read 31 bits. */
const RESUMED_IDS = { from: 2 ** 20, to: 2 ** 30 };

/** Goes on in a session: the SDK sends nothing then. No id of a request may come twice in one session. */
const resume = async (client: Client, { transport }: ConnectionParts): Promise<void> => {
  // The SDK counts from 0 in each client and has no setting for it.
  Reflect.set(client, '_requestMessageId', randomInt(RESUMED_IDS.from, RESUMED_IDS.to));
  await client.connect(transport);
};

/**
 * Initializes and hands out the connection; shuts the transport down where that fails.
 * @throws SourceFault; or `signal.reason`
 */
export const openConnection = async (
  parts: ConnectionParts,
  signal: AbortSignal,
): Promise<SourceConnection> => {
  // No capability is offered: a server shows its plain list, and has nothing to ask of a scanner.
  const client = new Client(CLIENT, { capabilities: {} });
  // Each fault of the wire reaches the exchange; the SDK's own report of it would only be a second one.
  client.onerror = () => undefined;
  let closed: Promise<void> | null = null;
  const close: SourceConnection['close'] = ({ keepSession } = { keepSession: false }) => {
    closed ??= (async () => {
      if (!keepSession) await parts.farewell();
      await client.close().catch(() => undefined);
      await parts.shutdown();
    })();
    return closed;
  };
  try {
    if (parts.session() === null) await initialize(client, parts, signal);
    else await resume(client, parts);
  } catch (error) {
    await close();
    throw error;
  }
  const said = { serverInfo: serverInfoOf(client), announcesTools: announcesTools(client) };
  const evidence = (): ConnectionEvidence => ({ ...parts.evidence(), ...said });

  const answeredIds = new Set<unknown>();
  /** One request has one answer: of two, nobody could say which is the page. */
  let answeredTwice: SourceFault | null = null;
  const noteTwice = (answersTo: JsonValue | undefined): void => {
    if (answersTo !== undefined && answeredIds.has(answersTo))
      answeredTwice = new SourceFault('PAGE_MALFORMED', { rule: 'a request was answered twice' });
  };
  const contextOf = (requestId: string | number | null): ListPageContext => ({
    requestId,
    pointers: parts.target.revision,
    evidence: evidence(),
    now: epochMs(Date.now()),
    secrets: parts.secrets,
  });
  parts.tap.late = (raw) => {
    try {
      const answer = readListPage(raw, contextOf(null));
      if (answer.kind === 'other') noteTwice(answer.answersTo);
    } catch (error) {
      // What is no JSON answers nothing.
      if (!(error instanceof SourceFault)) throw error;
    }
  };

  function listPage(cursor: string | undefined, options: { signal: AbortSignal }): Promise<FetchedPage>;
  function listPage(
    cursor: string | undefined,
    options: { signal: AbortSignal; known: KnownReadings },
  ): Promise<FetchedPage | KnownPage>;
  async function listPage(
    cursor: string | undefined,
    options: { signal: AbortSignal; known?: KnownReadings },
  ): Promise<FetchedPage | KnownPage> {
    if (answeredTwice !== null) throw answeredTwice;
    const bytes = parts.target.limits.pageBytes;
    const request = { ...partsOf(parts), method: 'tools/list', bytes, signal: options.signal };
    const page = await runExchange<FetchedPage | KnownPage>(request, ({ settle, note, over }) => {
      const timeout = parts.target.limits.pageTime + SDK_GRACE_MS;
      client
        .request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, z.unknown(), {
          timeout,
          signal: over,
        })
        // An answer settles the exchange from its bytes, so only a request that failed is news here.
        .catch((error: unknown) => settle.reject(requestFault(error, parts.secrets)));
      return {
        message(raw, requestId) {
          try {
            const context = contextOf(requestId);
            const before = readKnownPage(raw, context, options.known ?? new Map());
            if (before !== null) {
              answeredIds.add(requestId);
              settle.resolve(before);
              return answered(requestId);
            }
            const answer = readListPage(raw, context);
            if (answer.kind === 'other') {
              note(answer.what);
              noteTwice(answer.answersTo);
              if (answeredTwice !== null) settle.reject(answeredTwice);
              return passOn(raw);
            }
            answeredIds.add(requestId);
            if (answer.kind === 'page') settle.resolve(answer.page);
            else settle.reject(rpcFault(answer.code, answer.message, cursor !== undefined, 'tools/list'));
            return answered(requestId);
          } catch (error) {
            settle.reject(error);
            return null;
          }
        },
        ended: settle.reject,
      };
    });
    // Reading a page of the largest size takes a good part of a second; timers run before its digests are taken.
    await immediate();
    if (answeredTwice !== null) throw answeredTwice;
    return page;
  }

  return {
    get evidence() {
      return evidence();
    },
    get session() {
      return parts.session();
    },
    secrets: () => parts.secrets,
    listPage,
    close,
  };
};

const requestFault = (error: unknown, secrets: readonly string[]): unknown => {
  if (error instanceof SourceFault) return error;
  const said = error instanceof Error ? excerpt(error.message, secrets) : null;
  return new SourceFault('UPSTREAM_ERROR', { method: 'tools/list', said }, { transient: true });
};
