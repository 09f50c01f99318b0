/** S6: which places a tenant may name as those of its credentials. */
import { describe, expect, test } from 'vitest';
import { credentialPlace, credentialPrefix } from '../../../src/domain/credentialSpace.js';
import { parseTenantId } from '../../../src/domain/ids.js';

const acme = parseTenantId('acme');

describe('S6 the space of a tenant', () => {
  test.each([
    ['env:GENLOCK_CREDENTIAL_ACME_TOKEN', { kind: 'env', variable: 'GENLOCK_CREDENTIAL_ACME_TOKEN' }],
    ['env:GENLOCK_CREDENTIAL_ACME_a__b', { kind: 'env', variable: 'GENLOCK_CREDENTIAL_ACME_a__b' }],
    ['file:token', { kind: 'file', path: 'token' }],
    ['file:shop/.token-1', { kind: 'file', path: 'shop/.token-1' }],
  ])('%s is inside', (reference, place) => {
    expect(credentialPlace(acme, reference)).toEqual(place);
  });

  test.each([
    'env:GENLOCK_WORKER_DATABASE_URL',
    'env:GENLOCK_CREDENTIALS_DIR',
    'env:GENLOCK_CREDENTIAL_ACME',
    'env:GENLOCK_CREDENTIAL_ACME_',
    'env:GENLOCK_CREDENTIAL_ACME__EU_TOKEN',
    'env:GENLOCK_CREDENTIAL_ACMECORP_TOKEN',
    'env:GENLOCK_CREDENTIAL_OTHER_TOKEN',
    'env:genlock_credential_acme_token',
    'env:GENLOCK_CREDENTIAL_ACME_A B',
    `env:GENLOCK_CREDENTIAL_ACME_${'A'.repeat(400)}`,
    'env:',
    'file:',
    'file:/etc/hostname',
    'file:..',
    'file:../other/token',
    'file:a/../../other/token',
    'file:a/./b',
    'file:a//b',
    'file:a/',
    'file:a\\b',
    'file:a\0b',
    `file:${'a/'.repeat(300)}b`,
    'GENLOCK_CREDENTIAL_ACME_TOKEN',
    'https://acme.example/token',
  ])('%j is outside', (reference) => {
    expect(credentialPlace(acme, reference)).toBeNull();
  });

  test('no variable belongs to two tenants, whatever their names have in common', () => {
    const tenants = ['a', 'a-b', 'a_b', 'a-b-c', 'a_b-c', 'a-b_c', 'a_b_c', 'ab', 'b', 'b-c', 'a1', 'a-1'];
    const names = ['X', 'B_X', 'B__C_X', 'C_X', 'B___C_X', '1_X'];
    const owners = new Map<string, Set<string>>();
    for (const holder of tenants) {
      for (const name of names) {
        const variable = `${credentialPrefix(parseTenantId(holder))}${name}`;
        const found = tenants.filter(
          (one) => credentialPlace(parseTenantId(one), `env:${variable}`) !== null,
        );
        owners.set(variable, new Set(found));
        expect([variable, found]).toEqual([variable, [holder]]);
      }
    }
    expect(owners.size).toBe(tenants.length * names.length);
  });

  test('a tenant whose name has two separators in a row has files only', () => {
    for (const name of ['a--b', 'a-_b', 'a__b']) {
      const tenant = parseTenantId(name);
      expect(credentialPrefix(tenant)).toBeNull();
      expect(credentialPlace(tenant, 'env:GENLOCK_CREDENTIAL_A____B_X')).toBeNull();
      expect(credentialPlace(tenant, 'file:token')).toEqual({ kind: 'file', path: 'token' });
    }
  });
});
