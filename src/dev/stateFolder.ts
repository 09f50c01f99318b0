/**
 * The folder that one embedded stack keeps everything in, held by one stack at a time.
 * What had to be placed elsewhere for root (see postgresHome.ts) is noted here and removed with it.
 */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
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
 * Creates the folder if need be, private to this user, and takes its lock.
 *
 * @throws CatalogError CONFIG_INVALID/STATE_FOLDER when it cannot be made or written, CONFIG_INVALID/STACK_RUNNING
 *   while another process uses it. The lock of a dead process is taken over.
 */
export async function openStateFolder(path: string): Promise<StateFolder> {
  const dir = resolve(path);
  try {
    await mkdir(dir, { recursive: true });
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
  } catch (error) {
    if (error instanceof CatalogError) throw error;
    throw new CatalogError(
      'CONFIG_INVALID',
      'STATE_FOLDER',
      {
        folder: dir,
        why: (error as NodeJS.ErrnoException).code ?? 'unknown',
        remedy:
          'Give a folder that this user can create and write, or delete the one that another user left.',
      },
      { cause: error },
    );
  }
}
