import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePorts } from '../../../src/dev/freePort.js';
import {
  type EmbeddedTemporal,
  startTemporal,
  type TemporalOptions,
} from '../../../src/dev/temporalServer.js';
import { temporalProgram } from './temporalProgram.js';

let binary: string;
let stateDir: string;
const running: EmbeddedTemporal[] = [];

beforeAll(async () => {
  binary = await temporalProgram();
}, 400_000);
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'temporal with space '));
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await rm(stateDir, { recursive: true, force: true });
});

async function start(options: Partial<TemporalOptions> = {}): Promise<EmbeddedTemporal> {
  const base: TemporalOptions = { stateDir, binary, searchAttributes: [], persistent: false, log: () => {} };
  const server = await startTemporal({ ...base, ...options });
  running.push(server);
  return server;
}

async function attributesAt(address: string): Promise<readonly string[]> {
  const connection = await Connection.connect({ address });
  const known = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
  await connection.close();
  return Object.keys(known.customAttributes ?? {});
}

const occupy = async (port: number): Promise<Server> => {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return server;
};

describe('startTemporal', () => {
  it('answers on the preferred ports, with web interface and search attributes', async () => {
    const [preferredPort = 0, preferredUiPort = 0] = await freePorts([undefined, undefined]);
    const server = await start({
      preferredPort,
      preferredUiPort,
      searchAttributes: [
        { name: 'GenlockServer', type: 'Keyword' },
        { name: 'GenlockGeneration', type: 'Int' },
      ],
    });
    expect(server.address).toBe(`127.0.0.1:${preferredPort}`);
    expect(server.uiUrl).toBe(`http://127.0.0.1:${preferredUiPort}`);
    expect(await (await fetch(server.uiUrl)).text()).toContain('<html');
    expect(await attributesAt(server.address)).toEqual(
      expect.arrayContaining(['GenlockServer', 'GenlockGeneration']),
    );
  }, 60_000);

  it('takes other ports when the preferred ones are taken, and says so', async () => {
    const [port = 0, uiPort = 0] = await freePorts([undefined, undefined]);
    const holders = [await occupy(port), await occupy(uiPort)];
    const said: string[] = [];
    const server = await start({
      preferredPort: port,
      preferredUiPort: uiPort,
      log: (line) => said.push(line),
    });
    expect([server.address, server.uiUrl]).not.toContain(`127.0.0.1:${port}`);
    expect(said.filter((line) => line.includes('is taken'))).toHaveLength(2);
    await attributesAt(server.address);
    for (const holder of holders) holder.close();
  }, 60_000);

  it('keeps namespace settings in the folder when persistent, and adds new attributes later', async () => {
    const first = await start({
      persistent: true,
      searchAttributes: [{ name: 'GenlockServer', type: 'Keyword' }],
    });
    await first.stop();
    const second = await start({
      persistent: true,
      searchAttributes: [{ name: 'GenlockState', type: 'Keyword' }],
    });
    expect(await attributesAt(second.address)).toEqual(
      expect.arrayContaining(['GenlockServer', 'GenlockState']),
    );
  }, 60_000);

  it('tells what the server said when it does not come up', async () => {
    await expect(
      start({ stateDir: join(stateDir, 'missing', 'folder'), persistent: true }),
    ).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      reason: 'EMBEDDED_TEMPORAL',
      details: { said: expect.arrayContaining([expect.stringContaining('no such file or directory')]) },
    });
  }, 60_000);
});
