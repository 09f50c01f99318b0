/**
 * The content root: what "same content" means everywhere (S5). Order, ids, cursors and paging vary without
 * meaning and are no part of it.
 */
import type { Digest } from '../domain/ids.js';
import { canonicalBytes } from './canonical.js';
import { merkleRoot } from './merkle.js';

export interface NamedDescriptor {
  readonly name: string;
  readonly descriptor: Digest;
}

/** By UTF-16 code units, as RFC 8785 sorts members: no locale, and equal only for equal names. */
export const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Leaf data: canonical JSON of `{descriptor, name}`. */
const contentLeaf = ({ name, descriptor }: NamedDescriptor): Uint8Array =>
  canonicalBytes({ name, descriptor });

/**
 * S5: RFC 6962 root over (name, descriptor digest) sorted by name.
 * @param tools in any order; one name standing twice is for others to refuse (V1), and both count here
 */
export const contentRoot = (tools: readonly NamedDescriptor[]): Digest =>
  merkleRoot(
    [...tools]
      .sort((a, b) => compareNames(a.name, b.name) || compareNames(a.descriptor, b.descriptor))
      .map(contentLeaf),
  );
