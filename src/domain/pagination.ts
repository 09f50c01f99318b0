/**
 * The verdict on a scan, page by page (D1, D3, V1): a pure fold over what a page says of itself. The activity
 * that fetches and the test that shuffles schedules drive the same code.
 */
import type { EndReason, ReasonFor } from './endReasons.js';
import type { Digest } from './ids.js';
import type { ScanLimits } from './scanLimits.js';
import type { SourceRevision } from './snapshot.js';
import { sameRevision } from './snapshot.js';

/** What the fold needs to know of one page. Names and descriptor digests stand in list order. */
export interface PageFacts {
  readonly requestCursor: string | undefined;
  readonly nextCursor: string | undefined;
  readonly tools: readonly { readonly name: string; readonly descriptor: Digest }[];
  readonly bytes: number;
  readonly revision: SourceRevision | null;
  /** Digest of (endpoint, TLS key, artifact) of the connection that carried the page (D8). */
  readonly identity: Digest;
}

/** The scan so far. Grows with names and cursors only; it holds no descriptor text. */
export interface ScanSoFar {
  readonly pages: number;
  readonly bytes: number;
  readonly seenCursors: ReadonlySet<string>;
  readonly seenNames: ReadonlyMap<string, Digest>;
  readonly revision: SourceRevision | null;
  readonly identity: Digest | null;
}

export type ScanStop = ReasonFor<'INCOMPLETE'> | ReasonFor<'QUARANTINED'>;

export type PageVerdict =
  | { readonly kind: 'continue'; readonly cursor: string; readonly scan: ScanSoFar }
  | { readonly kind: 'complete'; readonly scan: ScanSoFar }
  | {
      readonly kind: 'stop';
      readonly reason: ScanStop;
      readonly evidence: Readonly<Record<string, unknown>>;
    };

export const emptyScan = (): ScanSoFar => ({
  pages: 0,
  bytes: 0,
  seenCursors: new Set(),
  seenNames: new Map(),
  revision: null,
  identity: null,
});

