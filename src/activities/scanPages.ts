/**
 * One segment of a scan: fetch, judge, store, and only then go on; a page of known bytes is stored while the next is on
 * its way. Postgres is the truth of how far it came; a retry on any worker resumes from the last stored page, and a worker
 * that lost its claim stores nothing (D6).
 */
import { Context } from '@temporalio/activity';
import { scrubValue } from '../domain/evidence.js';
import type { Evidence } from '../domain/generation.js';
import { acceptPage, resumeScan, type ScanSoFar, type ScanStop } from '../domain/pagination.js';
import { SEGMENT_PAGES } from '../domain/scanLimits.js';
import type { RegisteredServer } from '../domain/server.js';
import { SourceFault } from '../domain/sourceFault.js';
import { contentRoot } from '../proof/contentRoot.js';
import type {
  FetchedPage,
  KnownPage,
  KnownReadings,
  SourceConnection,
  SourceCredential,
} from '../sources/source.js';
import type { PageClaim, PageRecord, ScanRecord } from '../store/scanStore.js';
import type { ScanPagesResult, ScanSegment, Stop } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { asStop, fenced, withHeartbeat } from './failures.js';
import { keepSession, keptSession } from './keptSession.js';
import { type KnownPages, knownPages, rootOfSameBytes } from './knownPages.js';
import { boundToKey, distinctTools, identityOf, readPage, stopOf, storedFacts } from './pageFacts.js';
import { PROTOCOL, protocolStop } from './protocol.js';
import { credentialStop, fingerprintOf } from './scanCredential.js';
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
        const [server, stored] = await Promise.all([
          deps.store.readServer(key.tenant, key.server),
          deps.store.pages(key.tenant, scan),
        ]);
        if (server === null || !Object.hasOwn(server.audiences, key.audience)) return gone;
        if (record === null) throw fenced(scan);
        const secrets = new Set<string>();
        const at = { record, server, segment, attempt: info.attempt, signal, progress, secrets };
        return scrubStop(await runSegment(deps, at, [...stored]), secrets);
      },
    );
  };

const gone = stopOf('SERVER_GONE', {});

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

const runSegment = async (
  deps: ActivityDeps,
  at: Segment,
  stored: PageRecord[],
): Promise<ScanPagesResult> => {
  const { record, server, progress } = at;
  // Before anything is asked: what is registered now may be another server, which neither cursors nor session are for (P1).
  if (server.trustVersion !== record.trustVersion) {
    return stopOf('CHANGED_DURING_SCAN', { trustVersion: record.trustVersion, now: server.trustVersion });
  }
  const resumed = resumeScan(stored.map(storedFacts), server.limits);
  if (resumed.kind === 'stop') return pageStop(resumed, resumed.scan);
  const { scan } = resumed;
  progress.pages = scan.pages;
  progress.tools = scan.seenNames.size;
  if (resumed.complete) return finish(deps, at, stored, scan, await knownPages(deps, record));

  const deadline = AbortSignal.timeout(Math.max(record.deadline - deps.now(), 1));
  const signal = AbortSignal.any([at.signal, deadline]);
  const link: Link = { connection: null };
  let result: ScanPagesResult | undefined;
  try {
    result = await readOn(deps, at, { stored, scan, cursor: resumed.cursor, signal, link });
    return result;
  } catch (error) {
    if (deadline.aborted && !at.signal.aborted) {
      const evidence = { pages: progress.pages, limitMs: server.limits.scanTime };
      result = stopOf('DEADLINE_EXCEEDED', evidence);
      return result;
    }
    const stop = asStop(error);
    const evidence = { page: progress.pages, ...stop.evidence };
    // A process that ends between two pages takes their cursors along (D6).
    const ended = stop.reason === 'PROCESS_FAILED';
    // Some servers answer as if they were down where a session is gone: it is tried once in a new one.
    const silent = error instanceof SourceFault && error.transient && link.connection?.session != null;
    const lost = progress.pages > 0 && (ended || (silent && record.round === 0));
    result = lost ? sessionLost({ fault: stop.reason, ...evidence }) : { ...stop, evidence };
    return result;
  } finally {
    for (const secret of link.connection?.secrets() ?? []) at.secrets.add(secret);
    // A worker that is stopped, fenced or at fault hands the scan over, and the session with it.
    const cancelled = Context.current().cancellationDetails?.cancelRequested === true;
    const goesOn = result === undefined ? !cancelled : result.kind === 'more';
    await link.connection?.close({ keepSession: goesOn });
  }
};

