/** Kills the worker that holds a scan with SIGKILL while a page is under way, and watches another one finish it. */
import { join } from 'node:path';
import type { GenlockClient } from '../../client/client.js';
import { inventoryAdmin, inventoryRegistration, startInventory } from '../exampleServers.js';
import { waitFor } from '../waitFor.js';
import { endOf } from './endOfDiscovery.js';
import type { DemoResult } from './result.js';
import type { DemoSteps } from './steps.js';

const SERVER = 'slow-inventory';
const PAGE_DELAY_MS = 300;
/** The page in whose middle the worker dies, from 0: two are committed by then. */
const HELD_PAGE = 2;

export const killInMidPage = async (
  demo: DemoSteps,
  operator: GenlockClient,
): Promise<DemoResult['killed']> => {
  const { narrator, undo, stateDir, workers } = demo;
  const killing = narrator.step('A worker killed in mid-page');
  const inventory = await startInventory({ state: join(stateDir, SERVER), port: 0, delayMs: PAGE_DELAY_MS });
  undo.push(() => inventory.stop());
  const admin = inventoryAdmin(inventory.adminUrl);
  await admin.change({ op: 'hold', page: HELD_PAGE });
  await operator.registerServer(inventoryRegistration(SERVER, SERVER, inventory.url, 0));

  const held = await waitFor('a page under way with two committed', async () => {
    const [newest] = await operator.discoveries({ server: SERVER });
    if (newest === undefined || newest.pages < HELD_PAGE || (await admin.waiting()) === 0) return undefined;
    return operator.discovery(newest.id);
  });
  const holder = held.pageChain.at(-1)?.worker;
  const victim = workers.find((worker) => worker.ready['name'] === holder);
  const survivor = workers.find((worker) => worker !== victim);
  if (victim === undefined || survivor === undefined) throw new Error(`no worker is called ${holder}`);
  const committed = (await admin.listCursors()).slice(0, held.pageChain.length);
  process.kill(victim.pid, 'SIGKILL');
  await victim.exited;
  killing.update(
    `worker ${victim.pid} was killed with ${held.pageChain.length} pages committed; waiting for ${survivor.pid}`,
  );
  await admin.change({ op: 'release' });

  const end = await endOf(operator, SERVER, 1, (text) => killing.update(text));
  const { pageChain } = await operator.discovery(end.id);
  const byKilled = pageChain.filter((page) => page.worker === holder).length;
  const cursors = await admin.listCursors();
  const fetchedTwice = committed.filter(
    (cursor) => cursor !== null && cursors.filter((other) => other === cursor).length > 1,
  ).length;
  killing.done(
    `${end.state}; ${victim.pid} had stored ${byKilled} pages, ${survivor.pid} the other ${pageChain.length - byKilled}`,
  );
  return { state: end.state, pagesByWorker: [byKilled, pageChain.length - byKilled], fetchedTwice };
};
