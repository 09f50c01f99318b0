/**
 * The folder that one embedded stack keeps everything in, held by one stack at a time.
 * What had to be placed elsewhere for root (see postgresHome.ts) is noted here and removed with it.
 */
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CatalogError } from '../domain/errors.js';
import { removePostgresHome } from './postgresHome.js';
import { lockStack } from './stackLock.js';

export interface StateFolder {
  /** Absolute path. */
  readonly dir: string;
  /** Lets another stack use the folder. Everything that was started on it must have been stopped. */
  release(): Promise<void>;
  /** Deletes the folder and all that belongs to it, for a stack that was meant for one run only. */
  remove(): Promise<void>;
}

/**
 * Creates a folder and those above it. Node's own recursive mkdir never ends where the system says of a folder that is
 * there that nothing can be found in it, as /proc does.
 * @throws the system's error
 */
const makeFolders = async (path: string): Promise<void> => {
  const above = dirname(path);
  try {
    await makeFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    await makeFolders(above);
    await makeFolder(path);
  }
};

const makeFolder = (path: string): Promise<void> =>
  mkdir(path).catch(async (error: NodeJS.ErrnoException) => {
    // Most are there already; what is no folder stays an error.
    const isThere = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isThere) throw error;
  });

/**
 * Creates the folder if need be, private to this user, and takes its lock.
 *
 * @throws CatalogError CONFIG_INVALID/STATE_FOLDER when it cannot be made or written, CONFIG_INVALID/STACK_RUNNING
 *   while another process uses it. The lock of a dead process is taken over.
 */
export async function openStateFolder(path: string): Promise<StateFolder> {
  const dir = resolve(path);
  return orFolderError(dir, async () => {
    await makeFolders(dir);
    await chmod(dir, 0o700);
    const lock = await lockStack(dir);
    return {
      dir,
      release: () => lock.release(),
      async remove() {
        await removePostgresHome(dir);
        await rm(dir, { recursive: true, force: true });
      },
    };
  });
}

/** A folder that nobody used before, of a name that begins with `prefix`. @throws as openStateFolder does */
export async function openFreshStateFolder(above: string, prefix: string): Promise<StateFolder> {
  const parent = resolve(above);
  const dir = await orFolderError(parent, async () => {
    await makeFolders(parent);
    return mkdtemp(join(parent, prefix));
  });
  return openStateFolder(dir);
}

const orFolderError = async <T>(folder: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CatalogError) throw error;
    throw new CatalogError(
      'CONFIG_INVALID',
      'STATE_FOLDER',
      {
        folder,
        why: (error as NodeJS.ErrnoException).code ?? 'unknown',
        remedy:
          'Give a folder that this user can create and write, or delete the one that another user left.',
      },
      { cause: error },
    );
  }
};
