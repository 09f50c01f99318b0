/** Starts an MCP 2025-11-25 server as a process of its own and connects over its standard streams. */
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Secret } from '../../../domain/secret.js';
import { endpointDigest } from '../../../proof/identity.js';
import { type Artifact, artifactOf, type StartCommand } from '../../artifactDigest.js';
import { errorCode } from '../../excerpt.js';
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
  const artifact = await readArtifact({ command, args, cwd, path: env['PATH'] ?? '' });

  const tap = new ExchangeTap();
  const transport = new StdioTransport({
    tap,
    command: artifact.program.file,
    argv0: artifact.program.found,
    args,
    env,
    cwd,
    secrets,
    pageBytes: target.limits.pageBytes,
  });
  const endpoint = endpointDigest({ transport: 'stdio', command, args, cwd: target.cwd ?? null });
  const connection = await openConnection(
    {
      target,
      transport,
      tap,
      secrets,
      evidence: () => ({
        endpoint,
        spki: null,
        artifact: artifact.digest,
        address: null,
        protocolVersion: transport.protocolVersion,
        sessionScoped: true,
      }),
      session: () => null,
      ended: () => transport.fault,
      farewell: async () => undefined,
      shutdown: () => transport.close(),
    },
    signal,
  );
  // Digested before the start and looked at after it: what answers has read these files in between.
  if (await artifact.isUntouched()) return connection;
  await connection.close();
  throw new SourceFault('IDENTITY_TORN', {
    at: 'start',
    command,
    rule: 'a file changed while it was started',
  });
};

/** @throws SourceFault PROCESS_FAILED where a file is not there or cannot be read; STDIO_REFUSED */
const readArtifact = async (start: StartCommand): Promise<Artifact> => {
  const { command } = start;
  const found = await artifactOf(start).catch((error: unknown) => {
    if (error instanceof SourceFault) throw error;
    throw new SourceFault('PROCESS_FAILED', { error: errorCode(error) ?? 'UNKNOWN', command });
  });
  if (found === null) throw new SourceFault('PROCESS_FAILED', { error: 'ENOENT', command });
  return found;
};
