/** Writes how a discovery ended where the API reads it; the promotion writes its own end with its transaction. */
import type { RecordEnd } from './activityTypes.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './failures.js';

export const recordEnd =
  ({ store }: ActivityDeps) =>
  ({ key, result }: RecordEnd): Promise<void> =>
    withHeartbeat(
      () => result.scan,
      () =>
        store.endScan(key.tenant, result.scan, {
          state: result.state,
          reason: result.reason,
          evidence: result.evidence,
        }),
    );