/** Evidence travels through histories: a name that a source chose is shown in part where it is long. */
const shown = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}…` : name);

const stop = (reason: ScanStop & EndReason, evidence: Readonly<Record<string, unknown>>): PageVerdict => ({
  kind: 'stop',
  reason,
  evidence,
});

/**
 * Takes one more page into the scan. The page is accepted (and may be stored) only where the answer is
 * `continue` or `complete`. Time is not judged here: deadlines end the activity that waits.
 *
 * The sets of `scan` are extended in place and handed on, since copying them at each page would make a scan
 * quadratic; a caller keeps only the newest value.
 */
export const acceptPage = (scan: ScanSoFar, page: PageFacts, limits: ScanLimits): PageVerdict => {
  const at = { page: scan.pages };
  if (scan.identity !== null && page.identity !== scan.identity) {
    return stop('IDENTITY_TORN', { ...at, first: scan.identity, now: page.identity });
  }
  if (scan.pages > 0) {
    if ((scan.revision === null) !== (page.revision === null)) {
      return stop('REVISION_MISSING', { ...at, first: scan.revision, now: page.revision });
    }
    if (scan.revision !== null && page.revision !== null && !sameRevision(scan.revision, page.revision)) {
      return stop('REVISION_CHANGED', { ...at, first: scan.revision, now: page.revision });
    }
  }
  if (page.bytes > limits.pageBytes) {
    return stop('PAGE_TOO_LARGE', { ...at, bytes: page.bytes, limit: limits.pageBytes });
  }
  if (scan.bytes + page.bytes > limits.scanBytes) {
    return stop('BYTE_BUDGET_EXCEEDED', { ...at, bytes: scan.bytes + page.bytes, limit: limits.scanBytes });
  }

  const seenNames = scan.seenNames as Map<string, Digest>;
  const fresh = new Map<string, Digest>();
  for (const { name, descriptor } of page.tools) {
    const known = seenNames.get(name) ?? fresh.get(name);
    if (known === undefined) fresh.set(name, descriptor);
    else if (known !== descriptor)
      return stop('DUPLICATE_NAME', { ...at, name: shown(name), first: known, now: descriptor });
  }

  // Before NO_PROGRESS: a cursor that leads back is the cause, tools that come again are what follows from it.
  const seenCursors = scan.seenCursors as Set<string>;
  if (page.nextCursor !== undefined) {
    if (page.nextCursor === page.requestCursor) return stop('CURSOR_REPEATED', { ...at });
    if (seenCursors.has(page.nextCursor)) return stop('CURSOR_CYCLE', { ...at });
  }
  if (page.tools.length > 0 && fresh.size === 0)
    return stop('NO_PROGRESS', { ...at, tools: page.tools.length });
  if (seenNames.size + fresh.size > limits.tools) {
    return stop('TOOL_BUDGET_EXCEEDED', { ...at, tools: seenNames.size + fresh.size, limit: limits.tools });
  }
  if (page.nextCursor !== undefined && scan.pages + 1 >= limits.pages) {
    return stop('PAGE_BUDGET_EXCEEDED', { ...at, limit: limits.pages });
  }

  for (const [name, descriptor] of fresh) seenNames.set(name, descriptor);
  if (page.nextCursor !== undefined) seenCursors.add(page.nextCursor);
  const next: ScanSoFar = {
    pages: scan.pages + 1,
    bytes: scan.bytes + page.bytes,
    seenCursors,
    seenNames,
    revision: scan.pages === 0 ? page.revision : scan.revision,
    identity: page.identity,
  };
  return page.nextCursor === undefined
    ? { kind: 'complete', scan: next }
    : { kind: 'continue', cursor: page.nextCursor, scan: next };
};

export type ResumedScan =
  | {
      readonly kind: 'ready';
      readonly scan: ScanSoFar;
      /** The cursor to go on with; undefined before the first page, and after the last. */
      readonly cursor: string | undefined;
      /** Whether the last page is among those that are stored. */
      readonly complete: boolean;
    }
  | (Extract<PageVerdict, { readonly kind: 'stop' }> & { readonly scan: ScanSoFar });

/**
 * D6: folds the stored pages again. The next page itself probes whether the revision still holds: every page carries it,
 * and one of another revision ends the round before it is stored.
 */
export const resumeScan = (stored: readonly PageFacts[], limits: ScanLimits): ResumedScan => {
  let scan = emptyScan();
  for (const page of stored) {
    const verdict = acceptPage(scan, page, limits);
    if (verdict.kind === 'stop') return { ...verdict, scan };
    scan = verdict.scan;
  }
  const cursor = stored.at(-1)?.nextCursor;
  return { kind: 'ready', scan, cursor, complete: stored.length > 0 && cursor === undefined };
};

/** What the source says when it is asked again after the last page. */
export interface TailFacts {
  readonly revision: SourceRevision | null;
  readonly identity: Digest;
}

export type TailVerdict =
  | { readonly kind: 'bound'; readonly revision: SourceRevision }
  | {
      readonly kind: 'stop';
      readonly reason: ScanStop;
      readonly evidence: Readonly<Record<string, unknown>>;
    };

/** D3: only where the tail names the very revision of the pages are they bound to one source generation. */
export const verifyTailFacts = (
  scan: { readonly revision: SourceRevision | null; readonly identity: Digest },
  tail: TailFacts,
): TailVerdict => {
  if (tail.identity !== scan.identity) {
    return {
      kind: 'stop',
      reason: 'IDENTITY_TORN',
      evidence: { at: 'tail', first: scan.identity, now: tail.identity },
    };
  }
  if (scan.revision === null || tail.revision === null) {
    return {
      kind: 'stop',
      reason: 'REVISION_MISSING',
      evidence: { at: 'tail', first: scan.revision, now: tail.revision },
    };
  }
  return sameRevision(scan.revision, tail.revision)
    ? { kind: 'bound', revision: scan.revision }
    : {
        kind: 'stop',
        reason: 'REVISION_CHANGED',
        evidence: { at: 'tail', first: scan.revision, now: tail.revision },
      };
};
