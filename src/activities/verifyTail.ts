/**
 * Asks the source again after the last page, over a fresh connection, and compares revision and identity (D3). Only
 * then are the pages one list of one source generation, and only here is the page root computed.
 */
import type { Digest } from '../domain/ids.js';
import { verifyTailFacts } from '../domain/pagination.js';
import type { RegisteredServer } from '../domain/server.js';
import { SourceFault } from '../domain/sourceFault.js';
import { nextCursorDigest, type PageLink, pageRoot, requestCursorDigest } from '../proof/pageChain.js';
import type { FetchedPage } from '../sources/source.js';
import type { PageFrame, ScanRecord } from '../store/scanStore.js';
import type { ScanStep, Stop, VerifyTailResult } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { asStop, fenced, withHeartbeat } from './failures.js';
import { boundToKey, identityOf, stopOf } from './pageFacts.js';
import { protocolStop } from './protocol.js';
import { readScanOf } from './readScan.js';
import { credentialStop } from './scanCredential.js';
import { scrubStop, secretsOf } from './scrubStop.js';

const TRIES = 3;
const PAUSE_MS = 500;

export const verifyTail =
  (deps: ActivityDeps) =>
  (input: ScanStep): Promise<VerifyTailResult> =>
    withHeartbeat(
      () => input.scan,
      async (signal) => {
        const secrets = new Set<string>();
        return scrubStop(await bindToTail(deps, input, { signal, secrets }), secrets);
      },
    );

interface Asking {
  readonly signal: AbortSignal;
  /** What the source has been shown and its answer may repeat. */
  readonly secrets: Set<string>;
}

interface Asked extends Asking {
  /** Those that the scan has. */
  readonly pages: number;
}

const bindToTail = async (deps: ActivityDeps, input: ScanStep, asking: Asking): Promise<VerifyTailResult> => {
  const [found, pages] = await Promise.all([
    readScanOf(deps, input),
    deps.store.pageChain(input.key.tenant, input.scan),
  ]);
  if (found.kind === 'stop') return found;
  const { record, server } = found;
  const [first] = pages;
  if (first === undefined) return tailUnverified({ rule: 'the scan has no first page' });
  // Before the question: what the source answers is true of no earlier moment than that.
  const tailAt = deps.now();
  const tail = await askInTime(deps, server, record, { ...asking, pages: pages.length });
  if ('kind' in tail) return tail;
  const wrongProtocol = protocolStop(tail);
  if (wrongProtocol !== null) return wrongProtocol;
  const verdict = verifyTailFacts(
    { revision: first.revision, identity: first.identity },
    { revision: tail.revision, identity: identityOf(server.source.kind, tail.evidence) },
  );
  if (verdict.kind === 'stop') return stopOf(verdict.reason, verdict.evidence);
  const root = pageRoot(pages.map(pageLink));
  if (!(await deps.store.proveScan(record.tenant, record.id, { pageRoot: root, tailAt })))
    throw fenced(record.id);
  return { kind: 'bound', pageRoot: root };
};

/** How a stored page enters the page root (S5). */
export const pageLink = (
  page: Pick<PageFrame, 'n' | 'requestCursor' | 'nextCursor' | 'resultDigest'>,
): PageLink & { readonly result: Digest } => ({
  index: page.n,
  requestCursor: requestCursorDigest(page.requestCursor),
  nextCursor: nextCursorDigest(page.nextCursor),
  result: page.resultDigest,
});

const tailUnverified = (evidence: Readonly<Record<string, unknown>>): Stop => ({
  kind: 'stop',
  state: 'INCOMPLETE',
  reason: 'TAIL_UNVERIFIED',
  evidence,
});

/** The tail belongs to the scan, and so it keeps to the scan's deadline. */
const askInTime = async (
  deps: ActivityDeps,
  server: RegisteredServer,
  record: ScanRecord,
  { signal, secrets, pages }: Asked,
): Promise<FetchedPage | Stop> => {
  const deadline = AbortSignal.timeout(Math.max(record.deadline - deps.now(), 1));
  try {
    return await askAgain(deps, server, record, {
      signal: AbortSignal.any([signal, deadline]),
      secrets,
      pages,
    });
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    const evidence = { at: 'tail', limitMs: server.limits.scanTime };
    return { kind: 'stop', state: 'INCOMPLETE', reason: 'DEADLINE_EXCEEDED', evidence };
  }
};

const askAgain = async (
  deps: ActivityDeps,
  server: RegisteredServer,
  record: ScanRecord,
  { signal, secrets, pages }: Asked,
): Promise<FetchedPage | Stop> => {
  const found = await deps.targetOf(record.tenant, server, record.credential).catch(asStop);
  if (found.kind === 'stop') return found;
  const stopped = credentialStop(found.credential, { pages, record }, deps.now());
  if (stopped !== null) return stopped;
  const target = boundToKey(found, record);
  for (const secret of secretsOf(target)) secrets.add(secret);
  for (let attempt = 1; ; attempt++) {
    try {
      const connection = await deps.source.connect(target, { signal });
      try {
        return await connection.listPage(undefined, { signal });
      } finally {
        for (const secret of connection.secrets()) secrets.add(secret);
        await connection.close();
      }
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error;
      const stop = asStop(error);
      if (stop.state === 'QUARANTINED') return { ...stop, evidence: { during: 'tail', ...stop.evidence } };
      // Each try begins a session of its own, so that one which is lost is no reason to give up.
      const mayPass = error.transient || error.reason === 'SESSION_LOST';
      if (!mayPass || attempt >= TRIES) return tailUnverified({ fault: error.reason, ...error.evidence });
      await deps.pause(PAUSE_MS, signal);
    }
  }
};
