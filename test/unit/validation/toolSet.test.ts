/** V1: one name, one descriptor. */
import { expect, it } from 'vitest';
import { parseDigest } from '../../../src/domain/ids.js';
import { checkToolSet } from '../../../src/validation/toolSet.js';

const digest = (digit: string) => parseDigest(`sha256:${digit.repeat(64)}`);

it('V1 one name with two descriptors is an anomaly, a repeat of the same descriptor is none', () => {
  const set = checkToolSet([
    { name: 'pay', digest: digest('a') },
    { name: 'list', digest: digest('b') },
    { name: 'pay', digest: digest('c') },
    { name: 'list', digest: digest('b') },
    { name: '__proto__', digest: digest('d') },
  ]);
  expect(set.duplicates).toEqual([{ name: 'pay', digests: [digest('a'), digest('c')] }]);
  expect(set.repeats).toEqual(['list']);
  expect(set.unique.map(({ name }) => name)).toEqual(['pay', 'list', '__proto__']);
});

it('V1 names are compared as they came: what a clean-up would make equal is not', () => {
  const set = checkToolSet([
    { name: 'catalog.query', digest: digest('a') },
    { name: 'catalog_query', digest: digest('b') },
    { name: 'Catalog_query', digest: digest('c') },
  ]);
  expect(set.duplicates).toEqual([]);
  expect(set.unique).toHaveLength(3);
});
