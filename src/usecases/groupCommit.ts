/**
 * Gathers concurrent decisions of one (tenant, server) into one call to the store: one round trip and one commit for
 * many. A decision that comes alone is sent at once; those that come while one is under way share the next.
 */
import { CatalogError } from '../domain/errors.js';
import type { ServerName, TenantId } from '../domain/ids.js';
import type { AdmissionStore, CommitOutcome, DecisionRow } from '../store/admissionStore.js';

export interface GroupCommitOptions {
  readonly commit: AdmissionStore['commitDecisions'];
  /** Rows of one call at most. Default 100. */
  readonly maxRows?: number;
  /** Calls of one scope under way at once, 1 or 2. Default 2. */
  readonly maxInFlight?: number;
  /** Rows of one scope that may wait. Default 5,000. */
  readonly maxWaiting?: number;
  /** Told the size of each call. */
  readonly onBatch?: (rows: number) => void;
}

export interface GroupCommit {
  /**
   * @throws CatalogError OVERLOADED/QUEUE_FULL, or what the store throws; then nothing may be handed out
   */
  submit(tenant: TenantId, server: ServerName, row: DecisionRow): Promise<CommitOutcome>;
}

interface Waiting {
  readonly row: DecisionRow;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Scope {
  readonly tenant: TenantId;
  readonly server: ServerName;
  readonly waiting: Waiting[];
  inFlight: number;
}

export const createGroupCommit = (options: GroupCommitOptions): GroupCommit => {
  const { commit, maxRows = 100, maxInFlight = 2, maxWaiting = 5_000, onBatch } = options;
  const scopes = new Map<string, Scope>();

  const send = async (scope: Scope, batch: readonly Waiting[]): Promise<void> => {
    onBatch?.(batch.length);
    try {
      const outcomes = await commit(
        scope.tenant,
        scope.server,
        batch.map(({ row }) => row),
      );
      if (outcomes.length !== batch.length) throw new Error('the store answered another number of rows');
      batch.forEach(({ resolve }, index) => {
        resolve(outcomes[index] ?? 'FENCE_MOVED');
      });
    } catch (error) {
      if (batch.length > 1 && isOfOneRow(error)) {
        // The whole call was rolled back, so each row can be sent again by itself, and only the bad one fails.
        await Promise.all(batch.map((one) => send(scope, [one])));
      } else for (const { reject } of batch) reject(error);
    }
  };

  const pump = (key: string, scope: Scope): void => {
    while (scope.inFlight < maxInFlight && scope.waiting.length > 0) {
      scope.inFlight += 1;
      void send(scope, scope.waiting.splice(0, maxRows)).finally(() => {
        scope.inFlight -= 1;
        if (scope.waiting.length > 0) pump(key, scope);
        else if (scope.inFlight === 0) scopes.delete(key);
      });
    }
  };

  return {
    submit: (tenant, server, row) =>
      new Promise((resolve, reject) => {
        const key = `${tenant}/${server}`;
        const scope = scopes.get(key) ?? { tenant, server, waiting: [], inFlight: 0 };
        scopes.set(key, scope);
        if (scope.waiting.length >= maxWaiting) {
          reject(new CatalogError('OVERLOADED', 'QUEUE_FULL'));
          return;
        }
        scope.waiting.push({ row, resolve, reject });
        pump(key, scope);
      }),
  };
};

/** Data that Postgres refuses (classes 22 and 23), so that the same rows would be refused again together. */
const isOfOneRow = (error: unknown): boolean =>
  error instanceof CatalogError && /^2[23]/.test(String(error.details['sqlState'] ?? ''));
