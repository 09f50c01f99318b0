import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.js';
import { canonicalJson } from '../../../src/proof/canonical.js';
import { digestJson, sha256Bytes } from '../../../src/proof/digest.js';
import { readStrict } from '../../../src/proof/strictJson.js';
import vectors from '../../vectors/canonicalJson.json' with { type: 'json' };

const canonicalOf = (text: string): string =>
  canonicalJson(readStrict(new TextEncoder().encode(text), { maxDepth: 64 }).value);

/** Rebuilds every object with its members in the opposite order of insertion. */
const reversed = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
};

describe('S5 canonical JSON (RFC 8785)', () => {
  test.each(vectors.numbers)('the number %s is written %s', (literal, canonical) => {
    expect(canonicalOf(literal ?? '')).toBe(canonical);
  });

  test.each(vectors.documents)('document vector %#', (text, canonical) => {
    expect(canonicalOf(text ?? '')).toBe(canonical);
  });

  test.each(vectors.digests)('the digest of %s is pinned', (text, digest) => {
    expect(digestJson(JSON.parse(text ?? '') as JsonValue)).toBe(digest);
  });

  test.each(vectors.spellings)('$digest is the digest of each spelling of one value', ({ texts, digest }) => {
    for (const text of texts) expect([text, sha256Bytes(canonicalOf(text))]).toEqual([text, digest]);
  });

  test('the order in which members arrive does not matter', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = canonicalJson(value as JsonValue);
        expect(canonicalJson(reversed(value as JsonValue))).toBe(text);
        expect(canonicalOf(text)).toBe(text);
        expect(digestJson(value as JsonValue)).toBe(sha256Bytes(text));
      }),
    );
  });

  test('what is not JSON is refused', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, '\ud800']) {
      expect(() => canonicalJson(value as unknown as JsonValue)).toThrow();
    }
  });
});
