/**
 * The digest of a TLS server's public key (SPKI), taken from the very socket that carries the answer (D8). A
 * certificate may be renewed under one key, so the key is the identity and the certificate is not.
 */
import { createHash, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { checkServerIdentity, type PeerCertificate, TLSSocket } from 'node:tls';
import type { Digest } from '../domain/ids.js';

/** Thrown inside the handshake where the key is not one of the pinned ones; mapped to TLS_FAILED. */
export class PinMismatch extends Error {
  readonly code = 'SPKI_PIN_MISMATCH';
  readonly spki: Digest;

  constructor(spki: Digest) {
    super('the TLS public key is not a pinned one');
    this.spki = spki;
  }
}

/** SHA-256 over the certificate's SubjectPublicKeyInfo in DER. */
export const spkiDigest = (certificate: Uint8Array): Digest => {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}` as Digest;
};

const seen = new WeakMap<Socket, Digest>();

/** @returns null for a socket without TLS */
export const spkiOfSocket = (socket: Socket): Digest | null => {
  if (!(socket instanceof TLSSocket)) return null;
  const known = seen.get(socket);
  if (known !== undefined) return known;
  const { raw } = socket.getPeerCertificate(true);
  // A resumed session has no certificate; sessions are never cached, so this is a broken peer.
  if (raw === undefined) return null;
  const digest = spkiDigest(raw);
  seen.set(socket, digest);
  return digest;
};

/** The usual host name check, and after it the pins, before a single byte of the request is sent. */
export const identityCheck =
  (pins: readonly Digest[] | undefined) =>
  (hostname: string, certificate: PeerCertificate): Error | undefined => {
    const wrongName = checkServerIdentity(hostname, certificate);
    if (wrongName !== undefined || pins === undefined || pins.length === 0) return wrongName;
    const spki = spkiDigest(certificate.raw);
    return pins.includes(spki) ? undefined : new PinMismatch(spki);
  };
