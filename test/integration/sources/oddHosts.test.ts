/** D8: spellings and names of private addresses are refused before a connection is made. Nothing leaves this machine. */
import type { LookupAddress } from 'node:dns';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBoundedHttp } from '../../../src/sources/boundedHttp.js';
import { faultOf } from '../../fixtures/sourceTarget.js';

let connections = 0;
const listener = createServer((socket) => {
  connections++;
  socket.destroy();
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  port = (listener.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => listener.close(resolve)));

const request = { method: 'POST', headers: { authorization: 'Bearer s3cret' }, body: '{}' };

describe('D8 addresses that the trust configuration does not allow', () => {
  test.each([
    'localhost',
    'localhost.',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '１２７.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
  ])('%s is refused before a connection', async (host) => {
    const http = createBoundedHttp({ allowPrivateAddresses: false });
    const before = connections;
    const signal = AbortSignal.timeout(30_000);
    const fault = await faultOf(http.send(new URL(`http://${host}:${port}/mcp`), { ...request, signal }));
    expect(fault.reason).toBe('ADDRESS_REFUSED');
    expect(connections).toBe(before);
    http.close();
  });

  test.each([
    [['127.0.0.1']],
    [['9.9.9.9', '127.0.0.1']],
    [['::ffff:127.0.0.1']],
    [['169.254.169.254']],
    [['fd00:ec2::254']],
  ])('a name that resolves to %j is refused with all of its addresses, over either scheme', async (found) => {
    const addresses: LookupAddress[] = found.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    const http = createBoundedHttp({ allowPrivateAddresses: false }, (_, __, done) => done(null, addresses));
    for (const scheme of ['http', 'https']) {
      const url = new URL(`${scheme}://tools.example:${port}/mcp`);
      const fault = await faultOf(http.send(url, { ...request, signal: AbortSignal.timeout(30_000) }));
      expect(fault).toMatchObject({ reason: 'ADDRESS_REFUSED', evidence: { host: 'tools.example' } });
    }
    expect(connections).toBe(0);
    http.close();
  });

  test('where private addresses are allowed, the resolver alone says where a name leads', async () => {
    const http = createBoundedHttp({ allowPrivateAddresses: true }, (_, __, done) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]),
    );
    const url = new URL(`http://tools.example:${port}/mcp`);
    const broken = await faultOf(http.send(url, { ...request, signal: AbortSignal.timeout(30_000) }));
    // The listener hangs up: what matters is that it was reached by the resolver's word alone.
    expect(broken.reason).toBe('UNREACHABLE');
    expect(connections).toBe(1);
    http.close();
  });
});
