import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort, freePorts } from '../../../src/dev/freePort.js';

const open: ReturnType<typeof createServer>[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => new Promise((closed) => server.close(closed)))));

async function occupy(host: string): Promise<number> {
  const server = createServer();
  open.push(server);
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return address.port;
}

describe('freePorts', () => {
  it('gives the preferred port when it is free', async () => {
    const free = await freePort();
    expect(await freePort(free)).toBe(free);
  });

  it.each(['127.0.0.1', '0.0.0.0'])('gives another port when %s holds the preferred one', async (host) => {
    const taken = await occupy(host);
    const port = await freePort(taken);
    expect(port).not.toBe(taken);
    expect(port).toBeGreaterThan(0);
  });

  it('gives different ports, also to two that wish for the same', async () => {
    const free = await freePort();
    const ports = await freePorts([undefined, free, free, undefined]);
    expect(ports).toContain(free);
    expect(new Set(ports).size).toBe(4);
  });

  it('lets go of what it tried', async () => {
    const [port] = await freePorts([undefined]);
    expect(await freePorts([port])).toEqual([port]);
  });
});
