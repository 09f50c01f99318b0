/** How the rest of Genlock asks for discoveries. Temporal stands behind it; nothing here waits for one to end. */
import type { DiscoveryKey } from '../domain/generation.js';

export interface StartedDiscovery {
  readonly workflowId: string;
  readonly runId?: string;
}

export interface DiscoveryControl {
  /** Starts the discovery under its fixed id, or finds the one that runs. @throws CatalogError UNAVAILABLE/TEMPORAL */
  start(key: DiscoveryKey): Promise<StartedDiscovery>;
  /**
   * Tells that what a discovery rests on has changed (D2): one that runs looks once more before it ends, else one is
   * started. @throws CatalogError UNAVAILABLE/TEMPORAL
   */
  hint(key: DiscoveryKey): Promise<StartedDiscovery>;
  /** Asks the running one to end INCOMPLETE/CANCELLED; false where none runs. */
  cancel(key: DiscoveryKey): Promise<boolean>;
  /** One schedule for each key; 0 takes it away. */
  ensureSchedule(key: DiscoveryKey, seconds: number): Promise<void>;
  /** Where a person watches the run; null where no UI is configured. */
  uiLink(workflowId: string, runId?: string): string | null;
}
