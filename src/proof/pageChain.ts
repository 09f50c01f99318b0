/**
 * The page root: evidence of one scan, page by page (S5). A leaf binds where the page stands, how it was asked
 * for, what it named as next, and what it held; so one page, and that the list ended, can be shown alone.
 */
import type { Digest } from '../domain/ids.js';
import type { SnapshotPage } from '../domain/snapshot.js';
import { canonicalBytes } from './canonical.js';
import { sha256Bytes } from './digest.js';
import { inclusionPath, merkleRoot, verifyInclusion } from './merkle.js';

/** What a leaf binds. `raw`, `tools` and `bytes` of a page are notes beside it. */
export type PageLink = Pick<SnapshotPage, 'index' | 'requestCursor' | 'nextCursor' | 'result'>;

/** @param cursor as the server wrote it, the empty string too; undefined for the request that had none */
export const requestCursorDigest = (cursor: string | undefined): Digest | 'START' =>
  cursor === undefined ? 'START' : sha256Bytes(cursor);

/** @param cursor as the server wrote it, the empty string too; undefined where the page named none */
export const nextCursorDigest = (cursor: string | undefined): Digest | 'END' =>
  cursor === undefined ? 'END' : sha256Bytes(cursor);

/** Leaf data: canonical JSON of `{index, nextCursor, requestCursor, result}`. */
export const pageLeaf = ({ index, requestCursor, nextCursor, result }: PageLink): Uint8Array =>
  canonicalBytes({ index, requestCursor, nextCursor, result });

/** S5: RFC 6962 root over the pages in order. It says nothing of the chain: ask `findChainFault`. */
export const pageRoot = (pages: readonly PageLink[]): Digest => merkleRoot(pages.map(pageLeaf));

/**
 * D1, D3: whether the pages are one list: indexes from 0, the first asked for without a cursor, each asked for
 * with the cursor that the one before named, only the last naming none, and no cursor twice.
 * @returns the position of the first page that breaks this (0 for no pages at all), or null
 */
export const findChainFault = (pages: readonly PageLink[]): number | null => {
  if (pages.length === 0) return 0;
  const seen = new Set<string>();
  let expected: string = 'START';
  for (const [position, page] of pages.entries()) {
    const isLast = position === pages.length - 1;
    const holds =
      page.index === position &&
      page.requestCursor === expected &&
      (page.nextCursor === 'END') === isLast &&
      !seen.has(page.nextCursor);
    if (!holds) return position;
    seen.add(page.nextCursor);
    expected = page.nextCursor;
  }
  return null;
};

/** One page shown without the others. */
export interface PageProof {
  readonly page: PageLink;
  /** Number of pages of the scan. */
  readonly size: number;
  readonly path: readonly Digest[];
}

/** @throws RangeError where there is no such page */
export const provePage = (pages: readonly PageLink[], index: number): PageProof => {
  const page = pages[index];
  if (page === undefined) throw new RangeError('no such page');
  const { requestCursor, nextCursor, result } = page;
  return {
    page: { index: page.index, requestCursor, nextCursor, result },
    size: pages.length,
    path: inclusionPath(pages.map(pageLeaf), index),
  };
};

/**
 * S5: proves that the list ended, and after how many pages.
 * @public
 */
export const proveEnd = (pages: readonly PageLink[]): PageProof => provePage(pages, pages.length - 1);

/** Whether this page stands at this place of the scan that the root is evidence of. */
export const verifyPage = (root: Digest, { page, size, path }: PageProof): boolean =>
  verifyInclusion(root, { leaf: pageLeaf(page), index: page.index, size, path });

/**
 * Whether the list ended with this page. The leaf binds its index and END, so `size` is no free claim.
 * @public
 */
export const verifyEnd = (root: Digest, proof: PageProof): boolean =>
  proof.page.nextCursor === 'END' && proof.page.index === proof.size - 1 && verifyPage(root, proof);
