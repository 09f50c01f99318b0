/**
 * RFC 6962 Merkle trees (section 2.1): leaves are hashed under 0x00 and nodes under 0x01, so that no inner
 * node can be passed off as a leaf. Own code because it is forty lines and every digest of ours rests on it.
 */
import { createHash } from 'node:crypto';
import type { Digest } from '../domain/ids.js';

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

const hash = (...parts: readonly Uint8Array[]): Buffer => {
  const hasher = createHash('sha256');
  for (const part of parts) hasher.update(part);
  return hasher.digest();
};
const write = (bytes: Buffer): Digest => `sha256:${bytes.toString('hex')}` as Digest;
const read = (digest: Digest): Buffer => Buffer.from(digest.slice('sha256:'.length), 'hex');

/** The largest power of two below `size`: RFC 6962 splits there. */
const splitOf = (size: number): number => {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
};

const treeHash = (leaves: readonly Uint8Array[], from: number, to: number): Buffer => {
  if (to === from) return hash();
  const only = leaves[from];
  if (to - from === 1 && only !== undefined) return hash(LEAF, only);
  const middle = from + splitOf(to - from);
  return hash(NODE, treeHash(leaves, from, middle), treeHash(leaves, middle, to));
};

/**
 * RFC 6962 §2.1.
 * @param leaves the leaf data, not hashes of it
 * @returns the root; for no leaves, the digest of the empty string
 */
export const merkleRoot = (leaves: readonly Uint8Array[]): Digest =>
  write(treeHash(leaves, 0, leaves.length));

/**
 * RFC 6962 §2.1.1: the hashes that, with one leaf, give the root; the deepest first.
 * @param index of the leaf, from 0
 * @throws RangeError where there is no such leaf
 */
export const inclusionPath = (leaves: readonly Uint8Array[], index: number): readonly Digest[] => {
  if (!Number.isInteger(index) || index < 0 || index >= leaves.length) throw new RangeError('no such leaf');
  const path: Digest[] = [];
  let from = 0;
  let to = leaves.length;
  while (to - from > 1) {
    const middle = from + splitOf(to - from);
    if (index < middle) {
      path.unshift(write(treeHash(leaves, middle, to)));
      to = middle;
    } else {
      path.unshift(write(treeHash(leaves, from, middle)));
      from = middle;
    }
  }
  return path;
};

/** One leaf, where it stands in a tree of how many, and its path. */
export interface Inclusion {
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly path: readonly Digest[];
}

/**
 * RFC 9162 §2.1.3.2, which verifies paths of RFC 6962.
 *
 * The root does not say how many leaves it has, so `size` is a claim: where the position matters, it must
 * stand in the leaf itself.
 */
export const verifyInclusion = (root: Digest, { leaf, index, size, path }: Inclusion): boolean => {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false;
  let node = index;
  let last = size - 1;
  let digest = hash(LEAF, leaf);
  for (const sibling of path) {
    if (last === 0 || read(sibling).length !== 32) return false;
    if (node % 2 === 1 || node === last) {
      digest = hash(NODE, read(sibling), digest);
      while (node % 2 === 0 && node !== 0) {
        node = Math.floor(node / 2);
        last = Math.floor(last / 2);
      }
    } else {
      digest = hash(NODE, digest, read(sibling));
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && write(digest) === root;
};
