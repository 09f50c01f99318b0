/**
 * How a simulated round reads its source: pages and tail, as scanPages and verifyTail ask for them, over the same pure
 * functions.
 */
import type {
  ScanPagesResult,
  ScanSegment,
  Stop,
  VerifyTailResult,
} from '../../src/activities/activityTypes.js';
import { END_REASONS } from '../../src/domain/endReasons.js';
import type { Digest } from '../../src/domain/ids.js';
import type { ScanStop } from '../../src/domain/pagination.js';
import { DEFAULT_SCAN_LIMITS, type ScanLimits } from '../../src/domain/scanLimits.js';
import type { SourceRevision } from '../../src/domain/snapshot.js';
import type { Attempt } from './attempt.js';
import type { Core } from './core.js';
import { type Page, type Stamp, type Tool, toolsText } from './history.js';
import type { Answer } from './scriptedSource.js';
import { distinct, type SimulatedScan, type SimulatedStore, type StoredPage } from './simulatedStore.js';

export const LIMITS: ScanLimits = { ...DEFAULT_SCAN_LIMITS, pages: 60 };
/** Asked so often where the fault may pass by itself, as scanPages and verifyTail do. */
const TRIES = 3;

/** A digest is an opaque string to the core; here it says what it is of. */
export const asDigest = (text: string): Digest => text as Digest;
const asRevision = (stamp: Stamp): SourceRevision | null =>
  stamp === null
    ? null
    : 'token' in stamp
      ? { binding: 'SNAPSHOT_TOKEN', value: { token: stamp.token } }
      : { binding: 'SERVER_REVISION', value: stamp };
const rootOf = (tools: readonly Tool[]): Digest => asDigest(toolsText(tools));

const asStored = (page: Page, request: number | null = null): StoredPage => ({
  request,
  requestCursor: page.cursor,
  nextCursor: page.next,
  tools: page.tools.map(({ name, version }) => ({ name, descriptor: asDigest(`${name}#${version}`) })),
  bytes: 1,
  revision: asRevision(page.stamp),
  identity: asDigest(page.identity),
  listed: page.tools,
  truth: { stamp: page.stamp, identity: page.identity },
});

export const stopOf = (reason: ScanStop): Stop =>
  ({ kind: 'stop', state: END_REASONS[reason].state, reason, evidence: {} }) as Stop;
export const trustMoved = stopOf('CHANGED_DURING_SCAN');
const fenced = (): Error => new Error('another attempt has this scan');

/** A server whose session is gone may answer as if it were down: that is tried once in a new one. */
const mayBeGone = ({ round }: ScanSegment, pages: number, session: number | null): boolean =>
  session !== null && pages > 0 && round === 0;

export interface Reading {
  scanPages(attempt: Attempt, input: ScanSegment): Promise<ScanPagesResult>;
  verifyTail(attempt: Attempt, input: { readonly scan: string }): Promise<VerifyTailResult>;
}

