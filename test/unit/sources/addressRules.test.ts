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
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
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
    'fd00:ec2::254',
    '64:ff9b:1::a9fe:a9fe',
    '::7f00:1',
    '0:0:0:0:0:ffff:a00:1',
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

  it('RFC 6761 refuses the names of this machine, and leaves the others to the lookup', () => {
    for (const name of ['localhost', 'LOCALHOST.', 'tools.localhost'])
      expect(() => checkLiteralHost(name, false), name).toThrow(SourceFault);
    for (const name of ['notlocalhost', 'localhost.example'])
      expect(() => checkLiteralHost(name, false), name).not.toThrow();
    expect(() => checkLiteralHost('localhost', true)).not.toThrow();
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

  /** Answers of a name server, one a question, and nothing else: no name is looked up, nothing is connected to. */
  const asked = (answers: readonly (readonly string[])[]) => {
    let question = 0;
    const lookup = guardedLookup(false, (_, __, done) => {
      const addresses = answers[question++] ?? [];
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    });
    return () =>
      new Promise<{ error: Error | null; address: unknown }>((done) => {
        lookup('rebinds.example', { all: true }, (error, address) => done({ error, address }));
      });
  };

  it('D8 a name that answers with a public address first and a private one later is refused at that connection', async () => {
    const ask = asked([['9.9.9.9'], ['169.254.169.254'], ['9.9.9.9']]);
    expect((await ask()).address).toEqual([{ address: '9.9.9.9', family: 4 }]);
    expect((await ask()).error).toMatchObject({
      reason: 'ADDRESS_REFUSED',
      evidence: { host: 'rebinds.example', addresses: ['169.254.169.254'] },
    });
    expect((await ask()).error).toBeNull();
  });

  it.each([
    [['9.9.9.9', '10.0.0.1']],
    [['::ffff:10.0.0.1']],
    [['64:ff9b::a00:1']],
    [['2002:a00:1::']],
    [['fe80::1%eth0']],
    [['localhost']],
    [[]],
  ])('D8 an answer of %j is refused as a whole', async (answer) => {
    expect((await asked([answer])()).error).toMatchObject({ reason: 'ADDRESS_REFUSED' });
  });

  it('answers in both forms that Node.js asks for', async () => {
    expect(await resolve(true, true)).toMatchObject({
      error: null,
      address: [{ address: expect.any(String) }],
    });
    expect(await resolve(true, false)).toMatchObject({ error: null, address: expect.any(String) });
  });
});
