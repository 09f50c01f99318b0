/** D8: the TLS key is held to the pins, and to the pages of the scan, inside each handshake of a connection. */

import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createBoundedHttp } from '../../../src/sources/boundedHttp.js';
import { spkiDigest } from '../../../src/sources/tlsEvidence.js';
import { type Bend, SAMPLE_TOOLS } from '../../fixtures/bendableMcp.js';
import { connect, signal, start } from '../../fixtures/bentConnections.js';
import { selfSignedCertificate, type TestCertificate } from '../../fixtures/selfSignedCertificate.js';
import { bearer, faultOf, httpTarget } from '../../fixtures/sourceTarget.js';

const pinOf = ({ cert }: TestCertificate) => spkiDigest(new X509Certificate(cert).raw);
/** Each page is the last answer of its socket, so that the next one needs a handshake of its own. */
const hangUp: Bend = (bent) => {
  bent.response.setHeader('connection', 'close');
  bent.result({ tools: SAMPLE_TOOLS, nextCursor: `after-${bent.before}` });
};

const rotating = async (pinned: 'none' | 'both') => {
  const [old, next] = [selfSignedCertificate('old'), selfSignedCertificate('next')];
  const server = await start({ tls: old, list: hangUp });
  const trust = {
    allowPrivateAddresses: true,
    tlsCaPem: `${old.cert}${next.cert}`,
    ...(pinned === 'none' ? {} : { spkiPins: [pinOf(old), pinOf(next)] }),
  };
  return { old, next, server, trust };
};

describe('D8 the key of every connection', () => {
  it.each(['none', 'both'] as const)(
    'a socket that shows another key in mid-scan is IDENTITY_TORN before anything is sent (pinned: %s)',
    async (pinned) => {
      const { old, next, server, trust } = await rotating(pinned);
      const connection = await connect(httpTarget(server.url, { trust, credential: bearer('s3cret-token') }));
      const first = await connection.listPage(undefined, { signal });
      expect(first.evidence.spki).toBe(pinOf(old));
      // The same key over a socket of its own is no other identity.
      expect((await connection.listPage('c', { signal })).evidence.spki).toBe(pinOf(old));
      const seen = server.seen.length;
      server.useCertificate(next);
      const fault = await faultOf(connection.listPage('c', { signal }));
      expect(fault).toMatchObject({
        reason: 'IDENTITY_TORN',
        evidence: { first: pinOf(old), now: pinOf(next) },
      });
      expect(server.seen).toHaveLength(seen);
    },
  );

  it('a connection that goes on with a scan is held to the key of its pages, whatever is pinned', async () => {
    const { old, next, server, trust } = await rotating('both');
    server.useCertificate(next);
    const goingOn = httpTarget(server.url, { trust: { ...trust, scannedSpki: pinOf(old) } });
    const fault = await faultOf(connect(goingOn));
    expect(fault).toMatchObject({
      reason: 'IDENTITY_TORN',
      evidence: { first: pinOf(old), now: pinOf(next) },
    });
    expect(server.seen).toEqual([]);
  });

  it('a key that is not pinned is IDENTITY_CHANGED with both, also in mid-scan', async () => {
    const { old, next, server, trust } = await rotating('none');
    const pinned = { ...trust, spkiPins: [pinOf(old)] };
    const connection = await connect(httpTarget(server.url, { trust: pinned }));
    await connection.listPage(undefined, { signal });
    server.useCertificate(next);
    expect(await faultOf(connection.listPage('c', { signal }))).toMatchObject({
      reason: 'IDENTITY_CHANGED',
      transient: false,
      evidence: { pinned: [pinOf(old)], spki: pinOf(next) },
    });
  });

  it('pins at an endpoint without TLS are refused: nothing could ever be held against them', async () => {
    const server = await start({});
    const trust = { allowPrivateAddresses: true, spkiPins: [pinOf(selfSignedCertificate())] };
    expect(await faultOf(connect(httpTarget(server.url, { trust })))).toMatchObject({
      reason: 'IDENTITY_CHANGED',
      evidence: { pinned: trust.spkiPins, spki: null },
    });
    expect(server.seen).toEqual([]);
  });

  it('a wrong name or an unknown issuer stays TLS_FAILED, also where the key is pinned', async () => {
    const tls = selfSignedCertificate();
    const server = await start({ tls });
    const pinned = { allowPrivateAddresses: true, spkiPins: [pinOf(tls)] };
    expect((await faultOf(connect(httpTarget(server.url, { trust: pinned })))).reason).toBe('TLS_FAILED');
    const named = createBoundedHttp({ ...pinned, tlsCaPem: tls.cert }, (_, __, done) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]),
    );
    const elsewhere = new URL(server.url.replace('127.0.0.1', 'other.example'));
    const request = { method: 'POST', headers: {}, body: '{}', signal };
    expect(await faultOf(named.send(elsewhere, request))).toMatchObject({
      reason: 'TLS_FAILED',
      evidence: { error: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
    expect(server.seen).toEqual([]);
    named.close();
  });
});