/** @param segmentPages pages after which a segment ends */
export const createReading = (store: SimulatedStore, core: Core, segmentPages: number): Reading => {
  /** D8: a connection shows one TLS key for as long as it lasts, and that of the pages which the scan already has. */
  const isTorn = ({ world }: Attempt, key: string): boolean =>
    world.schedule.keyed && key !== world.source.identity;
  const keyOf = (scan: SimulatedScan, { world }: Attempt): string =>
    scan.pages[0]?.truth.identity ?? world.source.identity;

  const ask = async (
    attempt: Attempt,
    part: 'page' | 'tail',
    connection: { readonly key: string; readonly session: number | null },
    cursor?: string,
  ): Promise<Answer | Stop> => {
    await attempt.at('ask');
    if (isTorn(attempt, connection.key)) return stopOf('IDENTITY_TORN');
    const answer = attempt.world.source.answer(cursor, connection.session);
    attempt.answered(part, answer);
    return answer;
  };

  const scanPages = async (attempt: Attempt, input: ScanSegment): Promise<ScanPagesResult> => {
    const { claim } = attempt;
    await attempt.at('claim');
    const [segment = 0] = claim.split('.').map(Number);
    attempt.note({ fact: 'claim', scan: input.scan, segment, attempt: attempt.number });
    const record = store.claim(input.scan, claim);
    if (store.trust !== record.trust) return trustMoved;
    const finish = async (): Promise<ScanPagesResult> => {
      await attempt.at('complete');
      if (!core.fences.hasClaim(claim, record.claim)) throw fenced();
      const tools = distinct(record.pages);
      record.contentRoot = rootOf(tools);
      const counts = { pages: record.pages.length, tools: tools.length };
      const revision = record.pages[0]?.revision ?? null;
      return revision === null
        ? { kind: 'unversioned', ...counts, observed: record.contentRoot }
        : { kind: 'complete', ...counts, revision };
    };
    const resumed = core.resumeScan(record.pages, LIMITS);
    if (resumed.kind === 'stop') return stopOf(resumed.reason);
    let { scan, cursor } = resumed;
    if (resumed.complete) return finish();
    const bound = scan.pages > 0;
    const key = keyOf(record, attempt);
    if (isTorn(attempt, key)) return stopOf('IDENTITY_TORN');
    const kept = bound ? record.session : null;
    const isKnown = store.knownPages();
    const session = kept ?? attempt.world.source.openSession();
    if (bound && session !== kept) return stopOf('SESSION_LOST');
    let requests = 0;
    const fetch = async (from: string | undefined): Promise<StoredPage | Stop> => {
      for (let tries = 1; ; tries++) {
        const answer = await ask(attempt, 'page', { key, session }, from);
        requests++;
        if (answer.kind === 'stop') return answer;
        if (answer.kind === 'page') return asStored(answer.page, kept === null ? requests : null);
        if (answer.what !== 'UPSTREAM_ERROR' || tries >= TRIES) return stopOf(answer.what);
      }
    };
    let ahead: StoredPage | Stop | null = null;
    for (let fetched = 0; ; fetched++) {
      if (fetched >= segmentPages) return { kind: 'more', pages: scan.pages, tools: scan.seenNames.size };
      const page: StoredPage | Stop = ahead ?? (await fetch(cursor));
      ahead = null;
      if ('kind' in page)
        return page.reason === 'UPSTREAM_ERROR' && mayBeGone(input, scan.pages, session)
          ? stopOf('SESSION_LOST')
          : page;
      const verdict = core.acceptPage(scan, page, LIMITS);
      if (verdict.kind === 'stop') return stopOf(verdict.reason);
      if (scan.pages === 0) record.session = session;
      // What is known is stored while the next page is on its way: here when that has come.
      if (isKnown(page) && verdict.kind === 'continue' && fetched + 1 < segmentPages)
        ahead = await fetch(verdict.cursor);
      await attempt.at('store');
      if (!store.storePage(record, claim, scan.pages, page)) throw fenced();
      attempt.note({ fact: 'stored', scan: input.scan, claim, cursor: page.requestCursor });
      await attempt.at('stored');
      if (verdict.kind === 'complete') return finish();
      ({ scan, cursor } = verdict);
    }
  };

  const verifyTail = async (attempt: Attempt, input: { scan: string }): Promise<VerifyTailResult> => {
    await attempt.at('tail');
    const scan = store.scanOf(input.scan);
    if (store.trust !== scan.trust) return trustMoved;
    const [first] = scan.pages;
    if (first === undefined) return stopOf('TAIL_UNVERIFIED');
    for (let tries = 1; ; tries++) {
      const key = keyOf(scan, attempt);
      if (isTorn(attempt, key)) return stopOf('IDENTITY_TORN');
      const session = attempt.world.source.openSession();
      const answer = await ask(attempt, 'tail', { key, session });
      if (answer.kind === 'stop') return answer;
      if (answer.kind === 'fault') {
        if (answer.what !== 'CURSOR_EXPIRED' && tries < TRIES) continue;
        return stopOf('TAIL_UNVERIFIED');
      }
      const verdict = core.verifyTailFacts(first, asStored(answer.page));
      if (verdict.kind === 'stop') return stopOf(verdict.reason);
      await attempt.at('prove');
      scan.proven = true;
      return { kind: 'bound', pageRoot: asDigest('root') };
    }
  };

  return { scanPages, verifyTail };
};
