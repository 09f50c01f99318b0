/** Connects to an MCP 2025-11-25 server over Streamable HTTP. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Secret } from '../../../domain/secret.js';
import { endpointDigest } from '../../../proof/identity.js';
import { createBoundedHttp, type WireEvidence } from '../../boundedHttp.js';
import { type HttpTarget, type SourceConnection, SourceFault, type SourceSession } from '../../source.js';
import { ExchangeTap } from '../exchange.js';
import { openConnection } from './connection.js';
import { createTappedFetch } from './tappedFetch.js';

/** How long a server may take to end the session that it gave out. */
const FAREWELL_MS = 1_000;

const parseEndpoint = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new SourceFault('ADDRESS_REFUSED', { rule: 'an endpoint is an http or https URL' });
  }
  if (url.username !== '' || url.password !== '') {
    throw new SourceFault('ADDRESS_REFUSED', {
      rule: 'a credential is given by reference, never inside the URL',
    });
  }
  url.hash = '';
  return url;
};

/**
 * @param resumed a session of this target to go on with
 * @throws SourceFault; or `signal.reason` where the caller aborted
 */
export const connectHttp = async (
  target: HttpTarget,
  signal: AbortSignal,
  resumed?: SourceSession,
): Promise<SourceConnection> => {
  const url = parseEndpoint(target.url);
  const endpoint = endpointDigest({ transport: 'http', url: url.href });
  const tap = new ExchangeTap();
  const http = createBoundedHttp(target.trust);
  const token = target.credential.kind === 'bearer' ? target.credential.token.reveal() : null;
  const sessionId = resumed?.id.reveal();
  const secrets = [token ?? [], sessionId ?? []].flat();
  let wire: WireEvidence = { address: null, spki: null };

  const fetch = createTappedFetch({
    http,
    tap,
    pageBytes: target.limits.pageBytes,
    secrets,
    onWire(seen) {
      wire = seen;
      // The id of a session is worth as much as a credential (D6).
      const { sessionId } = transport;
      if (sessionId !== undefined && !secrets.includes(sessionId)) secrets.push(sessionId);
    },
  });
  const transport = new StreamableHTTPClientTransport(url, {
    fetch,
    ...(token === null ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    ...(sessionId === undefined ? {} : { sessionId }),
  });
  if (resumed !== undefined) transport.setProtocolVersion(resumed.protocolVersion);

  return await openConnection(
    {
      target,
      // The SDK's class declares `sessionId?: string | undefined`, its own interface `sessionId?: string`.
      transport: transport as Transport,
      tap,
      secrets,
      evidence: () => ({
        endpoint,
        spki: wire.spki,
        artifact: null,
        address: wire.address,
        protocolVersion: transport.protocolVersion ?? 'unknown',
        sessionScoped: transport.sessionId !== undefined,
      }),
      session: () =>
        transport.sessionId === undefined
          ? null
          : {
              id: new Secret(transport.sessionId),
              protocolVersion: transport.protocolVersion ?? 'unknown',
            },
      // Each request over HTTP stands for itself; one that fails does not end the next.
      ended: () => null,
      async farewell() {
        if (transport.sessionId === undefined) return;
        let timer: NodeJS.Timeout | undefined;
        const enough = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, FAREWELL_MS);
        });
        await Promise.race([transport.terminateSession().catch(() => undefined), enough]);
        clearTimeout(timer);
      },
      async shutdown() {
        http.close();
      },
    },
    signal,
  );
};
