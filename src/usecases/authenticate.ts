/**
 * Who asks: a token of the operator's issuer, and the proof that whoever sends it holds the key (RFC 6750, RFC 9449).
 * Whether a proof was used before is the store's question, and asked only once everything else held.
 */
import { CatalogError } from '../domain/errors.js';
import type { EpochMs } from '../domain/ids.js';
import type { CallerVerifier, VerifiedCaller } from '../keys/callerToken.js';
import { type VerifiedProof, verifyDpopProof } from '../keys/dpop.js';

export interface Credentials {
  /** The Authorization header. */
  readonly authorization: string | undefined;
  /** The DPoP header; two of them arrive joined and verify as none. */
  readonly dpop: string | undefined;
  readonly method: string;
  /** The request's absolute URL as clients see it. */
  readonly url: string;
}

export interface Authenticated {
  readonly caller: VerifiedCaller;
  /** Or why there is none. A bound token never gets here without one. */
  readonly proof: VerifiedProof | CatalogError<'PROOF_INVALID'>;
}

const UNSTORABLE = /[\p{Cs}\p{Cc}]/u;
const SCHEME = /^(?:Bearer|DPoP) +([^\s]+) *$/i;

/**
 * @param proofIsRead whether this route looks at the proof even where the token is not bound
 * @throws CatalogError UNAUTHENTICATED with each of its reasons, UNAVAILABLE/ISSUER_KEYS
 * @throws CatalogError PROOF_INVALID for a token bound to a key, which is worth nothing without it (RFC 9449 §7)
 */
export const authenticate = async (
  verifier: CallerVerifier,
  credentials: Credentials,
  now: EpochMs,
  proofIsRead: boolean,
): Promise<Authenticated> => {
  const token = SCHEME.exec(credentials.authorization ?? '')?.[1];
  const caller = await verifier.verify(token, now);
  if (!proofIsRead && caller.jkt === null)
    return { caller, proof: new CatalogError('PROOF_INVALID', 'MISSING') };
  const proof = await verifyDpopProof(credentials.dpop, {
    method: credentials.method,
    url: credentials.url,
    accessToken: token ?? '',
    boundTo: caller.jkt,
    now,
  }).catch((error: unknown) => {
    if (error instanceof CatalogError && error.code === 'PROOF_INVALID')
      return error as CatalogError<'PROOF_INVALID'>;
    throw error;
  });
  if (!proofIsRead && proof instanceof CatalogError) throw proof;
  // It is recorded as used, so it must be a text that can be.
  if (!(proof instanceof CatalogError) && UNSTORABLE.test(proof.jti))
    return { caller, proof: new CatalogError('PROOF_INVALID', 'MALFORMED', { claim: 'jti' }) };
  return { caller, proof };
};
