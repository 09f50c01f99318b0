/** Temporal is stopped, or dies, while a worker lists, and comes back with its history: the scan is not begun again (D6). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openStateFolder, type StateFolder } from '../../src/dev/stateFolder.js';
import { findTemporal } from '../../src/dev/temporalBinary.js';
import { type EmbeddedTemporal, startTemporal } from '../../src/dev/temporalServer.js';
import { packageRoot } from '../../src/packageRoot.js';
import { searchAttributeTypes } from '../../src/temporal/searchAttributes.js';
import { processesWith } from '../integration/dev/processList.js';
import { until, useDiscovery } from '../integration/discovery/discoveryStack.js';
import {
  asked,
  begin,
  expectWhole,
  NOTHING_PROMOTED,
  type PagedSource,
  pagedBySessions,
  promotions,
  sessionless,
  storedPages,
  useSessionServers,
  waitingAt,
} from './takeover.js';
import { useWorkers } from './workerProcesses.js';

let folder: StateFolder;
let temporal: EmbeddedTemporal;
const start = async (preferredPort?: number): Promise<EmbeddedTemporal> => {
  const { path } = await findTemporal({
    binDir: join(packageRoot(), '.genlock', 'bin'),
    log: () => undefined,
  });
  return await startTemporal({
    stateDir: folder.dir,
    binary: path,
    searchAttributes: searchAttributeTypes(),
    persistent: true,
    log: () => undefined,
    ...(preferredPort === undefined ? {} : { preferredPort }),
  });
};

/** A server of this file's own, which it may stop. */
const ownTemporal = async () => {
  folder = await openStateFolder(join(await mkdtemp(join(tmpdir(), 'genlock-temporal-')), 'state'));
  temporal = await start();
  return { address: temporal.address, namespace: 'default' };
};

const stack = useDiscovery({ inProcess: false, temporal: ownTemporal });
const workers = useWorkers(stack);
const sessionServer = useSessionServers();
afterAll(async () => {
  await temporal?.stop();
  await folder?.remove();
  if (folder !== undefined) await rm(dirname(folder.dir), { recursive: true, force: true });
});

const END = {
  stopped: () => temporal.stop(),
  /** It has no chance to write anything down, or to say goodbye. */
  killed: async () => {
    // Its guard has the same words on its own command line, after a shell's.
    const [server, ...others] = processesWith(join(folder.dir, 'temporal.db')).filter(
      ({ command }) => !command.startsWith('/bin/sh'),
    );
    if (server === undefined || others.length > 0) throw new Error('not one process is the server');
    process.kill(server.pid, 'SIGKILL');
    await temporal.stop();
  },
} as const;

const comesBack = async (): Promise<void> => {
  temporal = await start(Number(stack.temporal.address.split(':')[1]));
  expect(temporal.address).toBe(stack.temporal.address);
};

describe('D6 Temporal is restarted in mid-scan', () => {
  test.each<[keyof typeof END, string, () => Promise<PagedSource>]>([
    ['stopped', 'without sessions', () => sessionless(stack)],
    ['killed', 'with a session', async () => pagedBySessions(await sessionServer())],
  ])(
    'D6 %s, while a source %s is listed: it is listed to its end meanwhile, and promoted once Temporal is back',
    async (how, _kind, serve) => {
      const source = await serve();
      const worker = await workers.survivor();
      source.hold(2);
      const { key, runId, scan } = await begin(stack, source);
      await waitingAt(source);
      await END[how]();
      source.release();
      // Postgres holds the truth of the pages: the worker needs nobody's leave to go on with its claim.
      await until(async () => (await storedPages(stack, key, scan)).length === 5);
      expect(await promotions(stack, key)).toEqual(NOTHING_PROMOTED);
      await comesBack();
      await expectWhole(stack, key, runId, Array(5).fill(worker.name));
      expect(asked(source)).toMatch(/^0+1+2+3+4+0+$/);
    },
  );

  test('D6 killed, and its worker as well: another goes on from the last stored page', async () => {
    const source = await sessionless(stack);
    const first = await workers.survivor();
    source.hold(2);
    const { key, runId } = await begin(stack, source);
    await waitingAt(source);
    await END.killed();
    await workers.end(first, 'SIGKILL');
    source.release();
    await comesBack();
    const second = await workers.start();
    await expectWhole(
      stack,
      key,
      runId,
      [first, first, second, second, second].map(({ name }) => name),
    );
    expect(asked(source)).toMatch(/^0+1+22+3+4+0+$/);
  });
});
