import { describe, expect, it } from 'vitest';
import { checkLiteralHost, guardedLookup, isPrivateAddress } from '../../../src/sources/addressRules.js';
import { SourceFault } from '../../../src/sources/source.js';

describe('isPrivateAddress', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.8',
    '198.18.0.1',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '2002:7f00:1::',
    'not-an-address',
    '',
  ])('%s is not globally routed', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.0.1',
    '100.63.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('%s is globally routed', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe('checkLiteralHost', () => {
  it('refuses a private literal, with and without brackets, and only where it is not allowed', () => {
    expect(() => checkLiteralHost('10.0.0.1', false)).toThrow(SourceFault);
    expect(() => checkLiteralHost('[::1]', false)).toThrow(SourceFault);
    expect(() => checkLiteralHost('10.0.0.1', true)).not.toThrow();
    expect(() => checkLiteralHost('8.8.8.8', false)).not.toThrow();
  });

  it('leaves names to the lookup', () => {
    expect(() => checkLiteralHost('localhost', false)).not.toThrow();
  });
});

describe('guardedLookup', () => {
  const resolve = (allow: boolean, all: boolean) =>
    new Promise<{ error: Error | null; address: unknown }>((done) => {
      guardedLookup(allow)('localhost', { all }, (error, address) => done({ error, address }));
    });

  it.each([true, false])('refuses a name that resolves to a private address (all: %s)', async (all) => {
    const { error } = await resolve(false, all);
    expect(error).toMatchObject({ reason: 'ADDRESS_REFUSED', evidence: { host: 'localhost' } });
  });

  it('answers in both forms that Node.js asks for', async () => {
    expect(await resolve(true, true)).toMatchObject({
      error: null,
      address: [{ address: expect.any(String) }],
    });
    expect(await resolve(true, false)).toMatchObject({ error: null, address: expect.any(String) });
  });
});
