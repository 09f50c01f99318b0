/** The protocol that a scan is read under (S1). */
import type { Protocol } from '../domain/snapshot.js';
import type { FetchedPage, KnownPage } from '../sources/source.js';
import type { Stop } from './activityTypes.js';

/** A snapshot names the protocol that was spoken, and this source speaks one. */
export const PROTOCOL: Protocol = 'mcp-2025-11-25';
const PROTOCOL_VERSION = PROTOCOL.slice('mcp-'.length);

/** @returns why the page cannot be part of a snapshot, or null */
export const protocolStop = ({ evidence }: FetchedPage | KnownPage): Stop | null =>
  evidence.protocolVersion === PROTOCOL_VERSION
    ? null
    : {
        kind: 'stop',
        state: 'INCOMPLETE',
        reason: 'PROTOCOL_UNSUPPORTED',
        evidence: { negotiated: evidence.protocolVersion, supported: [PROTOCOL_VERSION] },
      };
