/**
 * Starts discoveries after a fact was stored. A fault here undoes nothing: the fact stands, the answer says what did
 * not start, and the schedule or a retry makes up for it.
 */
import { CatalogError, type Code } from '../domain/errors.js';
import type { DiscoveryKey } from '../domain/generation.js';
import type { AudienceClass, ServerName } from '../domain/ids.js';
import type { DiscoveryControl, StartedDiscovery } from './discoveryControl.js';

export interface DiscoveryStart {
  readonly server: ServerName;
  readonly audience: AudienceClass;
  readonly workflowId: string | null;
  readonly ui: string | null;
  /** Why it did not start; null where it did. */
  readonly failed: { readonly code: Code; readonly reason: string } | null;
}

const AT_ONCE = 8;

/** How one is asked for: `start` finds a run that is under way, `hint` makes it look at what has changed since. */
type Ask = (key: DiscoveryKey) => Promise<StartedDiscovery>;

export const startDiscoveries = async (
  control: Pick<DiscoveryControl, 'uiLink'>,
  keys: readonly DiscoveryKey[],
  ask: Ask,
): Promise<readonly DiscoveryStart[]> => {
  const started: DiscoveryStart[] = [];
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const batch = keys.slice(from, from + AT_ONCE).map((key) => startOne(control, key, ask));
    started.push(...(await Promise.all(batch)));
  }
  return started;
};

const startOne = async (
  control: Pick<DiscoveryControl, 'uiLink'>,
  key: DiscoveryKey,
  ask: Ask,
): Promise<DiscoveryStart> => {
  const { server, audience } = key;
  try {
    const { workflowId, runId } = await ask(key);
    return { server, audience, workflowId, ui: control.uiLink(workflowId, runId), failed: null };
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    const { code, reason } = error;
    return { server, audience, workflowId: null, ui: null, failed: { code, reason } };
  }
};
