/**
 * Chooses TCP ports on the loopback interface: the preferred one where it is free, else any. Servers that need
 * several get them in one call, so that no two are the same.
 */
import { createServer, type Server } from 'node:net';

/**
 * @param preferred one entry for each port that is needed; undefined stands for "any".
 * @returns as many ports, all different, each free a moment ago. Whoever binds one must still cope with a loser's
 *   EADDRINUSE, since nothing reserves them.
 */
export async function freePorts(preferred: readonly (number | undefined)[]): Promise<number[]> {
  const held: Server[] = [];
  try {
    // Wishes first: an "any" must not be given a port that a later entry wishes for.
    const wished = await Promise.all(preferred.map((port) => (port === undefined ? undefined : hold(port))));
    const ports: number[] = [];
    for (const server of wished) {
      const chosen = server ?? (await hold(0));
      if (!chosen) throw new Error('the operating system has no free port');
      held.push(chosen);
      ports.push(portOf(chosen));
    }
    return ports;
  } finally {
    await Promise.all(held.map((server) => new Promise((closed) => server.close(closed))));
  }
}

/** The one-port form of `freePorts`. */
export async function freePort(preferred?: number): Promise<number> {
  const [port] = await freePorts([preferred]);
  return port ?? 0;
}

/** Binds a port, or gives undefined when that is refused for any reason (taken, or privileged). */
function hold(port: number): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}