/** Cursors die with the session or process that gave them out: the scan begins again (D6). */
const sessionLost = (evidence: Evidence): Stop => stopOf('SESSION_LOST', evidence);

/** Who closes a connection has to know of it also where nothing else comes of it. */
interface Link {
  connection: SourceConnection | null;
}

interface Reading {
  readonly stored: PageRecord[];
  readonly scan: ScanSoFar;
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
  readonly link: Link;
}

const readOn = async (deps: ActivityDeps, at: Segment, reading: Reading): Promise<ScanPagesResult> => {
  const { record, server, progress } = at;
  const { stored, signal } = reading;
  let { scan, cursor } = reading;
  const target = await deps.targetOf(record.tenant, server, record.credential);
  for (const secret of secretsOf(target)) at.secrets.add(secret);
  const { credential } = target;
  // The kept session belongs to the credential too.
  const stopped = credentialStop(credential, { pages: scan.pages, record }, deps.now());
  if (stopped !== null) return stopped;
  const kept = scan.pages === 0 ? null : await keptSession(deps, record);
  if (kept === 'lost') return sessionLost({ pages: scan.pages, rule: 'no key of this worker opens it' });
  if (kept !== null) at.secrets.add(kept.id.reveal());
  const keyed = scan.pages === 0 ? target : boundToKey(target, record);
  const knowing = knownPages(deps, record);
  // Where the connection fails first, nobody waits for it.
  knowing.catch(() => undefined);
  const connection = await deps.source.connect(keyed, {
    signal,
    ...(kept === null ? {} : { session: kept }),
  });
  reading.link.connection = connection;
  if (scan.pages > 0 && connection.evidence.sessionScoped && kept === null) {
    return sessionLost({ pages: scan.pages });
  }
  const known = await knowing;
  const fetch = (from: string | undefined): Promise<FetchedPage | KnownPage> => {
    const page = fetchPage(deps, connection, from, { signal, known: known.readings });
    // Nobody may be waiting for it any more when it fails.
    page.catch(() => undefined);
    return page;
  };
  let ahead: Promise<FetchedPage | KnownPage> | null = null;
  let session = idOf(connection);
  for (let fetched = 0; ; fetched++) {
    if (fetched >= SEGMENT_PAGES && canGoOn(connection)) {
      return { kind: 'more', pages: scan.pages, tools: scan.seenNames.size };
    }
    const page: FetchedPage | KnownPage = await (ahead ?? fetch(cursor));
    ahead = null;
    for (const secret of connection.secrets()) at.secrets.add(secret);
    if (scan.pages === 0) session = idOf(connection);
    else if (idOf(connection) !== session) {
      return sessionLost({ pages: scan.pages, rule: 'the server went on to another session' });
    }
    const isKnown = 'known' in page;
    if (!isKnown && page.tools.length > server.limits.tools) return tooManyTools(page, scan, server);
    const where = { n: scan.pages, kind: server.source.kind, server: server.name, worker: deps.worker };
    const read = await readPage(where, cursor, page, known.readings);
    const verdict = acceptPage(scan, read.facts, server.limits);
    if (verdict.kind === 'stop') return pageStop(refusing(read.record, verdict), scan);
    const wrongProtocol = protocolStop(page);
    if (wrongProtocol !== null) return wrongProtocol;
    const claim = claimOf(at);
    if (scan.pages === 0) {
      const noted = await noteSource(deps, at, page, credential);
      if (!(noted && (await keepSession(deps, record, claim, connection)))) throw fenced(record.id);
    }
    // What is known is stored while the next page is on its way; anything new rests before more is asked for.
    if (isKnown && verdict.kind === 'continue' && fetched + 1 < SEGMENT_PAGES) ahead = fetch(verdict.cursor);
    const raw = isKnown ? null : page.raw;
    if (!(await deps.store.storePage(record.tenant, claim, read.record, raw))) throw fenced(record.id);
    stored.push(read.record);
    scan = verdict.scan;
    progress.pages = scan.pages;
    progress.tools = scan.seenNames.size;
    // The timer of `withHeartbeat` tells of known pages: they pass faster than anybody looks.
    if (!isKnown) Context.current().heartbeat(progress);
    if (verdict.kind === 'complete') return finish(deps, at, stored, scan, known);
    cursor = verdict.cursor;
  }
};

