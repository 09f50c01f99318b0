/**
 * `npm run docs:screenshots`: brings up a stack of its own, brings discoveries to the states that an operator meets, and
 * takes the pictures of docs/img from Temporal's own web interface. Nothing of what they show is drawn by hand.
 */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../src/packageRoot.js';
import type { StartedDiscovery } from '../src/temporal/discoveryControl.js';
import { CHROMIUM_MISSING, hasChromium, startBrowser } from './takeScreenshots/browser.js';
import { type Scenes, setScenes } from './takeScreenshots/scenes.js';

/** A picture in a README must load at once. */
const MAX_BYTES = 300_000;

interface Picture {
  readonly file: string;
  readonly path: string;
  /** Texts that stand on the page once it has all been drawn. */
  readonly expect: readonly string[];
  readonly height: number;
}

const pictures = ({ running, finished, failed }: Scenes): readonly Picture[] => {
  const run = ({ workflowId, runId }: StartedDiscovery, tab: string): string =>
    `workflows/${encodeURIComponent(workflowId)}/${encodeURIComponent(runId)}/${tab}`;
  return [
    {
      file: 'temporal-list.png',
      path: 'workflows',
      expect: ['GenlockReason', 'DISCOVERING', 'DUPLICATE_KEY', 'UNREACHABLE', 'UNCHANGED', 'PROMOTED'],
      height: 600,
    },
    {
      file: 'temporal-running.png',
      path: run(running, 'user-metadata'),
      expect: ['Step 1 of 5', 'Pending Activities'],
      height: 930,
    },
    {
      file: 'temporal-progress.png',
      path: run(running, 'pending-activities'),
      expect: ['Heartbeat Details', '"worker-1"'],
      height: 640,
    },
    {
      file: 'temporal-finished.png',
      path: run(finished, 'timeline'),
      expect: ['"PROMOTED"', 'promote • make generation 1 active'],
      height: 940,
    },
    {
      file: 'temporal-failed.png',
      path: run(failed, 'user-metadata'),
      expect: ['INCOMPLETE: DUPLICATE_KEY', 'Meanwhile:'],
      height: 960,
    },
  ];
};

const takeScreenshots = async (log: (line: string) => void): Promise<void> => {
  const folder = join(packageRoot(), 'docs', 'img');
  await mkdir(folder, { recursive: true });
  const scenes = await setScenes(log);
  try {
    const browser = await startBrowser(scenes.namespace);
    try {
      for (const { file, path, expect, height } of pictures(scenes)) {
        const url = `${scenes.uiUrl}/namespaces/${encodeURIComponent(scenes.namespace)}/${path}`;
        const to = join(folder, file);
        await browser.shoot(url, { to, expect, height });
        const { size } = await stat(to);
        log(`docs/img/${file}: ${Math.round(size / 1_024)} kB`);
        if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_BYTES}.`);
      }
    } finally {
      await browser.close();
    }
  } finally {
    await scenes.stop();
  }
};

const main = async (): Promise<number> => {
  if (!(await hasChromium())) {
    console.error(CHROMIUM_MISSING);
    return 1;
  }
  await takeScreenshots((line) => console.log(line));
  return 0;
};

// The SDK's native core can keep the process alive after all is stopped, so the end is explicit.
process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }),
);
