/**
 * Pictures of Temporal's own web interface, taken as an operator sees it: in Debian's Chromium, headless, with an empty
 * profile, and with nothing that asks the network for anything but the page.
 */
import { constants } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
const WIDTH = 1_280;
const PAGE_LIMIT_MS = 20_000;
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Whether the pictures can be taken on this machine. */
export const hasChromium = (): Promise<boolean> =>
  access(CHROMIUM, constants.X_OK).then(
    () => true,
    () => false,
  );

export const CHROMIUM_MISSING = `Chromium is not at ${CHROMIUM}. Install Debian's package chromium (apt-get install chromium) and run this again.`;

export interface Shot {
  readonly to: string;
  /** Texts that must stand on the page before the picture is taken. */
  readonly expect: readonly string[];
  readonly height: number;
}

export interface Browser {
  /** @throws Error naming the text that never came */
  shoot(url: string, shot: Shot): Promise<void>;
  close(): Promise<void>;
}

/** The columns of the workflow list, which docs/operating.md recommends. */
const COLUMNS = [
  'Status',
  'GenlockTenant',
  'GenlockServer',
  'GenlockAudience',
  'GenlockState',
  'GenlockReason',
  'GenlockGeneration',
];

/** What Temporal's interface keeps of an operator's choices, by its own keys: columns, and a narrow navigation. */
const choices = (namespace: string): Readonly<Record<string, string>> => ({
  'namespace-workflow-table-columns': JSON.stringify({
    [namespace]: COLUMNS.map((label) => ({ label, pinned: false })),
  }),
  navOpen: 'false',
});

export const startBrowser = async (namespace: string): Promise<Browser> => {
  const profile = await mkdtemp(join(tmpdir(), 'genlock-browser-'));
  let context: BrowserContext | undefined;
  const close = async (): Promise<void> => {
    await context?.close();
    await rm(profile, { recursive: true, force: true });
  };
  try {
    context = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM,
      args: ARGS,
      viewport: { width: WIDTH, height: 900 },
      timezoneId: 'UTC',
      locale: 'en-GB',
    });
    await context.addInitScript((kept: Readonly<Record<string, string>>) => {
      for (const [key, value] of Object.entries(kept)) localStorage.setItem(key, value);
    }, choices(namespace));
    const opened = context;
    return { shoot: (url, shot) => shoot(opened, url, shot), close };
  } catch (error) {
    await close();
    throw error;
  }
};

const shoot = async (context: BrowserContext, url: string, { to, expect, height }: Shot): Promise<void> => {
  const page = await context.newPage();
  try {
    await page.setViewportSize({ width: WIDTH, height });
    await page.goto(url);
    const end = Date.now() + PAGE_LIMIT_MS;
    for (const text of expect) {
      while (!(await shows(page, text))) {
        if (Date.now() > end) throw new Error(`The page for ${basename(to)} never showed "${text}".`);
        await pause(100);
      }
    }
    await page.screenshot({ path: to, animations: 'disabled' });
  } finally {
    await page.close();
  }
};

/** In any frame: Temporal's interface draws Markdown in one of its own. */
const shows = async (page: Page, text: string): Promise<boolean> => {
  for (const frame of page.frames()) {
    // A layout for another width may hold the same text unseen. A frame that goes away shows nothing.
    const seen = frame.getByText(text).filter({ visible: true });
    if ((await seen.count().catch(() => 0)) > 0) return true;
  }
  return false;
};
