/**
 * What Genlock counts, by the names and units that Prometheus expects. No label holds a tenant, a subject or a tool:
 * those stand in logs and receipts, where their number does not matter.
 */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  /** A3: every decision by code and reason; both are empty where allowed. */
  decided(decision: 'allowed' | 'refused', code: string, reason: string): void;
  /** Rows of one group commit. */
  committed(rows: number): void;
  fenceMoved(): void;
  /** A request that was answered. `route` is the pattern, never the path. */
  answered(method: string, route: string, status: number, seconds: number): void;
  /** A request that was refused before it was known who asks. */
  unauthenticated(reason: string): void;
  /** The text that /metrics answers. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** A registry of its own for each call, so that two programs in one process do not share counters. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const admissions = new Counter({
    name: 'genlock_admissions_total',
    help: 'Decisions about calls, by code and reason',
    labelNames: ['decision', 'code', 'reason'],
    registers,
  });
  const batches = new Histogram({
    name: 'genlock_commit_batch_rows',
    help: 'Decisions that one commit holds',
    buckets: [1, 2, 5, 10, 20, 50, 100],
    registers,
  });
  const moves = new Counter({
    name: 'genlock_fence_moved_total',
    help: 'Decisions that were made again, since the fence moved under them',
    registers,
  });
  const requests = new Histogram({
    name: 'genlock_http_request_duration_seconds',
    help: 'Time from a request to its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const strangers = new Counter({
    name: 'genlock_unauthenticated_total',
    help: 'Requests that were refused before a caller was known, by reason',
    labelNames: ['reason'],
    registers,
  });
  return {
    decided: (decision, code, reason) => admissions.inc({ decision, code, reason }),
    committed: (rows) => batches.observe(rows),
    fenceMoved: () => moves.inc(),
    answered: (method, route, status, seconds) => requests.observe({ method, route, status }, seconds),
    unauthenticated: (reason) => strangers.inc({ reason }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
};
