/**
 * One segment of a scan: fetch, judge, store, and only then go on. Postgres is the truth of how far it came; a retry
 * on any worker resumes from the last stored page, and a worker that lost its claim stores nothing (D6).
 */
import { Context } from '@temporalio/activity';
import { scrubValue } from '../domain/evidence.js';
import type { Evidence } from '../domain/generation.js';
import { acceptPage, emptyScan, type ScanSoFar, type ScanStop } from '../domain/pagination.js';
import { SEGMENT_PAGES } from '../domain/scanLimits.js';
import type { RegisteredServer } from '../domain/server.js';
import { SourceFault } from '../domain/sourceFault.js';
import { contentRoot } from '../proof/contentRoot.js';
import type { FetchedPage, SourceConnection, SourceCredential } from '../sources/source.js';
import type { PageClaim, PageRecord, ScanRecord } from '../store/scanStore.js';
import type { ScanPagesResult, ScanSegment, Stop } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { asStop, fenced, withHeartbeat } from './failures.js';
import { distinctTools, identityOf, readPage, stopOf, storedFacts } from './pageFacts.js';
import { PROTOCOL, protocolStop } from './protocol.js';
import { scrubStop, secretsOf } from './scrubStop.js';

/** Tries of one page whose fault may pass by itself, and the pause before each repeat in milliseconds. */
const PAUSES_MS = [500, 2_000];

export const scanPages =
  (deps: ActivityDeps) =>
  async (input: ScanSegment): Promise<ScanPagesResult> => {
    const progress = { pages: 0, tools: 0, worker: deps.worker };
    return withHeartbeat(
      () => progress,
      async (signal) => {
        const { key, scan, round, segment } = input;
        const { info } = Context.current();
        const claim = {
          key,
          id: scan,
          round,
          segment,
          attempt: info.attempt,
          workflowId: info.workflowExecution?.workflowId ?? '',
          runId: info.workflowExecution?.runId ?? '',
          worker: deps.worker,
        };
        const record = await deps.store.claimScan(claim);
        const server = await deps.store.readServer(key.tenant, key.server);
        if (server === null || !Object.hasOwn(server.audiences, key.audience)) return gone;
        if (record === null) throw fenced(scan);
        const secrets = new Set<string>();
        const at = { record, server, segment, attempt: info.attempt, signal, progress, secrets };
        return scrubStop(await runSegment(deps, at), secrets);
      },
    );
  };

const gone: Stop = { kind: 'stop', state: 'INCOMPLETE', reason: 'SERVER_GONE', evidence: {} };

interface Segment {
  readonly record: ScanRecord;
  readonly server: RegisteredServer;
  readonly segment: number;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly progress: { pages: number; tools: number };
  /** What the source has been shown and its answers may repeat. */
  readonly secrets: Set<string>;
}

const runSegment = async (deps: ActivityDeps, at: Segment): Promise<ScanPagesResult> => {
  const { record, server, progress } = at;
  const stored = [...(await deps.store.pages(record.tenant, record.id))];
  const resumed = resume(stored, server);
  if (resumed.kind === 'stop') return resumed;
  let { scan, cursor } = resumed;
  progress.pages = scan.pages;
  progress.tools = scan.seenNames.size;
  if (resumed.complete) return finish(deps, at, stored, scan);

  const deadline = AbortSignal.timeout(Math.max(record.deadline - deps.now(), 1));
  const signal = AbortSignal.any([at.signal, deadline]);
  let connection: SourceConnection | undefined;
  try {
    const target = await deps.targetOf(record.tenant, server, record.credential);
    for (const secret of secretsOf(target)) at.secrets.add(secret);
    connection = await deps.source.connect(target, { signal });
    if (scan.pages > 0 && connection.evidence.sessionScoped) {
      // Cursors die with the session or process that gave them out: the scan begins again (D6).
      return { kind: 'stop', state: 'INCOMPLETE', reason: 'SESSION_LOST', evidence: { pages: scan.pages } };
    }
    for (let fetched = 0; ; fetched++) {
      if (fetched >= SEGMENT_PAGES && !connection.evidence.sessionScoped) {
        return { kind: 'more', pages: scan.pages, tools: scan.seenNames.size };
      }
      const page = await fetchPage(deps, connection, cursor, signal);
      for (const secret of connection.secrets()) at.secrets.add(secret);
      if (page.tools.length > server.limits.tools) return tooManyTools(page, scan, server);
      const where = { n: scan.pages, kind: server.source.kind, server: server.name, worker: deps.worker };
      const read = await readPage(where, cursor, page);
      const verdict = acceptPage(scan, read.facts, server.limits);
      if (verdict.kind === 'stop') return pageStop(verdict, scan);
      const wrongProtocol = protocolStop(page);
      if (wrongProtocol !== null) return wrongProtocol;
      if (scan.pages === 0 && !(await noteSource(deps, at, page, target.credential))) throw fenced(record.id);
      if (!(await deps.store.storePage(record.tenant, claimOf(at), read.record, page.raw)))
        throw fenced(record.id);
      stored.push(read.record);
      scan = verdict.scan;
      progress.pages = scan.pages;
      progress.tools = scan.seenNames.size;
      Context.current().heartbeat(progress);
      if (verdict.kind === 'complete') return finish(deps, at, stored, scan);
      cursor = verdict.cursor;
    }
  } catch (error) {
    if (deadline.aborted && !at.signal.aborted) {
      const evidence = { pages: scan.pages, limitMs: server.limits.scanTime };
      return { kind: 'stop', state: 'INCOMPLETE', reason: 'DEADLINE_EXCEEDED', evidence };
    }
    const stop = asStop(error);
    return { ...stop, evidence: { page: scan.pages, ...stop.evidence } };
  } finally {
    for (const secret of connection?.secrets() ?? []) at.secrets.add(secret);
    await connection?.close();
  }
};

