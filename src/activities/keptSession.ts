/**
 * The session of a scan, kept for the attempt or the segment that goes on with it (D6). In the store it stands sealed; in
 * the clear it is only in the memory of the worker that reads.
 */
import { Secret } from '../domain/secret.js';
import type { SourceConnection, SourceSession } from '../sources/source.js';
import type { PageClaim, ScanRecord } from '../store/scanStore.js';
import type { ActivityDeps } from './deps.js';

type Deps = Pick<ActivityDeps, 'store' | 'sessions'>;

/** Nothing to keep where the server issued no session. @returns false where the claim was lost */
export const keepSession = async (
  { store, sessions }: Deps,
  { tenant, id: scan }: ScanRecord,
  claim: PageClaim,
  { session }: SourceConnection,
): Promise<boolean> => {
  if (session === null) return true;
  const text = JSON.stringify({ id: session.id.reveal(), protocolVersion: session.protocolVersion });
  return await store.keepSession(tenant, claim, sessions.seal(text, { tenant, scan }));
};

/** @returns null where none was kept; `lost` where one was, and no key of this worker opens it */
export const keptSession = async (
  { store, sessions }: Deps,
  { tenant, id: scan }: ScanRecord,
): Promise<SourceSession | 'lost' | null> => {
  const sealed = await store.readSession(tenant, scan);
  if (sealed === null) return null;
  const text = sessions.open(sealed, { tenant, scan });
  if (text === null) return 'lost';
  // Authenticated, so it is what keepSession wrote.
  const { id, protocolVersion } = JSON.parse(text) as { id: string; protocolVersion: string };
  return { id: new Secret(id), protocolVersion };
};
