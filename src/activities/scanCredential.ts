/** The credential of a scan: one for all its pages and its tail, and valid for as long as it asks (S6). */
import type { Digest, EpochMs } from '../domain/ids.js';
import type { SourceCredential } from '../sources/source.js';
import type { ScanRecord } from '../store/scanStore.js';
import type { Stop } from './activityTypes.js';
import { stopOf } from './pageFacts.js';

export const fingerprintOf = (credential: SourceCredential): Digest | null =>
  credential.kind === 'none' ? null : credential.fingerprint;

/**
 * Asked before anything is sent. To an expired token many servers show a short list of sign-in tools, and no refusal; and
 * what two tokens see is not one list, though the server names one revision to both.
 * @param scan.pages those that the scan has already
 * @returns why the source is not asked, or null
 */
export const credentialStop = (
  credential: SourceCredential,
  { pages, record }: { readonly pages: number; readonly record: ScanRecord },
  now: EpochMs,
): Stop | null => {
  if (credential.kind !== 'none' && credential.expires !== null && credential.expires <= now) {
    const evidence = { pages, expired: new Date(credential.expires).toISOString() };
    return stopOf('CREDENTIAL_EXPIRED', evidence);
  }
  if (pages > 0 && fingerprintOf(credential) !== record.credentialFingerprint) {
    const evidence = { pages, rule: 'the credential is another one than that of the first page' };
    return stopOf('CHANGED_DURING_SCAN', evidence);
  }
  return null;
};