type Resumed =
  | {
      readonly kind: 'ready';
      readonly scan: ScanSoFar;
      readonly cursor: string | undefined;
      readonly complete: boolean;
    }
  | Stop;

/**
 * Folds the stored pages again. The next page itself probes whether the revision still holds: every page carries it,
 * and one of another revision ends the round before it is stored.
 */
const resume = (stored: readonly PageRecord[], server: RegisteredServer): Resumed => {
  let scan = emptyScan();
  for (const page of stored) {
    const verdict = acceptPage(scan, storedFacts(page), server.limits);
    if (verdict.kind === 'stop') return pageStop(verdict, scan);
    scan = verdict.scan;
  }
  const last = stored.at(-1);
  return {
    kind: 'ready',
    scan,
    cursor: last?.nextCursor,
    complete: last !== undefined && last.nextCursor === undefined,
  };
};

const pageStop = (
  verdict: { readonly reason: ScanStop; readonly evidence: Evidence },
  scan: ScanSoFar,
): Stop => stopOf(verdict.reason, { pages: scan.pages, ...verdict.evidence });

const fetchPage = async (
  deps: ActivityDeps,
  connection: SourceConnection,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<FetchedPage> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await connection.listPage(cursor, { signal });
    } catch (error) {
      const pause = PAUSES_MS[attempt];
      // A session that broke cannot be asked again with its own cursors.
      const canRepeat = error instanceof SourceFault && error.transient && !connection.evidence.sessionScoped;
      if (!canRepeat || pause === undefined) throw error;
      await deps.pause(pause, signal);
    }
  }
};

/** Before each tool is digested: a page alone may hold many times the limit. */
const tooManyTools = ({ tools }: FetchedPage, scan: ScanSoFar, { limits }: RegisteredServer): Stop => {
  const evidence = { page: scan.pages, tools: tools.length, limit: limits.tools };
  return pageStop({ reason: 'TOOL_BUDGET_EXCEEDED', evidence }, scan);
};

const claimOf = ({ record, segment, attempt }: Segment): PageClaim => ({ scan: record.id, segment, attempt });

const noteSource = (
  deps: ActivityDeps,
  at: Segment,
  page: FetchedPage,
  credential: SourceCredential,
): Promise<boolean> => {
  const { kind } = at.server.source;
  return deps.store.noteSource(at.record.tenant, claimOf(at), {
    protocol: PROTOCOL,
    identity: identityOf(kind, page.evidence),
    evidence: { ...page.evidence, serverInfo: scrubValue(page.evidence.serverInfo, [...at.secrets]), kind },
    revision: page.revision,
    credentialFingerprint: credential.kind === 'none' ? null : credential.fingerprint,
    credentialExpires: credential.kind === 'none' ? null : credential.expires,
  });
};

const finish = async (
  deps: ActivityDeps,
  at: Segment,
  stored: readonly PageRecord[],
  scan: ScanSoFar,
): Promise<ScanPagesResult> => {
  const counts = { pages: scan.pages, tools: scan.seenNames.size };
  const root = contentRoot(distinctTools(stored).map(([name, descriptor]) => ({ name, descriptor })));
  const { record } = at;
  const list = { contentRoot: root, tools: counts.tools };
  if (!(await deps.store.completeScan(record.tenant, claimOf(at), list))) throw fenced(record.id);
  return scan.revision === null
    ? { kind: 'unversioned', ...counts, observed: root }
    : { kind: 'complete', ...counts, revision: scan.revision };
};
