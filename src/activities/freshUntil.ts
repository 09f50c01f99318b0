/** How long a verified list may serve (S7): counted from the tail, ended by whatever ends first. */
import { type EpochMs, epochMs } from '../domain/ids.js';
import type { RegisteredServer } from '../domain/server.js';
import type { ScanRecord } from '../store/scanStore.js';

/**
 * The smallest of the configured age since the tail, the credential's own expiry and the snapshot's hard limit.
 * @param hardLimit null where no new snapshot is sealed
 */
export const freshUntil = (
  { tailAt, startedAt, credentialExpires }: ScanRecord,
  { freshness }: RegisteredServer,
  hardLimit: EpochMs | null,
): EpochMs =>
  epochMs(
    Math.min(
      (tailAt ?? startedAt) + freshness.maxAge,
      credentialExpires ?? Number.MAX_SAFE_INTEGER,
      hardLimit ?? Number.MAX_SAFE_INTEGER,
    ),
  );
