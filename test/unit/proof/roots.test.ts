import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentRoot } from '../../../src/proof/contentRoot.js';
import { sha256Bytes } from '../../../src/proof/digest.js';
import { merkleRoot } from '../../../src/proof/merkle.js';
import {
  findChainFault,
  nextCursorDigest,
  pageLeaf,
  pageRoot,
  proveEnd,
  provePage,
  requestCursorDigest,
  verifyEnd,
  verifyPage,
} from '../../../src/proof/pageChain.js';
import { PAGES, pagesFrom } from './sampleSnapshot.js';

const chainOf = (length: number) =>
  Array.from({ length }, (_, index) => ({
    index,
    requestCursor: requestCursorDigest(index === 0 ? undefined : `c${index}`),
    nextCursor: nextCursorDigest(index === length - 1 ? undefined : `c${index + 1}`),
    result: sha256Bytes(`page ${index}`),
  }));

describe('S5 page root', () => {
  test('a leaf is the canonical JSON of exactly what it binds', () => {
    const [first] = pagesFrom(PAGES);
    if (first === undefined) throw new Error('no page');
    expect(new TextDecoder().decode(pageLeaf(first))).toBe(
      `{"index":0,"nextCursor":"${sha256Bytes('p2')}","requestCursor":"START","result":"${first.result}"}`,
    );
  });

  test('the empty cursor is a cursor', () => {
    expect(nextCursorDigest('')).toBe(sha256Bytes(''));
    expect(requestCursorDigest('')).toBe(sha256Bytes(''));
    expect(nextCursorDigest(undefined)).toBe('END');
    expect(requestCursorDigest(undefined)).toBe('START');
  });

  test('any page, and the end, can be shown alone', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (length, seed) => {
        const pages = chainOf(length);
        const root = pageRoot(pages);
        expect(verifyPage(root, provePage(pages, seed % length))).toBe(true);
        expect(verifyEnd(root, proveEnd(pages))).toBe(true);
        expect(verifyEnd(pageRoot(chainOf(length + 1)), proveEnd(pages))).toBe(false);
        expect(findChainFault(pages)).toBeNull();
      }),
    );
  });

  test('a page that is not the last proves no end, whatever size is claimed', () => {
    const pages = chainOf(5);
    const root = pageRoot(pages);
    const proof = provePage(pages, 2);
    expect(verifyEnd(root, proof)).toBe(false);
    expect(verifyEnd(root, { ...proof, size: 3 })).toBe(false);
    expect(verifyEnd(root, { ...proof, page: { ...proof.page, nextCursor: 'END' }, size: 3 })).toBe(false);
  });

  test.each([
    ['index', { index: 3 }],
    ['request cursor', { requestCursor: 'START' as const }],
    ['next cursor', { nextCursor: 'END' as const }],
    ['result', { result: sha256Bytes('another') }],
  ])('another %s is another leaf', (_what, change) => {
    const pages = chainOf(5);
    const proof = provePage(pages, 2);
    expect(verifyPage(pageRoot(pages), { ...proof, page: { ...proof.page, ...change } })).toBe(false);
  });
});

describe('D1, D3 the page chain', () => {
  const pages = chainOf(4);
  const with_ = (position: number, change: object) =>
    pages.map((page, at) => (at === position ? { ...page, ...change } : page));

  test.each([
    ['no pages', [], 0],
    ['a list that did not end', pages.slice(0, 3), 2],
    ['a list without its first page', pages.slice(1), 0],
    ['a missing page', [...pages.slice(0, 1), ...pages.slice(2)], 1],
    ['an end in the middle', with_(1, { nextCursor: 'END' }), 1],
    ['a page asked for by another cursor', with_(2, { requestCursor: sha256Bytes('x') }), 2],
    ['a second START', with_(2, { requestCursor: 'START' }), 2],
    ['a cursor that comes again', with_(2, { nextCursor: nextCursorDigest('c1') }), 2],
    ['pages out of order', [pages[0], pages[2], pages[1], pages[3]].flatMap((page) => page ?? []), 1],
  ])('%s is a fault', (_what, broken, position) => {
    expect(findChainFault(broken)).toBe(position);
  });

  test('one page that ends the list is a chain', () => {
    expect(findChainFault(chainOf(1))).toBeNull();
  });
});

describe('S5 content root', () => {
  const tools = [
    { name: 'b', descriptor: sha256Bytes('1') },
    { name: 'a', descriptor: sha256Bytes('2') },
    { name: '\ufb33', descriptor: sha256Bytes('3') },
    { name: '\u{1f600}', descriptor: sha256Bytes('4') },
  ];

  test('the order of listing has no meaning', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(tools, { minLength: tools.length }), (shuffled) => {
        expect(contentRoot(shuffled)).toBe(contentRoot(tools));
      }),
    );
  });

  test('leaves are sorted by UTF-16 code units: U+1F600 stands before U+FB33', () => {
    const leaf = (at: number) => {
      const tool = tools[at];
      return new TextEncoder().encode(`{"descriptor":"${tool?.descriptor}","name":"${tool?.name}"}`);
    };
    expect(contentRoot(tools)).toBe(merkleRoot([leaf(1), leaf(0), leaf(3), leaf(2)]));
  });

  test('another name, descriptor or number of tools is other content', () => {
    const root = contentRoot(tools);
    const [first, ...rest] = tools;
    if (first === undefined) throw new Error('no tool');
    expect(contentRoot(rest)).not.toBe(root);
    expect(contentRoot([{ ...first, name: 'c' }, ...rest])).not.toBe(root);
    expect(contentRoot([{ ...first, descriptor: sha256Bytes('5') }, ...rest])).not.toBe(root);
    expect(contentRoot([...tools, first])).not.toBe(root);
  });
});
