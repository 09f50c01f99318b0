/**
 * Reads the bytes of one JSON-RPC message as a page of `tools/list`, strictly and from the source's own text.
 * Both protocol revisions share it; nothing that an SDK has parsed is ever digested or stored.
 */
import type { Digest, EpochMs } from '../../domain/ids.js';
import {
  isJsonArray,
  isJsonObject,
  isSafeInteger,
  isString,
  type JsonObject,
  type JsonValue,
  member,
} from '../../domain/json.js';
import { secretFinder } from '../../domain/secretText.js';
import type { SourceRevision } from '../../domain/snapshot.js';
import { digestJson, sha256Bytes } from '../../proof/digest.js';
import { resolvePointer } from '../../proof/jsonPointer.js';
import { readStrict, StrictJsonError } from '../../proof/strictJson.js';
import { excerpt } from '../excerpt.js';
import {
  type ConnectionEvidence,
  type FetchedPage,
  type KnownPage,
  type KnownReadings,
  type RevisionPointers,
  SourceFault,
} from '../source.js';

/** Goes up whenever this reader takes other bytes or reads them otherwise, so that no older reading is used again. */
const READER = 1;
/** Deeper nesting than any schema of a tool needs, and far below what would exhaust a stack. */
const MAX_DEPTH = 128;
/**
 * JSON values of one page, and names among them. Ordinary tools take some 25 bytes a value and share most of their names,
 * so that as many as a scan takes by default stay below. A page of `{}` could otherwise be millions of objects, which cost a hundred times
 * their bytes and hold the process up for seconds.
 */
const MAX_VALUES = 640_000;
const MAX_NAMES = 50_000;
/** Ordinary tools come to seven times their page, here twelve times 16 MB. */
const MAX_NESTED = 200_000_000;
const MAX_TOKEN = 1_024;

export type ListAnswer =
  | { readonly kind: 'page'; readonly page: FetchedPage }
  /** A notification, a request of the server, or the answer to another request; `what` is asked for only to show it. */
  | { readonly kind: 'other'; readonly what: () => string; readonly answersTo: JsonValue | undefined }
  | { readonly kind: 'error'; readonly code: number; readonly message: string };

export interface ListPageContext {
  /** The JSON-RPC id of the request that this may answer; null where nothing waits for an answer. */
  readonly requestId: string | number | null;
  readonly pointers: RevisionPointers;
  readonly evidence: ConnectionEvidence;
  readonly now: EpochMs;
  /** Blotted out of excerpts; a page that repeats one is refused (S6). */
  readonly secrets: readonly string[];
}

const malformed = (
  pointer: string,
  rule: string,
  more: Readonly<Record<string, unknown>> = {},
): SourceFault => new SourceFault('PAGE_MALFORMED', { pointer, rule, ...more });

const strictFault = (error: StrictJsonError, raw: Uint8Array, secrets: readonly string[]): SourceFault => {
  const { pointer, offset } = error;
  const start = excerpt(raw, secrets, { cap: 80 });
  return error.reason === 'DUPLICATE_KEY'
    ? new SourceFault('DUPLICATE_KEY', { pointer, offset, start })
    : malformed(pointer, error.reason, { offset, start });
};

const parse = (raw: Uint8Array, secrets: readonly string[]) => {
  try {
    return readStrict(
      raw,
      { maxDepth: MAX_DEPTH, maxValues: MAX_VALUES, maxNames: MAX_NAMES, maxNested: MAX_NESTED },
      { elementsOf: '/result/tools', spanOf: ['/result'] },
    );
  } catch (error) {
    throw error instanceof StrictJsonError ? strictFault(error, raw, secrets) : error;
  }
};

/**
 * D3, D9: the revision that a list result is bound to. A counter wins over a token where a page has both. A
 * value of another form is a fault and not an absence, since absence would make a broken server look unversioned.
 * @throws SourceFault PAGE_MALFORMED
 */
export const readRevision = (result: JsonValue, pointers: RevisionPointers): SourceRevision | null => {
  const counter = resolvePointer(result, pointers.revisionPointer);
  if (counter !== undefined) return readCounter(counter, pointers.revisionPointer);
  const token = resolvePointer(result, pointers.tokenPointer);
  if (token === undefined) return null;
  if (!isString(token) || token.length === 0 || token.length > MAX_TOKEN) {
    throw malformed(
      `/result${pointers.tokenPointer}`,
      `a snapshot token is a string of 1–${MAX_TOKEN} characters`,
    );
  }
  return { binding: 'SNAPSHOT_TOKEN', value: { token } };
};

const readCounter = (value: JsonValue, pointer: string): SourceRevision => {
  const whole = isJsonObject(value) ? value : { incarnation: '', counter: value };
  const incarnation = member(whole, 'incarnation');
  const counter = member(whole, 'counter');
  if (!isString(incarnation) || incarnation.length > MAX_TOKEN || !isSafeInteger(counter) || counter < 0) {
    throw malformed(
      `/result${pointer}`,
      'a revision is an integer from 0, or {"incarnation": string, "counter": integer from 0}',
    );
  }
  return { binding: 'SERVER_REVISION', value: { incarnation, counter } };
};

