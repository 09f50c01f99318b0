/** Faults on their way to Temporal: the failure type is the code, and no driver text or secret goes along. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { CatalogError, codeRow } from '../domain/errors.js';
import { SourceFault } from '../domain/sourceFault.js';
import type { Stop } from './activityTypes.js';
import { stopOf } from './pageFacts.js';

/** Another attempt has this scan. Retryable, so that an attempt that is still wanted claims again. */
export const fenced = (scan: string): ApplicationFailure =>
  ApplicationFailure.retryable(`scan ${scan} is held by a newer attempt`, 'FENCED');

/** SQLSTATE classes of a statement that fails each time it is tried: data, constraints, limits of the program. */
const UNMENDABLE = /^(22|23|54)/;

/** The code of a fault as a failure that Temporal retries or not, as the table says. */
const asActivityFailure = (error: unknown, context: Context): unknown => {
  if (error instanceof ApplicationFailure || context.cancellationSignal.aborted) return error;
  if (!(error instanceof CatalogError) || UNMENDABLE.test(String(error.details['sqlState']))) {
    return asInternal(error, context);
  }
  const code = `${error.code}/${error.reason}`;
  return codeRow(error.code).retry
    ? ApplicationFailure.retryable(error.message, code)
    : ApplicationFailure.nonRetryable(error.message, code);
};

/** Attempts of an activity that fails by a fault of Genlock's own; what a retry does not mend must come to an end. */
const MAX_INTERNAL_ATTEMPTS = 5;

/** The log gets the error whole, the history only that there was one: its text may quote a source or a driver. */
const asInternal = (error: unknown, { info, log }: Context): ApplicationFailure => {
  log.error('a fault of Genlock itself', { error });
  const message = 'A fault of Genlock itself; the log of the worker has it.';
  return info.attempt >= MAX_INTERNAL_ATTEMPTS
    ? ApplicationFailure.nonRetryable(message, 'INTERNAL')
    : ApplicationFailure.retryable(message, 'INTERNAL');
};

/** A source's fault is an expected end, and a value. Anything else is thrown on. */
export const asStop = (error: unknown): Stop => {
  if (error instanceof SourceFault) {
    return stopOf(error.reason, error.evidence);
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
    throw asActivityFailure(error, context);
  } finally {
    clearInterval(timer);
  }
};
