/**
 * The pages that the active generation was read from. A refresh mostly gets the very same bytes again: they are known by
 * their digest, and neither read nor stored once more.
 */
import type { Digest } from '../domain/ids.js';
import type { PageReading } from '../sources/source.js';
import type { PageRecord, ScanRecord } from '../store/scanStore.js';
import type { ActivityDeps } from './deps.js';

export interface KnownPages {
  readonly readings: ReadonlyMap<Digest, PageRecord & PageReading>;
  /** In the order of the list, with what all of them together have as their content. */
  readonly pages: readonly PageRecord[];
  readonly contentRoot: Digest | null;
}

export const knownPages = async (
  { store }: Pick<ActivityDeps, 'store'>,
  { tenant, server, audience }: ScanRecord,
): Promise<KnownPages> => {
  const active = await store.active({ tenant, server, audience });
  const pages = active === null ? [] : await store.pages(tenant, active.scan);
  const readings = pages.map((page) => ({ ...page, names: page.tools.map(([name]) => name) }));
  return {
    readings: new Map(readings.map((page) => [page.rawDigest, page])),
    pages,
    contentRoot: active?.contentRoot ?? null,
  };
};

/** The same bytes page by page, read in the same way, have the same content root; null where a page differs. */
export const rootOfSameBytes = (known: KnownPages, stored: readonly PageRecord[]): Digest | null =>
  stored.length === known.pages.length &&
  stored.every(
    ({ rawDigest, reading }, n) =>
      rawDigest === known.pages[n]?.rawDigest && reading === known.pages[n]?.reading,
  )
    ? known.contentRoot
    : null;
