/** The scan that a step is about, with the registration it was begun under. */
import type { RegisteredServer } from '../domain/server.js';
import type { ScanRecord } from '../store/scanStore.js';
import type { ScanStep, Stop } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';

/** P1: a registration that changed since the scan began ends it, before anything more is asked of the source. */
export const readScanOf = async (
  { store }: ActivityDeps,
  { key, scan }: ScanStep,
): Promise<
  { readonly kind: 'found'; readonly record: ScanRecord; readonly server: RegisteredServer } | Stop
> => {
  const [record, server] = await Promise.all([
    store.readScan(key.tenant, scan),
    store.readServer(key.tenant, key.server),
  ]);
  if (record === null || server === null) {
    return { kind: 'stop', state: 'INCOMPLETE', reason: 'SERVER_GONE', evidence: {} };
  }
  if (server.trustVersion !== record.trustVersion) {
    const evidence = { trustVersion: record.trustVersion, now: server.trustVersion };
    return { kind: 'stop', state: 'INCOMPLETE', reason: 'CHANGED_DURING_SCAN', evidence };
  }
  return { kind: 'found', record, server };
};
