/** `genlock start`: keeps a stack up with the example servers registered, until Ctrl-C. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { explain } from '../cli/explain.js';
import { devConfig, environment } from '../config.js';
import { everythingRegistration, inventoryRegistration, startInventory } from './exampleServers.js';
import { publishExamples } from './exampleTenant.js';
import { freePort } from './freePort.js';
import { type StackPorts, startStack } from './stack.js';
import { openStateFolder } from './stateFolder.js';

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

/** @returns the exit code once everything is stopped again */
export const runStart = async (): Promise<number> => {
  const config = devConfig(environment());
  const out = (line: string): void => void process.stdout.write(`${line}\n`);
  const folder = await openStateFolder(join(config.stateDir, 'start'));
  let stop = (): Promise<void> => folder.release();
  const ended = new Promise<void>((end) => {
    let asked = false;
    const onSignal = (): void => {
      if (asked) process.exit(130);
      asked = true;
      out('\nStopping.');
      end();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });

  const serve = async (): Promise<void> => {
    const stack = await startStack({
      config,
      stateDir: folder.dir,
      binDir: resolve(config.stateDir, 'bin'),
      ports: PORTS,
      persistent: true,
      log: out,
      programLog: (program, line) => out(`[${program}] ${line}`),
    });
    stop = async () => {
      await stack.stop();
      await folder.release();
    };
    await Promise.all([stack.startApi(), ...WORKERS.map((name) => stack.startWorker(name))]);
    const inventoryState = join(folder.dir, 'inventory-mcp');
    await mkdir(inventoryState, { recursive: true });
    const inventory = await startInventory({ state: inventoryState, port: await freePort(INVENTORY_PORT) });
    const stopStack = stop;
    stop = async () => {
      await inventory.stop();
      await stopStack();
    };
    await publishExamples(stack, [
      inventoryRegistration('inventory', 'inventory', inventory.url, REFRESH_SECONDS),
      everythingRegistration(REFRESH_SECONDS),
    ]);
    out(
      upText({
        apiUrl: stack.apiUrl,
        temporal: stack.temporal,
        tokenUrl: stack.issuer.tokenUrl,
        inventory,
        state: folder.dir,
      }),
    );
  };
  const serving = serve();
  try {
    await Promise.race([serving, ended]);
    await ended;
    return 0;
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    return 1;
  } finally {
    // A signal during the start lets it come to its end first, so that everything it started is known.
    await serving.catch(() => {});
    await stop();
  }
};
