/** `genlock start`: keeps a stack up with the example servers registered, until Ctrl-C. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { explain } from '../cli/explain.js';
import { type DevConfig, devConfig, environment } from '../config.js';
import { everythingRegistration, inventoryRegistration, startInventory } from './exampleServers.js';
import { publishExamples } from './exampleTenant.js';
import { freePort } from './freePort.js';
import { type StackPorts, startStack, unlessAborted } from './stack.js';
import { openStateFolder, type StateFolder } from './stateFolder.js';

const PORTS: StackPorts = { postgres: 5433, temporal: 7233, temporalUi: 8233, issuer: 8081 };
const INVENTORY_PORT = 8090;
const WORKERS = ['worker-1', 'worker-2'];
const REFRESH_SECONDS = 60;

export interface Addresses {
  readonly apiUrl: string;
  /** `uiUrl` is null where somebody else's Temporal is used. */
  readonly temporal: { readonly address: string; readonly uiUrl: string | null };
  readonly tokenUrl: string;
  readonly inventory: { readonly url: string; readonly adminUrl: string };
  /** The folder that keeps the state of the stack. */
  readonly state: string;
}

/** What is said once everything is up: where each part is, and how to get a token. */
export const upText = ({ apiUrl, temporal, tokenUrl, inventory, state }: Addresses): string =>
  [
    '',
    'Genlock is up.',
    `  API            ${apiUrl}`,
    `  API docs       ${apiUrl}/docs`,
    ...(temporal.uiUrl === null ? [] : [`  Temporal UI    ${temporal.uiUrl}`]),
    `  Temporal       ${temporal.address}`,
    `  dev tokens     POST ${tokenUrl}`,
    `  inventory-mcp  ${inventory.url} (change its list: POST ${inventory.adminUrl}/admin/change)`,
    `  state          ${state}`,
    '',
    'A token of an operator of tenant demo, for an hour:',
    `  curl -s ${tokenUrl} -d '{"tenant":"demo","subject":"me","roles":["genlock-operator"]}'`,
    '',
    'Ctrl-C stops everything.',
  ].join('\n');

/** @returns the exit code once everything is stopped again; where the start did not come to its end, the process ends here */
export const runStart = async (): Promise<number> => {
  const config = devConfig(environment());
  const out = (line: string): void => void process.stdout.write(`${line}\n`);
  const stopping = new AbortController();
  const { signal } = stopping;
  const asked = new Promise<void>((ask) => signal.addEventListener('abort', () => ask()));
  const onSignal = (): void => {
    if (signal.aborted) process.exit(130);
    out('\nStopping.');
    stopping.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal);

  const folder = await openStateFolder(join(config.stateDir, 'start'));
  const undo: (() => Promise<void>)[] = [() => folder.release()];
  let isUp = false;
  // Programs whose start was given up complain of one another; that is no news.
  const say = (line: string): void => {
    if (isUp || !signal.aborted) out(line);
  };
  try {
    const addresses = await bringUp({ config, folder, undo, signal, say });
    isUp = true;
    out(upText(addresses));
    await asked;
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    process.stderr.write(`${explain(error)}\n`);
    return 1;
  } finally {
    for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end();
    // What was still coming up is known to its watchdog only, which ends it with this process.
    if (!isUp) process.exit(signal.aborted ? 0 : 1);
  }
};

interface Start {
  readonly config: DevConfig;
  readonly folder: StateFolder;
  /** Gets what stops each part that is up. */
  readonly undo: (() => Promise<void>)[];
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Each step is given up as soon as the signal is aborted. */
const bringUp = async ({ config, folder, undo, signal, say }: Start): Promise<Addresses> => {
  const stack = await startStack({
    config,
    stateDir: folder.dir,
    binDir: resolve(config.stateDir, 'bin'),
    ports: PORTS,
    persistent: true,
    log: say,
    signal,
    programLog: (program, line) => say(`[${program}] ${line}`),
  });
  undo.push(() => stack.stop());
  const programs = [stack.startApi(), ...WORKERS.map((name) => stack.startWorker(name))];
  await unlessAborted(Promise.all(programs), signal);
  const inventoryState = join(folder.dir, 'inventory-mcp');
  await mkdir(inventoryState, { recursive: true });
  const starting = startInventory({ state: inventoryState, port: await freePort(INVENTORY_PORT) });
  const inventory = await unlessAborted(starting, signal);
  undo.push(() => inventory.stop());
  const registrations = [
    inventoryRegistration('inventory', 'inventory', inventory.url, REFRESH_SECONDS),
    everythingRegistration(REFRESH_SECONDS),
  ];
  await unlessAborted(publishExamples(stack, registrations), signal);
  const { apiUrl, temporal, issuer } = stack;
  return { apiUrl, temporal, tokenUrl: issuer.tokenUrl, inventory, state: folder.dir };
};
