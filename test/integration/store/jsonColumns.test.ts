/** S5: what Postgres does to JSON, which it stores as values and writes in its own way, changes no digest. */
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.js';
import { canonicalJson } from '../../../src/proof/canonical.js';
import { digestJson, sha256Bytes } from '../../../src/proof/digest.js';
import { readStrict } from '../../../src/proof/strictJson.js';
import vectors from '../../vectors/canonicalJson.json' with { type: 'json' };
import { useStore } from './storeFixture.js';

const fixture = useStore();

const read = (text: string): JsonValue => readStrict(new TextEncoder().encode(text), { maxDepth: 64 }).value;
/** As a column gives it back: the driver's value, and the text that Postgres writes of it. */
const throughColumn = async (
  text: string,
): Promise<{ readonly value: JsonValue; readonly written: string }> => {
  const { rows } = await fixture.admin.query('select $1::jsonb as value, $1::jsonb::text as written', [text]);
  return rows[0];
};
/** Digest of a text as Postgres itself computes it. */
const digestThere = async (text: string): Promise<string> => {
  const { rows } = await fixture.admin.query(
    "select 'sha256:' || encode(sha256(convert_to($1, 'UTF8')), 'hex') as digest",
    [text],
  );
  return rows[0].digest;
};

describe('S5 digests and jsonb', () => {
  test('S5 a schema whose members Postgres puts in another order has the digest that it had', async () => {
    const schema = { type: 'object', properties: { zz: {}, a: {} }, required: ['zz'] };
    const { value, written } = await throughColumn(JSON.stringify(schema));
    expect(written).not.toBe(JSON.stringify(schema));
    expect(JSON.stringify(value)).not.toBe(JSON.stringify(schema));
    expect(digestJson(value)).toBe(digestJson(schema));
    expect(digestJson(read(written))).toBe(digestJson(schema));
  });

  test.each(vectors.spellings)(
    'S5 $digest of each spelling of a number, after a column too',
    async ({ texts, digest }) => {
      for (const text of texts) {
        const { value, written } = await throughColumn(text);
        expect([text, digestJson(value)]).toEqual([text, digest]);
        expect([written, digestJson(read(written))]).toEqual([written, digest]);
      }
      expect(await digestThere(canonicalJson(read(texts[0] ?? '')))).toBe(digest);
    },
  );

  test('S5 every number of the vectors that Postgres takes comes back as the double that it was', async () => {
    const refused: string[] = [];
    for (const [literal = '', canonical] of vectors.numbers) {
      const stored = await throughColumn(literal).catch(() => null);
      if (stored === null) refused.push(literal);
      else expect([literal, canonicalJson(read(stored.written))]).toEqual([literal, canonical]);
    }
    expect(refused).toEqual(['0e99999999999999999999']);
  });

  test.each(vectors.documents)(
    'S5 document vector %#, digested on both sides',
    async (text = '', canonical = '') => {
      const { value } = await throughColumn(text);
      expect(canonicalJson(value)).toBe(canonical);
      expect(await digestThere(canonical)).toBe(sha256Bytes(canonical));
    },
  );
});
