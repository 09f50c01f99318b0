/**
 * The store of a simulated round: claims, pages, and the compare-and-set, as migrations/0002_functions.sql has them. It is
 * held to the real one by the rounds that run through both.
 */
import { type Acceptance, isAcceptable } from '../../src/domain/acceptance.js';
import type { Digest } from '../../src/domain/ids.js';
import type { PageFacts } from '../../src/domain/pagination.js';
import type { SourceRevision } from '../../src/domain/snapshot.js';
import type { Core } from './core.js';
import type { Tool, Truth } from './history.js';

export interface StoredPage extends PageFacts {
  /** Which request of its connection it answers; null in a session that was gone on with, where ids are random. */
  readonly request: number | null;
  /** As the source wrote it, for the oracle. */
  readonly listed: readonly Tool[];
  readonly truth: Pick<Truth, 'stamp' | 'identity'>;
}

export interface SimulatedScan {
  readonly id: string;
  readonly epoch: number;
  readonly trust: number;
  readonly base: number;
  readonly baseIdentity: Digest | null;
  claim: string;
  pages: readonly StoredPage[];
  session: number | null;
  contentRoot: Digest | null;
  proven: boolean;
  sealed: boolean;
  restsOn: readonly string[];
  end: string | null;
  /** What a promotion or renewal of this scan answered: a repeat answers the same. */
  promoted: number | null;
  renewed: boolean;
}

export interface Pointer {
  readonly generation: number;
  readonly scan: SimulatedScan;
  readonly identity: Digest;
  readonly revision: SourceRevision;
  readonly contentRoot: Digest;
  readonly tools: readonly Tool[];
}

type Moved = { readonly outcome: 'fenced'; readonly what: string } | { readonly outcome: 'lost' };

export class SimulatedStore {
  readonly #core: Core;
  readonly scans = new Map<string, SimulatedScan>();
  readonly acceptedOf = new Map<Digest, Pointer>();
  readonly #acceptances: (Acceptance & { readonly base: number; usedBy: string | null })[] = [];
  active: Pointer | null = null;
  #version = 0;
  #generations = 0;
  #newestHeld = '';
  epoch = 0;
  trust = 1;
  closed = false;
  readonly announced = new Set<string>();

  constructor(core: Core) {
    this.#core = core;
  }

  claim(id: string, claim: string): SimulatedScan {
    const known = this.scans.get(id);
    if (known !== undefined) {
      known.claim = claim;
      return known;
    }
    // A session is kept for the newest scan of a list alone.
    for (const one of this.scans.values()) one.session = null;
    const { epoch, trust } = this;
    const before = [...this.scans.values()].at(-1)?.pages ?? [];
    const scan: SimulatedScan = {
      id,
      epoch,
      trust,
      base: this.#version,
      baseIdentity: this.active?.identity ?? null,
      claim,
      pages: this.#core.pagesOf([], before),
      session: null,
      contentRoot: null,
      proven: false,
      sealed: false,
      restsOn: [],
      end: null,
      promoted: null,
      renewed: false,
    };
    this.scans.set(id, scan);
    return scan;
  }

  scanOf(id: string): SimulatedScan {
    const scan = this.scans.get(id);
    if (scan === undefined) throw new Error(`nobody claimed ${id}`);
    return scan;
  }

