/** Why a source could not be read: a fault with the reason that ends a discovery. */
import type { ReasonFor } from './endReasons.js';
import type { Details } from './errors.js';

/** A connection that shows another key than it must is no outage: the candidate is quarantined (D8). */
export type FaultReason = ReasonFor<'INCOMPLETE'> | 'IDENTITY_CHANGED' | 'IDENTITY_TORN';

export class SourceFault extends Error {
  override readonly name = 'SourceFault';
  readonly reason: FaultReason;
  /** Whether the same request may succeed a moment later without anybody changing anything. */
  readonly transient: boolean;
  /** Addresses, statuses, positions and short excerpts. Never a secret, never a stack. */
  readonly evidence: Details;

  constructor(
    reason: FaultReason,
    evidence: Details,
    options: { readonly transient?: boolean; readonly cause?: unknown } = {},
  ) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.transient = options.transient ?? false;
    this.evidence = evidence;
  }
}