const describe = (message: JsonObject, secrets: readonly string[]): string => {
  const method = member(message, 'method');
  if (isString(method)) return excerpt(method, secrets, { cap: 60 });
  return `an answer to request ${excerpt(JSON.stringify(member(message, 'id') ?? null), secrets, { cap: 40 })}`;
};

const readingOf = ({ requestId, pointers: { revisionPointer, tokenPointer } }: ListPageContext): Digest =>
  digestJson({ reader: READER, requestId, revisionPointer, tokenPointer });

/**
 * The page, where its very bytes were read in the very same way before. What may differ from then is looked at again:
 * the secrets that a page must not repeat.
 * @throws SourceFault PAGE_MALFORMED
 */
export const readKnownPage = (
  raw: Uint8Array,
  context: ListPageContext,
  known: KnownReadings,
): KnownPage | null => {
  if (known.size === 0) return null;
  const found = known.get(sha256Bytes(raw));
  if (found === undefined || found.reading !== readingOf(context)) return null;
  const { rawDigest, reading, nextCursor, nullCursor, revision } = found;
  if (context.secrets.length > 0) {
    const text = new TextDecoder().decode(raw);
    refuseSecrets({ text, names: found.names, cursor: nextCursor, revision }, context.secrets);
  }
  const { evidence, now: fetchedAt } = context;
  return { known: true, raw, rawDigest, reading, nextCursor, nullCursor, revision, evidence, fetchedAt };
};

/**
 * @param raw the whole JSON-RPC message, as it came
 * @throws SourceFault PAGE_MALFORMED or DUPLICATE_KEY, with the position
 */
export const readListPage = (raw: Uint8Array, context: ListPageContext): ListAnswer => {
  const read = parse(raw, context.secrets);
  const message = read.value;
  if (!isJsonObject(message)) throw malformed('', 'one JSON-RPC message is one object');
  const { requestId } = context;
  if (member(message, 'method') !== undefined || requestId === null || member(message, 'id') !== requestId) {
    // An error without an id is how a server answers what it could not read.
    if (
      requestId === null ||
      member(message, 'error') === undefined ||
      (member(message, 'id') ?? null) !== null
    ) {
      const isAnswer = member(message, 'method') === undefined;
      const answersTo = isAnswer ? member(message, 'id') : undefined;
      return { kind: 'other', what: () => describe(message, context.secrets), answersTo };
    }
  }
  if (member(message, 'jsonrpc') !== '2.0') throw malformed('/jsonrpc', 'jsonrpc is "2.0"');
  const error = member(message, 'error');
  if (error !== undefined) return readError(error, context.secrets);

  const result = member(message, 'result');
  if (!isJsonObject(result)) throw malformed('/result', 'a list result is an object');
  const tools = member(result, 'tools');
  if (!isJsonArray(tools)) throw malformed('/result/tools', 'a list result has an array of tools');
  const cursor = member(result, 'nextCursor');
  if (cursor !== undefined && cursor !== null && !isString(cursor)) {
    throw malformed('/result/nextCursor', 'a cursor is a string');
  }
  const span = read.spans['/result'];
  if (span === undefined || read.elements.length !== tools.length) {
    throw malformed('/result', 'the text of the result was not found');
  }
  const revision = readRevision(result, context.pointers);
  const resultText = read.text.slice(span.start, span.end);
  const names = tools.map((tool) => (isJsonObject(tool) ? member(tool, 'name') : undefined)).filter(isString);
  const nextCursor = isString(cursor) ? cursor : undefined;
  refuseSecrets({ text: resultText, names, cursor: nextCursor, revision }, context.secrets);
  return {
    kind: 'page',
    page: {
      raw,
      rawDigest: sha256Bytes(raw),
      reading: readingOf(context),
      resultText,
      result,
      tools: read.elements.map(({ start, end }, index) => ({
        text: read.text.slice(start, end),
        value: tools[index] ?? null,
      })),
      nextCursor,
      nullCursor: cursor === null,
      revision,
      inexactNumbers: read.inexactNumbers,
      evidence: context.evidence,
      fetchedAt: context.now,
    },
  };
};

/**
 * S6: a page that repeats a secret of the target is refused, since what of it goes into rows and histories cannot be
 * blotted out: it is digested and compared. Names, cursor and revision are looked at as they read, the rest as it came.
 */
const refuseSecrets = (
  page: {
    readonly text: string;
    readonly names: readonly string[];
    readonly cursor: string | undefined;
    readonly revision: SourceRevision | null;
  },
  secrets: readonly string[],
): void => {
  if (secrets.length === 0) return;
  const holds = secretFinder(secrets);
  const echoed =
    holds(page.text) ||
    holds(page.cursor ?? '') ||
    Object.values(page.revision?.value ?? {}).some((part) => isString(part) && holds(part)) ||
    page.names.some(holds);
  if (echoed) throw malformed('/result', 'SECRET_ECHOED');
};

const readError = (error: JsonValue, secrets: readonly string[]): ListAnswer => {
  const code = isJsonObject(error) ? member(error, 'code') : undefined;
  const text = isJsonObject(error) ? member(error, 'message') : undefined;
  if (!isSafeInteger(code)) throw malformed('/error/code', 'a JSON-RPC error has an integer code');
  return { kind: 'error', code, message: excerpt(isString(text) ? text : '', secrets) };
};
