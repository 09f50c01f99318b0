import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Digest } from '../../../src/domain/ids.js';
import { inclusionPath, merkleRoot, verifyInclusion } from '../../../src/proof/merkle.js';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  createHash('sha256').update(Buffer.concat(parts)).digest();

/** The test tree of Certificate Transparency's reference code. */
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map(hex);
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const leaves = fc.array(fc.uint8Array({ maxLength: 8 }), { minLength: 1, maxLength: 40 });

describe('S5 Merkle trees (RFC 6962)', () => {
  test.each(ROOTS.map((root, size) => ({ root, size })))(
    'root of the first $size leaves',
    ({ root, size }) => {
      expect(merkleRoot(LEAVES.slice(0, size))).toBe(`sha256:${root}`);
    },
  );

  test('every leaf has a path that verifies, and under no other root', () => {
    fc.assert(
      fc.property(leaves, fc.nat(), (all, seed) => {
        const index = seed % all.length;
        const leaf = all[index] ?? new Uint8Array();
        const inclusion = { leaf, index, size: all.length, path: inclusionPath(all, index) };
        expect(verifyInclusion(merkleRoot(all), inclusion)).toBe(true);
        expect(verifyInclusion(merkleRoot([...all, leaf]), inclusion)).toBe(false);
      }),
    );
  });

  test('a changed leaf, index, path or length does not verify', () => {
    fc.assert(
      fc.property(leaves, fc.nat(), fc.nat(), (all, seed, other) => {
        const index = seed % all.length;
        const leaf = all[index] ?? new Uint8Array();
        const path = inclusionPath(all, index);
        const root = merkleRoot(all);
        const good = { leaf, index, size: all.length, path };
        expect(verifyInclusion(root, { ...good, leaf: Uint8Array.of(...leaf, 1) })).toBe(false);
        expect(verifyInclusion(root, { ...good, path: [...path, root] })).toBe(false);
        if (path.length > 0) {
          expect(verifyInclusion(root, { ...good, path: path.slice(1) })).toBe(false);
          const bent = path.map((digest, at) => (at === other % path.length ? root : digest));
          expect(verifyInclusion(root, { ...good, path: bent })).toBe(false);
        }
        const elsewhere = other % all.length;
        if (Buffer.compare(all[elsewhere] ?? new Uint8Array(), leaf) !== 0) {
          expect(verifyInclusion(root, { ...good, index: elsewhere })).toBe(false);
        }
      }),
    );
  });

  test('an inner node is no leaf, and a leaf no node', () => {
    const [a = hex(''), b = hex(''), c = hex('')] = LEAVES.slice(1);
    const node = Buffer.concat([sha256(hex('00'), a), sha256(hex('00'), b)]);
    expect(merkleRoot([node, c])).not.toBe(merkleRoot([a, b, c]));
    expect(merkleRoot([a, b])).toBe(`sha256:${sha256(hex('01'), node).toString('hex')}`);
  });

  test('nonsense is refused', () => {
    const root = merkleRoot(LEAVES);
    const good = { leaf: LEAVES[2] ?? hex(''), index: 2, size: 8, path: inclusionPath(LEAVES, 2) };
    expect(verifyInclusion(root, good)).toBe(true);
    for (const bad of [
      { index: -1 },
      { index: 8 },
      { index: 2.5 },
      { size: 0 },
      { path: ['sha256:00' as Digest] },
    ]) {
      expect(verifyInclusion(root, { ...good, ...bad })).toBe(false);
    }
    expect(() => inclusionPath(LEAVES, 8)).toThrow(RangeError);
    expect(() => inclusionPath([], 0)).toThrow(RangeError);
  });
});