/** Whether the cursors of a connection live on without it. */
const canGoOn = ({ evidence, session }: SourceConnection): boolean =>
  !evidence.sessionScoped || session !== null;

const idOf = ({ session }: SourceConnection): string | null => session?.id.reveal() ?? null;

const pageStop = (
  verdict: { readonly reason: ScanStop; readonly evidence: Evidence },
  scan: ScanSoFar,
): Stop => stopOf(verdict.reason, { pages: scan.pages, ...verdict.evidence });

/** The page that ends a scan is no page of it: it is kept as the digests by which it can be known again. */
const refusing = (
  { resultDigest: result, rawDigest: raw, bytes, tools }: PageRecord,
  { reason, evidence }: { readonly reason: ScanStop; readonly evidence: Evidence },
) => ({ reason, evidence: { ...evidence, refused: { result, raw, bytes, tools: tools.length } } });

const fetchPage = async (
  deps: ActivityDeps,
  connection: SourceConnection,
  cursor: string | undefined,
  options: { readonly signal: AbortSignal; readonly known: KnownReadings },
): Promise<FetchedPage | KnownPage> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await connection.listPage(cursor, options);
    } catch (error) {
      const pause = PAUSES_MS[attempt];
      // A process that broke cannot be asked again with its own cursors.
      const canRepeat = error instanceof SourceFault && error.transient && canGoOn(connection);
      if (!canRepeat || pause === undefined) throw error;
      await deps.pause(pause, options.signal);
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
  page: FetchedPage | KnownPage,
  credential: SourceCredential,
): Promise<boolean> => {
  const { kind } = at.server.source;
  return deps.store.noteSource(at.record.tenant, claimOf(at), {
    protocol: PROTOCOL,
    identity: identityOf(kind, page.evidence),
    evidence: { ...page.evidence, serverInfo: scrubValue(page.evidence.serverInfo, [...at.secrets]), kind },
    revision: page.revision,
    credentialFingerprint: fingerprintOf(credential),
    credentialExpires: credential.kind === 'none' ? null : credential.expires,
  });
};

const finish = async (
  deps: ActivityDeps,
  at: Segment,
  stored: readonly PageRecord[],
  scan: ScanSoFar,
  known: KnownPages,
): Promise<ScanPagesResult> => {
  const counts = { pages: scan.pages, tools: scan.seenNames.size };
  const root =
    rootOfSameBytes(known, stored) ??
    contentRoot(distinctTools(stored).map(([name, descriptor]) => ({ name, descriptor })));
  const { record } = at;
  const list = { contentRoot: root, tools: counts.tools };
  if (!(await deps.store.completeScan(record.tenant, claimOf(at), list))) throw fenced(record.id);
  return scan.revision === null
    ? { kind: 'unversioned', ...counts, observed: root }
    : { kind: 'complete', ...counts, revision: scan.revision };
};
