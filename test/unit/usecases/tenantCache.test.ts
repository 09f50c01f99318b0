import { describe, expect, test } from 'vitest';
import { parseTenantId } from '../../../src/domain/ids.js';
import { createTenantCache } from '../../../src/usecases/tenantCache.js';

const acme = parseTenantId('acme');
const globex = parseTenantId('globex');

describe('S4 a cache under tenants', () => {
  test('10,000 keys of each of two tenants: no hit crosses', () => {
    const cache = createTenantCache<string>(10_000);
    for (let n = 0; n < 10_000; n += 1) {
      cache.put(acme, `k${n}`, `acme ${n}`);
      cache.put(globex, `k${n}`, `globex ${n}`);
    }
    for (let n = 0; n < 10_000; n += 1) {
      expect(cache.get(acme, `k${n}`)).toBe(`acme ${n}`);
      expect(cache.get(globex, `k${n}`)).toBe(`globex ${n}`);
    }
  });

  test('the least recently used goes first, and only of the tenant that is full', () => {
    const cache = createTenantCache<number>(2);
    cache.put(globex, 'a', 9);
    cache.put(acme, 'a', 1);
    cache.put(acme, 'b', 2);
    expect(cache.get(acme, 'a')).toBe(1);
    cache.put(acme, 'c', 3);
    expect([cache.get(acme, 'a'), cache.get(acme, 'b'), cache.get(acme, 'c')]).toEqual([1, undefined, 3]);
    expect(cache.get(globex, 'a')).toBe(9);
  });

  test('a key that is put again is neither doubled nor old', () => {
    const cache = createTenantCache<number>(2);
    cache.put(acme, 'a', 1);
    cache.put(acme, 'b', 2);
    cache.put(acme, 'a', 3);
    cache.put(acme, 'c', 4);
    expect([cache.get(acme, 'a'), cache.get(acme, 'b'), cache.get(acme, 'c')]).toEqual([3, undefined, 4]);
  });
});
