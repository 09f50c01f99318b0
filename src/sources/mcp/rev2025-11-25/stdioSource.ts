/** Starts an MCP 2025-11-25 server as a process of its own and connects over its standard streams. */
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Secret } from '../../../domain/secret.js';
import { endpointDigest } from '../../../proof/identity.js';
import { artifactDigest } from '../../artifactDigest.js';
import { type SourceConnection, SourceFault, type StdioTarget } from '../../source.js';
import { ExchangeTap } from '../exchange.js';
import { openConnection } from './connection.js';
import { StdioTransport } from './stdioTransport.js';

/** @throws SourceFault; or `signal.reason` where the caller aborted */
export const connectStdio = async (target: StdioTarget, signal: AbortSignal): Promise<SourceConnection> => {
  signal.throwIfAborted();
  const secrets: string[] = [];
  const env: Record<string, string> = getDefaultEnvironment();
  for (const [name, value] of Object.entries(target.env ?? {})) {
    if (value instanceof Secret) secrets.push(value.reveal());
    env[name] = value instanceof Secret ? value.reveal() : value;
  }
  const cwd = target.cwd ?? process.cwd();
  const { command, args } = target;
  // Taken before the start: what runs is then at worst newer than what was digested, and the next scan sees it.
  const artifact = await artifactDigest({ command, args, cwd, path: env['PATH'] ?? '' });
  if (artifact === null) throw new SourceFault('PROCESS_FAILED', { error: 'ENOENT', command });

  const tap = new ExchangeTap();
  const transport = new StdioTransport({
    tap,
    command,
    args,
    env,
    cwd,
    secrets,
    pageBytes: target.limits.pageBytes,
  });
  const endpoint = endpointDigest({ transport: 'stdio', command, args, cwd: target.cwd ?? null });
  return await openConnection(
    {
      target,
      transport,
      tap,
      secrets,
      evidence: () => ({
        endpoint,
        spki: null,
        artifact,
        address: null,
        protocolVersion: transport.protocolVersion,
        sessionScoped: true,
      }),
      ended: () => transport.fault,
      farewell: async () => undefined,
      shutdown: () => transport.close(),
    },
    signal,
  );
};
