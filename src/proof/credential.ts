/**
 * Which credential Genlock uses towards a server, as evidence (S4, S6): digests stand in snapshots and receipts, the
 * secret nowhere.
 */
import type { Digest } from '../domain/ids.js';
import type { CredentialRef } from '../domain/server.js';
import type { CredentialEvidence } from '../domain/snapshot.js';
import { sha256Bytes } from './digest.js';

/** @param fingerprint keyed digest of the secret itself; null where nobody took one */
export const credentialEvidence = (
  credential: CredentialRef,
  fingerprint: Digest | null,
): CredentialEvidence | 'none' =>
  credential.kind === 'none' ? 'none' : { reference: sha256Bytes(credential.reference), fingerprint };
