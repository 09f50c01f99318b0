/** Branded ids: what may be a tenant, a server, an audience class, and what looks like a secret (S2, S4). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CatalogError } from '../../../src/domain/errors.js';
import {
  parseAudienceClass,
  parseDigest,
  parseNamespace,
  parseServerName,
  parseTenantId,
  parseToolId,
  toolId,
} from '../../../src/domain/ids.js';

const refusal = (work: () => unknown): CatalogError => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(CatalogError);
    return error as CatalogError;
  }
  throw new Error('nothing was refused');
};

describe('S4 audience classes', () => {
  test.each(['tenant-admin.policy-42', 'warehouse.policy-1', 'a', '7', `a${'b'.repeat(38)}`])(
    'S4 %s is one',
    (text) => {
      expect(parseAudienceClass(text)).toBe(text);
    },
  );

  test.each([
    ['a JWT', 'eyjhbgcioijiuzi1nij9.eyjzdwiioiixmjm0nty3odkwin0.dozjgnryp4j3jvmnhl0w5n'],
    ['a JWT without a signature', 'eyjhbgcioijub25lin0.eyjzdwiioiixmjm0nty3odkwin0.'],
    ['a Bearer header', 'bearer abcdef'],
    ['an unbroken run of forty characters', 'a'.repeat(40)],
    ['a run of forty beside words', `admin.${'0123456789abcdef'.repeat(3)}`],
    ['upper case', 'Admin'],
    ['nothing', ''],
    ['a space', 'tenant admin'],
    ['a colon', 'a:b'],
    ['a dot at an end', 'admin.'],
    ['a line end', 'admin\n'],
    ['too much', 'ab.'.repeat(43)],
  ])('S4 %s is refused, and the value is not repeated', (_, text) => {
    const error = refusal(() => parseAudienceClass(text));
    expect([error.code, error.reason]).toEqual(['BAD_REQUEST', 'INVALID_NAME']);
    if (text.length > 5) expect(`${error.message}${JSON.stringify(error.details)}`).not.toContain(text);
  });

  test('S4 no string with three long parts, as a token has, is an audience class', () => {
    const part = fc.stringMatching(/^[a-z0-9_-]{8,30}$/);
    fc.assert(
      fc.property(part, part, part, (a, b, c) => {
        refusal(() => parseAudienceClass(`${a}.${b}.${c}`));
      }),
    );
  });
});

describe('names', () => {
  test.each([parseTenantId, parseServerName, parseNamespace])('%o takes 1–64 plain characters', (parse) => {
    for (const good of ['a', '0', 'acme', 'a-b_c', 'a'.repeat(64)]) expect(parse(good)).toBe(good);
    for (const bad of ['', '-a', 'a-', '_', 'A', 'a b', 'a/b', 'a.b', 'a:b', 'ä', 'a\n', 'a'.repeat(65)]) {
      expect(refusal(() => parse(bad)).reason).toBe('INVALID_NAME');
    }
  });

  test('S2 a namespace has no dot, so that a tool id can be read in one way only', () => {
    refusal(() => parseNamespace('inventory.v2'));
    const id = toolId(parseNamespace('inventory'), 'reserve.now', 3);
    expect(id).toBe('inventory.reserve.now@3');
    expect(parseToolId(id)).toBe(id);
  });

  test.each([
    'reserve@1',
    'inventory.reserve',
    'inventory.reserve@0',
    'inventory.reserve@',
    'inventory.re serve@1',
    '.reserve@1',
    'inventory.@1',
  ])('S2 %s is no tool id', (text) => {
    refusal(() => parseToolId(text));
  });

  test('S5 a digest is sha256: and 64 lower-case hex digits', () => {
    const good = `sha256:${'0123456789abcdef'.repeat(4)}`;
    expect(parseDigest(good)).toBe(good);
    for (const bad of [
      good.toUpperCase(),
      good.slice(0, -1),
      `${good}0`,
      good.replace('sha256', 'sha1'),
      `${good}\n`,
    ]) {
      refusal(() => parseDigest(bad));
    }
  });
});
