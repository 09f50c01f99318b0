/** From a fetched page to what the verdict needs and what is stored: names and digests, taken from the bytes. */
import { setImmediate as immediate } from 'node:timers/promises';
import { END_REASONS } from '../domain/endReasons.js';
import type { Evidence } from '../domain/generation.js';
import { type Digest, parseDigest, type ServerName } from '../domain/ids.js';
import { isJsonObject, isString, member } from '../domain/json.js';
import type { PageFacts, ScanStop } from '../domain/pagination.js';
import { IDENTITY_SCHEMA, type ServerKind } from '../domain/snapshot.js';
import { SourceFault } from '../domain/sourceFault.js';
import { digestJson, sha256Bytes } from '../proof/digest.js';
import { identityDigest } from '../proof/identity.js';
import type { ConnectionEvidence, FetchedPage, KnownPage, SourceTarget } from '../sources/source.js';
import type { PageRecord, PageTool, ScanRecord } from '../store/scanStore.js';
import type { Stop } from './activityTypes.js';

/** D8: who answered, as one digest. What the server says of itself is no part of it. */
export const identityOf = (kind: ServerKind, { endpoint, spki, artifact }: ConnectionEvidence): Digest =>
  identityDigest({ schema: IDENTITY_SCHEMA, kind, endpoint, spki, artifact });

/** D8: what goes on with a scan meets no other TLS key than that of the pages it has. */
export const boundToKey = (target: SourceTarget, { sourceEvidence }: ScanRecord): SourceTarget => {
  const spki = sourceEvidence?.['spki'];
  if (typeof spki !== 'string') return target;
  return { ...target, trust: { ...target.trust, scannedSpki: parseDigest(spki) } };
};

const NUL = '\u0000';
/** MCP allows 128 characters and the contract checks say so of a longer one; beyond this no index takes the name. */
const MAX_NAME = 512;
/** Digests are taken for so many tools at a time, so that heartbeats run meanwhile. */
const TOOLS_PER_TURN = 500;

const malformed = (page: number, evidence: Readonly<Record<string, unknown>>): SourceFault =>
  new SourceFault('PAGE_MALFORMED', { page, ...evidence });

/**
 * A tool needs a name to be spoken of at all; everything else that is wrong with it is its own verdict (V1, V2).
 * @throws SourceFault PAGE_MALFORMED
 */
const pageTools = async (n: number, page: FetchedPage): Promise<readonly PageTool[]> => {
  const tools: PageTool[] = [];
  for (const [index, { text, value }] of page.tools.entries()) {
    if (index % TOOLS_PER_TURN === TOOLS_PER_TURN - 1) await immediate();
    const name = isJsonObject(value) ? member(value, 'name') : undefined;
    if (!isString(name)) throw malformed(n, { tool: index, rule: 'a tool is an object with a string name' });
    if (name.includes(NUL)) throw malformed(n, { tool: index, rule: 'a tool name holds U+0000' });
    if (name.length > MAX_NAME) {
      throw malformed(n, {
        tool: index,
        rule: `a tool name has at most ${MAX_NAME} characters`,
        characters: name.length,
      });
    }
    tools.push([name, digestJson(value), sha256Bytes(text)]);
  }
  // The digest of the whole page comes next, and takes as long again.
  await immediate();
  return tools;
};

export interface ReadPage {
  readonly facts: PageFacts;
  readonly record: PageRecord;
}

const readingOf = (page: KnownPage, before: ReadonlyMap<Digest, PageRecord>): PageRecord => {
  const found = before.get(page.rawDigest);
  if (found === undefined) throw new Error(`page ${page.rawDigest} is not among the known ones`);
  return found;
};

/**
 * @param before pages that were read before, by the digest of their bytes
 * @throws SourceFault PAGE_MALFORMED
 */
export const readPage = async (
  at: { readonly n: number; readonly kind: ServerKind; readonly server: ServerName; readonly worker: string },
  requestCursor: string | undefined,
  page: FetchedPage | KnownPage,
  before: ReadonlyMap<Digest, PageRecord>,
): Promise<ReadPage> => {
  if (page.nextCursor?.includes(NUL)) throw malformed(at.n, { rule: 'a cursor holds U+0000' });
  if (Object.values(page.revision?.value ?? {}).some((part) => isString(part) && part.includes(NUL))) {
    throw malformed(at.n, { rule: 'a revision holds U+0000' });
  }
  const { tools, resultDigest } =
    'known' in page
      ? readingOf(page, before)
      : { tools: await pageTools(at.n, page), resultDigest: digestJson(page.result) };
  const identity = identityOf(at.kind, page.evidence);
  const common = { requestCursor, nextCursor: page.nextCursor, revision: page.revision, identity };
  return {
    facts: {
      ...common,
      bytes: page.raw.byteLength,
      tools: tools.map(([name, descriptor]) => ({ name, descriptor })),
    },
    record: {
      ...common,
      n: at.n,
      nullCursor: page.nullCursor,
      resultDigest,
      rawDigest: page.rawDigest,
      reading: page.reading,
      bytes: page.raw.byteLength,
      tools,
      worker: at.worker,
    },
  };
};

/** The facts of a page that was stored before: a resumed scan folds the same facts again. */
export const storedFacts = (page: PageRecord): PageFacts => ({
  requestCursor: page.requestCursor,
  nextCursor: page.nextCursor,
  tools: page.tools.map(([name, descriptor]) => ({ name, descriptor })),
  bytes: page.bytes,
  revision: page.revision,
  identity: page.identity,
});

/** Every tool of a scan once, in list order: a repeat of an equal descriptor adds nothing. */
export const distinctTools = (pages: readonly PageRecord[]): readonly PageTool[] => {
  const seen = new Map<string, PageTool>();
  for (const page of pages) for (const tool of page.tools) if (!seen.has(tool[0])) seen.set(tool[0], tool);
  return [...seen.values()];
};

/** The names that a list has more than once: each stands for one descriptor, or the scan would not have gone on (V1). */
export const repeatedNames = (pages: readonly PageRecord[]): readonly string[] => {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const page of pages) for (const [name] of page.tools) (seen.has(name) ? again : seen).add(name);
  return [...again];
};

/** A reason of the pure core as the end of a scan: the table of end reasons says which state it is. */
export const stopOf = (reason: ScanStop, evidence: Evidence): Stop =>
  ({ kind: 'stop', state: END_REASONS[reason].state, reason, evidence }) as Stop;
