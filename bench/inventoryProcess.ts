/** The example server as a process of its own, so that its work is never counted as the worker's. */
import { join } from 'node:path';
import { type ReadyProcess, startReadyProcess } from '../src/dev/readyProcess.js';
import { packageRoot } from '../src/packageRoot.js';

export const PAGE_SIZE = 100;

/** @param state the folder of its revision and stock */
export const startInventory = (state: string, tools: number): Promise<ReadyProcess> =>
  startReadyProcess({
    name: 'inventory-mcp',
    command: process.execPath,
    args: [
      join(packageRoot(), 'dist', 'examples', 'inventory-mcp', 'main.js'),
      ...['--state', state, '--tools', String(tools), '--page-size', String(PAGE_SIZE)],
    ],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
