/** Faults on their way to Temporal: the failure type is the code, and no driver text or secret goes along. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { CatalogError, codeRow } from '../domain/errors.js';
import { SourceFault } from '../domain/sourceFault.js';
import type { Stop } from './activityTypes.js';

/** Another attempt has this scan. Retryable, so that an attempt that is still wanted claims again. */
export const fenced = (scan: string): ApplicationFailure =>
  ApplicationFailure.retryable(`scan ${scan} is held by a newer attempt`, 'FENCED');

/** The code of a fault as a failure that Temporal retries or not, as the table says. */
export const asActivityFailure = (error: unknown): unknown => {
  if (!(error instanceof CatalogError)) return error;
  const code = `${error.code}/${error.reason}`;
  return codeRow(error.code).retry
    ? ApplicationFailure.retryable(error.message, code)
    : ApplicationFailure.nonRetryable(error.message, code);
};

/** A source's fault is an expected end, and a value. Anything else is thrown on. */
export const asStop = (error: unknown): Stop => {
  if (error instanceof SourceFault) {
    return { kind: 'stop', state: 'INCOMPLETE', reason: error.reason, evidence: error.evidence };
  }
  throw error;
};

const HEARTBEAT_MS = 500;

/**
 * Heartbeats on a timer while `work` runs: a slow page would otherwise look like a dead worker. What a heartbeat
 * says is for the eye only; a retry resumes from Postgres.
 */
export const withHeartbeat = async <T>(
  progress: () => unknown,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(progress()), HEARTBEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } catch (error) {
    throw asActivityFailure(error);
  } finally {
    clearInterval(timer);
  }
};
