/**
 * The digest of a TLS server's public key (SPKI), taken from the very socket that carries the answer (D8). A
 * certificate may be renewed under one key, so the key is the identity and the certificate is not.
 */
import { createHash, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { checkServerIdentity, type PeerCertificate, TLSSocket } from 'node:tls';
import type { Digest } from '../domain/ids.js';
import { SourceFault } from './source.js';

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

/** What the keys of one connection to a source must be. A connection may need several sockets, one after another. */
export interface KeyRules {
  /** Digests of the keys that the trust configuration lists; empty accepts any that the certificate check accepts. */
  readonly pins: readonly Digest[];
  /** The key of the pages that the scan already has; null where it has none. */
  readonly scanned: Digest | null;
}

/**
 * The usual host name check, and after it the keys, inside the handshake: before a single byte of the request, and so
 * before the credential in it, is sent (D8). Once one socket was accepted, each later one must show the same key.
 * @returns a check that answers, as Node.js wants it, with SourceFault IDENTITY_CHANGED for a key that is not pinned,
 *   IDENTITY_TORN for another key than that of the scan, undefined for the right one
 */
export const identityCheck = ({ pins, scanned }: KeyRules) => {
  let first = scanned;
  return (hostname: string, certificate: PeerCertificate): Error | undefined => {
    const wrongName = checkServerIdentity(hostname, certificate);
    if (wrongName !== undefined) return wrongName;
    const spki = spkiDigest(certificate.raw);
    if (pins.length > 0 && !pins.includes(spki))
      return new SourceFault('IDENTITY_CHANGED', { at: 'handshake', host: hostname, pinned: pins, spki });
    if (first !== null && first !== spki)
      return new SourceFault('IDENTITY_TORN', { at: 'handshake', host: hostname, first, now: spki });
    first = spki;
    return undefined;
  };
};
