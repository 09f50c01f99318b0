/**
 * Brings Temporal's program by the SDK's own download. The SDK can only download and start it in one go, inside a
 * native call that cannot be cancelled and a runtime that swallows signals: so a process of its own does it.
 */
import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { launchGuarded } from './processGuard.js';
import { TEMPORAL_VERSION } from './temporalRelease.js';

export interface SdkDownloadOptions {
  /** A folder for the program. One that holds it already is used as it is. */
  readonly to: string;
  /** How long the folder may stay as it is before the download counts as stalled, in milliseconds. */
  readonly stallMs: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Arguments: the testing package, the version, the folder. Starting the server is the price of the download. */
const SCRIPT = `
const { TestWorkflowEnvironment } = require(process.argv[1]);
const executable = { type: 'cached-download', version: process.argv[2], downloadDir: process.argv[3] };
TestWorkflowEnvironment.createLocal({ server: { executable } }).then((started) => started.teardown()).then(
  () => process.exit(0),
  (error) => { console.error(String(error.message).replaceAll('\\n', ' ')); process.exit(1); });
`;
const POLL_MS = 100;

/**
 * @returns the path of the program.
 * @throws Error saying why; within `stallMs` of the last progress in any case.
 */
export async function downloadBySdk({ to, stallMs, env }: SdkDownloadOptions): Promise<string> {
  const version = `v${TEMPORAL_VERSION}`;
  const testing = createRequire(import.meta.url).resolve('@temporalio/testing');
  const run = await launchGuarded(process.execPath, ['-e', SCRIPT, testing, version, to], {
    graceMs: 500,
    ...(env ? { env } : {}),
  });
  try {
    let size = -1;
    for (let end = Date.now() + stallMs; run.exitCode() === undefined; ) {
      const now = await sizeOf(to);
      if (now !== size) end = Date.now() + stallMs;
      size = now;
      if (Date.now() > end) throw new Error(`no progress for ${stallMs / 1000} s`);
      await Promise.race([pause(POLL_MS), run.exited]);
    }
    if (run.exitCode() !== 0) throw new Error(run.tail().at(-1) ?? 'it failed without a word');
  } finally {
    await run.stop();
  }
  return join(to, `temporal-${version}`);
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all(
    (await readdir(folder)).map((name) =>
      stat(join(folder, name)).then(
        (found) => found.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
