/** What the activities are given: ports, and everything that is not a pure function of its arguments. */

import type { DiscoveryKey } from '../domain/generation.js';
import type { EpochMs, TenantId } from '../domain/ids.js';
import type { CredentialRef, RegisteredServer } from '../domain/server.js';
import type { KeySet } from '../keys/keySet.js';
import type { SessionSeal } from '../keys/sessionSeal.js';
import type { CompiledPolicy } from '../policy/port.js';
import type { SourceTarget, ToolSource } from '../sources/source.js';
import type { ScanStore } from '../store/scanStore.js';

export interface ActivityDeps {
  readonly store: ScanStore;
  readonly source: ToolSource;
  /**
   * The target of a scan with the secrets of its audience, resolved at the moment of use (S6).
   * @throws SourceFault STDIO_REFUSED, CREDENTIAL_UNRESOLVED
   */
  targetOf(tenant: TenantId, server: RegisteredServer, credential: CredentialRef): Promise<SourceTarget>;
  /** null where no epoch of that number exists. */
  policy(tenant: TenantId, epoch: number): Promise<CompiledPolicy | null>;
  readonly keys: KeySet;
  /** Seals what another attempt needs to go on in a source's session (D6). */
  readonly sessions: SessionSeal;
  /** Starts the discovery under its fixed id, or finds the one that runs. */
  startDiscovery(key: DiscoveryKey): Promise<void>;
  /** Names this process in pages and the API. */
  readonly worker: string;
  readonly now: () => EpochMs;
  readonly newId: () => string;
  /** Waits; rejects with the signal's reason where it is aborted first. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}
