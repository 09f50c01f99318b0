/** How a discovery ended: the value of a good end in Temporal, the details of a failure otherwise. */
import type { EndReason, EndState } from './endReasons.js';
import type { Evidence } from './generation.js';

export interface DiscoveryResult {
  readonly state: EndState;
  readonly reason: EndReason;
  readonly scan: string;
  /** The generation that serves after this end, where one does. */
  readonly generation: number | null;
  readonly tools: number | null;
  readonly pages: number | null;
  readonly receipt: string | null;
  readonly evidence: Evidence;
}