  /** @param n its place: no two pages have one */
  storePage(scan: SimulatedScan, claim: string, n: number, page: StoredPage): boolean {
    if (!this.#core.fences.hasClaim(claim, scan.claim) || scan.end !== null) return false;
    if (n < scan.pages.length) throw new Error(`page ${n} of ${scan.id} is stored`);
    scan.pages = [...scan.pages, page];
    return true;
  }

  /**
   * The pages that the active generation was read from: a scan knows their bytes, which hold the id of the request, tools,
   * stamp and next cursor, and nothing else that moves.
   */
  knownPages(): (page: StoredPage) => boolean {
    const known = new Set(this.active?.scan.pages.map(bytesOf));
    return (page) => page.request !== null && known.has(bytesOf(page));
  }

  openAcceptances(base: number): readonly Acceptance[] {
    const { pointerOfAcceptance } = this.#core.fences;
    return this.#acceptances.filter((one) => one.usedBy === null && pointerOfAcceptance(one.base, base));
  }

  /** D5: the newest held scan, beside the pointer that it was judged by. */
  accept(id: string): boolean {
    const scan = this.scans.get(id);
    const [page] = scan?.pages ?? [];
    if (scan === undefined || page === undefined || !isAcceptable(scan.end) || page.revision === null)
      return false;
    if (id !== this.#newestHeld || scan.base !== this.#version) return false;
    if (this.#acceptances.some((one) => one.id === id) || scan.contentRoot === null) return false;
    const { identity, revision } = page;
    const { base, contentRoot } = scan;
    this.#acceptances.push({ id, kind: scan.end, identity, revision, contentRoot, base, usedBy: null });
    return true;
  }

  end(id: string, state: string, reason: string): void {
    const scan = this.scans.get(id);
    if (scan === undefined || scan.end !== null) return;
    scan.end = reason;
    if (state === 'QUARANTINED') this.#newestHeld = id;
  }

  promote(scan: SimulatedScan): { readonly outcome: 'promoted'; readonly generation: number } | Moved {
    const { fences } = this.#core;
    if (scan.promoted !== null) return { outcome: 'promoted', generation: scan.promoted };
    if (scan.end !== null || !scan.proven || !scan.sealed) return { outcome: 'fenced', what: 'candidate' };
    if (!fences.trustAtPromotion(scan.trust, this.trust)) return { outcome: 'fenced', what: 'trust' };
    if (!fences.epochAtPromotion(scan.epoch, this.epoch)) return { outcome: 'fenced', what: 'policyEpoch' };
    if (!fences.isOpen(this.closed)) return { outcome: 'fenced', what: 'closed' };
    if (!fences.pointerAtPromotion(scan.base, this.#version)) return { outcome: 'lost' };
    const resting = this.#acceptances.filter(({ id }) => scan.restsOn.includes(id));
    if (resting.some((one) => one.usedBy !== null || !fences.pointerOfAcceptance(one.base, scan.base)))
      return { outcome: 'fenced', what: 'acceptance' };
    for (const one of resting) one.usedBy = scan.id;
    this.#moveTo(scan, ++this.#generations);
    scan.promoted = this.#generations;
    scan.end = 'PROMOTED';
    return { outcome: 'promoted', generation: this.#generations };
  }

  renew(scan: SimulatedScan): { readonly outcome: 'renewed'; readonly generation: number } | Moved {
    const { fences } = this.#core;
    const { active } = this;
    if (scan.renewed) return { outcome: 'renewed', generation: active?.generation ?? 0 };
    if (scan.end !== null || !scan.proven) return { outcome: 'fenced', what: 'candidate' };
    if (active === null || !fences.pointerAtRenewal(scan.base, this.#version)) return { outcome: 'lost' };
    if (
      !fences.epochAtRenewal(active.scan.epoch, scan.epoch) ||
      !fences.epochAtRenewal(scan.epoch, this.epoch)
    )
      return { outcome: 'fenced', what: 'policyEpoch' };
    if (
      !fences.trustAtRenewal(active.scan.trust, scan.trust) ||
      !fences.trustAtRenewal(scan.trust, this.trust)
    )
      return { outcome: 'fenced', what: 'trust' };
    this.#version++;
    const revision = scan.pages[0]?.revision ?? active.revision;
    this.active = { ...active, revision };
    this.acceptedOf.set(active.identity, this.active);
    scan.renewed = true;
    scan.end = 'UNCHANGED';
    return { outcome: 'renewed', generation: active.generation };
  }

  #moveTo(scan: SimulatedScan, generation: number): void {
    const [page] = scan.pages;
    if (page?.revision == null || scan.contentRoot === null)
      throw new Error(`${scan.id} lacks what its proof must have left`);
    const { identity, revision } = page;
    const tools = distinct(scan.pages);
    this.active = { generation, scan, identity, revision, contentRoot: scan.contentRoot, tools };
    this.acceptedOf.set(identity, this.active);
    this.#version++;
  }
}

const bytesOf = ({ request, nextCursor, listed, truth }: StoredPage): string =>
  JSON.stringify([request, nextCursor, listed, truth.stamp]);

/** Every tool of a scan once, by its first place. */
export const distinct = (pages: readonly StoredPage[]): readonly Tool[] => {
  const seen = new Map<string, Tool>();
  for (const { listed } of pages)
    for (const tool of listed) if (!seen.has(tool.name)) seen.set(tool.name, tool);
  return [...seen.values()];
};
