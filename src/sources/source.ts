/**
 * The port through which Genlock reads a tool source: pages as bytes, with the evidence of who served them.
 * Adapters only fetch and report; whether a chain of pages proves anything is decided in domain/pagination.ts.
 */
import type { Digest, EpochMs } from '../domain/ids.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { ScanLimits } from '../domain/scanLimits.js';
import type { Secret } from '../domain/secret.js';
import type { SourceRevision } from '../domain/snapshot.js';
import type { InexactNumber } from '../proof/strictJson.js';

/** What a connection presents to the source. One scan has one credential, that of its audience (S6). */
export type SourceCredential =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'bearer';
      readonly token: Secret;
      /** Keyed digest of the token: evidence of which secret scanned that nobody can guess back. */
      readonly fingerprint: Digest;
      /** When it ends, where it says so itself; freshness ends with it (S7). */
      readonly expires: EpochMs | null;
    };

export interface SourceTrust {
  /** Whether loopback, private, link-local and other not globally routed addresses may be connected to. */
  readonly allowPrivateAddresses: boolean;
  /** PEM certificates that replace the built-in certificate authorities. */
  readonly tlsCaPem?: string;
  /** Accepted digests of the server's TLS public key (SPKI). Another key is refused before anything is sent. */
  readonly spkiPins?: readonly Digest[];
  /** The key of the pages that a scan already has: what goes on with that scan meets no other (D8). */
  readonly scannedSpki?: Digest;
}

/** JSON Pointers (RFC 6901) into the list result where a revision binding may stand. */
export interface RevisionPointers {
  readonly revisionPointer: string;
  readonly tokenPointer: string;
}

interface TargetCommon {
  readonly credential: SourceCredential;
  readonly trust: SourceTrust;
  readonly revision: RevisionPointers;
  readonly limits: Pick<ScanLimits, 'pageBytes' | 'pageTime'>;
}

export interface HttpTarget extends TargetCommon {
  readonly kind: 'mcp-http';
  readonly url: string;
}

export interface StdioTarget extends TargetCommon {
  readonly kind: 'mcp-stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Added to a minimal inherited environment. Values that are secrets come wrapped and are never printed. */
  readonly env?: Readonly<Record<string, string | Secret>>;
  readonly cwd?: string;
}

export type SourceTarget = HttpTarget | StdioTarget;

/** D8: who served, as far as Genlock itself could see. */
export interface ConnectionEvidence {
  /** Digest of the configured endpoint: the URL, or command, arguments and folder. */
  readonly endpoint: Digest;
  /** Digest of the TLS public key of the connection that carried the page; null without TLS. */
  readonly spki: Digest | null;
  /** Digest of the executable (and script) of a stdio server; null over HTTP. */
  readonly artifact: Digest | null;
  /** Address and port that were connected to; null over stdio. */
  readonly address: string | null;
  /** The protocol revision that was agreed on. */
  readonly protocolVersion: string;
  /** Whether cursors die with this connection: a session id was issued, or it is a process (D6). */
  readonly sessionScoped: boolean;
  /** What the server says of itself. Recorded; proves nothing (D8). */
  readonly serverInfo: JsonValue;
  /** Whether it announced the capability, as it should; null in a session that is gone on with. Its absence proves no absence. */
  readonly announcesTools: boolean | null;
}

export interface FetchedTool {
  /** The source's own text of this element of `tools`. */
  readonly text: string;
  readonly value: JsonValue;
}

/** What every page has, whether its bytes were read now or before. */
interface PageCommon {
  /** The bytes of the JSON-RPC message that carried the result, as they came. */
  readonly raw: Uint8Array;
  readonly rawDigest: Digest;
  /** Digest of all that reading depends on beside the bytes: the reader's rules, the pointers, the request's id. */
  readonly reading: Digest;
  /** Absent at the end of the list; `""` is a cursor (D1). */
  readonly nextCursor: string | undefined;
  /** Whether the end was written as `"nextCursor": null`, which is read as absent and reported. */
  readonly nullCursor: boolean;
  readonly revision: SourceRevision | null;
  readonly evidence: ConnectionEvidence;
  readonly fetchedAt: EpochMs;
}

export interface FetchedPage extends PageCommon {
  /** The source's own text of `result`. */
  readonly resultText: string;
  readonly result: JsonObject;
  readonly tools: readonly FetchedTool[];
  /** Numbers that a double cannot hold exactly, with pointers from the root of the message. */
  readonly inexactNumbers: readonly InexactNumber[];
}

/** A page whose very bytes were read before: what they say is known to the caller by their digest. */
export interface KnownPage extends PageCommon {
  readonly known: true;
}

/** What a page read as, as far as a connection needs it. */
export interface PageReading {
  readonly rawDigest: Digest;
  readonly reading: Digest;
  readonly nextCursor: string | undefined;
  readonly nullCursor: boolean;
  readonly revision: SourceRevision | null;
  /** The names of its tools. */
  readonly names: readonly string[];
}

/** Readings by the digest of the bytes. The same bytes read in the same way say the same. */
export type KnownReadings = ReadonlyMap<Digest, PageReading>;

/** A session that a server gave out and that outlives a connection: its cursors live as long as it does (D6). */
export interface SourceSession {
  /** Worth as much as a credential. */
  readonly id: Secret;
  /** What was agreed on when it began; each request says it again. */
  readonly protocolVersion: string;
}

export interface SourceConnection {
  /** Evidence as of the last answer. */
  readonly evidence: ConnectionEvidence;
  /** As of the last answer; null where the server issued none, or it cannot outlive this connection. */
  readonly session: SourceSession | null;
  /** What may stand in no evidence: the target's secrets, and the id of the session. In memory only. */
  secrets(): readonly string[];
  /**
   * Fetches one page. One call at a time.
   * @param cursor undefined asks for the first page
   * @throws SourceFault; or `signal.reason` where the caller aborted
   */
  listPage(cursor: string | undefined, options: { readonly signal: AbortSignal }): Promise<FetchedPage>;
  /** The same; a page that is among the known ones is not read again, only looked through for secrets. */
  listPage(
    cursor: string | undefined,
    options: { readonly signal: AbortSignal; readonly known: KnownReadings },
  ): Promise<FetchedPage | KnownPage>;
  /**
   * Ends sockets and process, and the session as well unless another connection is to go on with it. Never throws; may
   * be called twice.
   */
  close(options?: { readonly keepSession: boolean }): Promise<void>;
}

export interface ToolSource {
  /**
   * @param options.session one of an earlier connection to this very target, to go on with: nothing is agreed on again, and
   *   the first request finds out whether it still lives (SESSION_LOST)
   * @throws SourceFault; or `signal.reason` where the caller aborted
   */
  connect(
    target: SourceTarget,
    options: { readonly signal: AbortSignal; readonly session?: SourceSession },
  ): Promise<SourceConnection>;
}

export { SourceFault } from '../domain/sourceFault.js';
