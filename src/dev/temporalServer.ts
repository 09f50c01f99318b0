/**
 * Temporal's own development server with its web interface, on loopback, stopped with this process.
 * A worker's Runtime in the same process swallows SIGINT and SIGTERM unless installed with `shutdownSignals: []`;
 * whoever wants to stop things in order on those signals has to do that.
 */
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { CatalogError } from '../domain/errors.js';
import { freePorts } from './freePort.js';
import { type GuardedProcess, launchGuarded } from './processGuard.js';

/** temporal.api.enums.v1.IndexedValueType. */
const ATTRIBUTE_TYPES = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
} as const;

export interface SearchAttribute {
  readonly name: string;
  readonly type: keyof typeof ATTRIBUTE_TYPES;
}

export interface TemporalOptions {
  /** Absolute path of a folder that this process holds (openStateFolder). */
  readonly stateDir: string;
  /** Path of Temporal's program (findTemporal). */
  readonly binary: string;
  /** For gRPC; taken if free. */
  readonly preferredPort?: number;
  /** For the web interface; taken if free. */
  readonly preferredUiPort?: number;
  /** Registered in the namespace `default`, at a later start too. */
  readonly searchAttributes: readonly SearchAttribute[];
  /** Keeps workflows in `stateDir`; else they are gone with the server. */
  readonly persistent: boolean;
  readonly log: (line: string) => void;
}

export interface EmbeddedTemporal {
  /** host:port of the gRPC service. */
  readonly address: string;
  readonly uiUrl: string;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const PORT_TRIES = 3;
/** The polls of a frozen worker end soon, and short timers are not rounded up. */
const DYNAMIC_CONFIG = [
  'frontend.keepAliveTime="1s"',
  'frontend.keepAliveTimeout="1s"',
  'history.timerProcessorMaxTimeShift="10ms"',
  // The server asks nobody whether there is a newer one.
  'frontend.enableServerVersionCheck=false',
];

/**
 * @throws CatalogError CONFIG_INVALID/EMBEDDED_TEMPORAL with the server's last lines when it does not come up.
 */
export async function startTemporal(options: TemporalOptions): Promise<EmbeddedTemporal> {
  let wishes = [options.preferredPort, options.preferredUiPort];
  for (let tries = 1; ; tries++) {
    const [port = 0, uiPort = 0] = await freePorts(wishes);
    const address = `127.0.0.1:${port}`;
    const uiUrl = `http://127.0.0.1:${uiPort}`;
    let isStopping = false;
    const server = await launch(options, port, uiPort, (line) => {
      // What it says while it ends is about connections that it cut itself.
      if (!isStopping) options.log(line);
    });
    if (await answers(server, address, uiUrl, options.searchAttributes)) {
      tellPort(options.log, 'Temporal', options.preferredPort, port);
      tellPort(options.log, "Temporal's web interface", options.preferredUiPort, uiPort);
      const stop = (): Promise<void> => {
        isStopping = true;
        return server.stop();
      };
      return { address, uiUrl, stop };
    }
    await server.stop();
    const said = server.tail();
    const portLost = said.some((line) => /address already in use|can't set .*port/i.test(line));
    if (!portLost || tries === PORT_TRIES) {
      throw new CatalogError('CONFIG_INVALID', 'EMBEDDED_TEMPORAL', {
        said,
        remedy: 'See the lines of the server; or set TEMPORAL_ADDRESS to a Temporal server of your own.',
      });
    }
    wishes = [undefined, undefined];
  }
}

function launch(
  options: TemporalOptions,
  port: number,
  uiPort: number,
  onLine: (line: string) => void,
): Promise<GuardedProcess> {
  const { stateDir, binary, persistent } = options;
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', `${port}`];
  args.push('--ui-ip', '127.0.0.1', '--ui-port', `${uiPort}`, '--ui-disable-news-fetch');
  args.push('--log-level', 'error', '--disable-config-file', '--disable-config-env');
  if (persistent) args.push('--db-filename', join(stateDir, 'temporal.db'));
  for (const value of DYNAMIC_CONFIG) args.push('--dynamic-config-value', value);
  return launchGuarded(binary, args, {
    // The caller's own Temporal settings must not reach it.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: stateDir },
    // A graceful end takes a second, and serves only the file.
    stopSignal: persistent ? 'SIGTERM' : 'SIGKILL',
    onLine,
  });
}

/** Waits until gRPC, the namespace with its attributes and the web interface answer. False: it ended, or never did. */
async function answers(
  server: GuardedProcess,
  address: string,
  uiUrl: string,
  wanted: readonly SearchAttribute[],
): Promise<boolean> {
  for (const end = Date.now() + START_LIMIT_MS; Date.now() < end; ) {
    if (server.exitCode() !== undefined) return false;
    try {
      // A gRPC client that is refused once waits a second; a bare connection asks again at once.
      await reachTcp(address);
      const connection = await Connection.connect({ address, connectTimeout: '2s' });
      try {
        await connection.withDeadline(Date.now() + 5_000, () => register(connection, wanted));
        const page = await fetch(uiUrl, { signal: AbortSignal.timeout(2_000) });
        await page.body?.cancel();
        if (page.ok) return server.exitCode() === undefined;
      } finally {
        await connection.close();
      }
    } catch {
      // Not yet.
    }
    await Promise.race([pause(20), server.exited]);
  }
  return false;
}

/**
 * Waits for the namespace and registers what it lacks. The server's own flag for this does nothing on a database
 * that exists already, and a start with an unregistered attribute fails.
 */
async function register(connection: Connection, wanted: readonly SearchAttribute[]): Promise<void> {
  const { operatorService } = connection;
  const known = (await operatorService.listSearchAttributes({ namespace: 'default' })).customAttributes ?? {};
  const missing = wanted.filter(({ name }) => !(name in known));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, ATTRIBUTE_TYPES[type]]));
  await operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });
}

function reachTcp(address: string): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((reached, failed) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.destroy();
      reached();
    });
    socket.once('error', failed);
  });
}

function tellPort(
  log: (line: string) => void,
  what: string,
  preferred: number | undefined,
  port: number,
): void {
  if (preferred !== undefined && preferred !== port)
    log(`Port ${preferred} is taken; ${what} listens on ${port}.`);
}
