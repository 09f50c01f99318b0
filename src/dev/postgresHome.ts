/**
 * Decides as whom Postgres runs, and from where. It refuses root; and the account it gets instead may not be able
 * to reach a project below a private folder (/root), in which case binaries and data are placed elsewhere.
 */
import {
  chmod,
  chown,
  constants,
  cp,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CatalogError } from '../domain/errors.js';
import { type Account, runGuarded } from './processGuard.js';

export interface PostgresHome {
  /** Undefined: as we are. */
  readonly account: Account | undefined;
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  /** The data directory; it may not exist yet, its parent does. */
  readonly dataDir: string;
}

/** The note in the state folder that says where the rest lies. */
const NOTE = 'postgres-home.json';
interface Note {
  /** A folder of root's that the account reaches; it always holds the programs. */
  readonly home: string;
  /** Whether it holds the data too, because the state folder itself cannot be reached. */
  readonly dataElsewhere: boolean;
}
const LIMIT_MS = 20_000;

/**
 * @param stateDir an absolute path, opened with openStateFolder.
 * @param native the installed binaries.
 * @throws CatalogError CONFIG_INVALID/EMBEDDED_POSTGRES when root has no account to run Postgres as, or no place
 *   that such an account reaches.
 */
export async function preparePostgresHome(stateDir: string, native: string): Promise<PostgresHome> {
  const dataDir = join(stateDir, 'postgres');
  if (process.getuid?.() !== 0) return { account: undefined, native, dataDir };

  const noted = await readNote(stateDir);
  const place = (home: string, dataElsewhere: boolean) => (dataElsewhere ? join(home, 'data') : dataDir);
  const dataOwner = await ownerOf(noted ? place(noted.home, noted.dataElsewhere) : dataDir);
  const account = dataOwner ?? (await postgresAccount());
  if (noted) {
    if (!noted.dataElsewhere) await letIn(account, stateDir);
    const copy = join(noted.home, 'native');
    await copyBinaries(native, copy);
    return { account, native: copy, dataDir: place(noted.home, noted.dataElsewhere) };
  }

  const dataElsewhere = !(await letIn(account, stateDir));
  const programs = [join(native, 'bin', 'postgres'), join(native, 'bin', 'initdb')];
  if (!dataElsewhere && (await reaches(account, programs))) return { account, native, dataDir };
  if (dataElsewhere && dataOwner) {
    throw failure(`The data in ${dataDir} belongs to an account that cannot reach it.`);
  }
  const home = await reachableFolder(account);
  await copyBinaries(native, join(home, 'native'));
  const note: Note = { home, dataElsewhere };
  await writeFile(join(stateDir, NOTE), JSON.stringify(note), { mode: 0o600 });
  return { account, native: join(home, 'native'), dataDir: place(home, dataElsewhere) };
}

/** Deletes what preparePostgresHome placed outside the state folder, if anything. */
export async function removePostgresHome(stateDir: string): Promise<void> {
  const noted = await readNote(stateDir);
  if (noted) await rm(noted.home, { recursive: true, force: true });
}

async function readNote(stateDir: string): Promise<Note | undefined> {
  const text = await readFile(join(stateDir, NOTE), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const note = JSON.parse(text) as Note;
  const found = await lstat(String(note.home)).catch(() => undefined);
  // Only a folder that is root's alone may hold programs that root starts.
  return found?.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0 ? note : undefined;
}

/** The account that existing data belongs to; root can serve the data of an ordinary user's stack. */
async function ownerOf(dataDir: string): Promise<Account | undefined> {
  const found = await stat(dataDir).catch(() => undefined);
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

/** The system's postgres account, created if there is none (as embedded-postgres does). */
async function postgresAccount(): Promise<Account> {
  for (let tries = 0; tries < 2; tries++) {
    for (const name of ['postgres', '_postgres']) {
      const ids = await Promise.all(
        ['-u', '-g'].map((flag) => runGuarded('id', [flag, name], { limitMs: LIMIT_MS })),
      );
      const [uid, gid] = ids.map((run) => (run.code === 0 ? Number(run.output) : 0));
      if (uid && gid) return { uid, gid };
    }
    await runGuarded('groupadd', ['postgres'], { limitMs: LIMIT_MS });
    await runGuarded('useradd', ['-g', 'postgres', 'postgres'], { limitMs: LIMIT_MS });
  }
  throw failure(
    'Postgres does not run as root, and an account named postgres can neither be found nor created.',
  );
}

/** Whether the account can pass through to all these paths, asked by trying, since modes alone do not tell. */
async function reaches(account: Account, paths: readonly string[]): Promise<boolean> {
  const script = 'for path; do test -x "$path" || exit 1; done';
  const run = await runGuarded('/bin/sh', ['-c', script, 'sh', ...paths], { account, limitMs: LIMIT_MS });
  return run.code === 0;
}

/** Lets the account, and nobody else, pass through root's private state folder. False: a folder above forbids it. */
async function letIn(account: Account, stateDir: string): Promise<boolean> {
  if ((await stat(stateDir)).uid === 0) {
    await chown(stateDir, 0, account.gid);
    await chmod(stateDir, 0o710);
  }
  return reaches(account, [stateDir]);
}

/** A new folder of root's that the account reaches; one that survives a reboot if possible. */
async function reachableFolder(account: Account): Promise<string> {
  for (const base of ['/var/lib', '/var/tmp', tmpdir()]) {
    const home = await mkdtemp(join(base, 'genlock-')).catch(() => undefined);
    if (home === undefined) continue;
    await chmod(home, 0o711);
    if (await reaches(account, [home])) return home;
    await rm(home, { recursive: true, force: true });
  }
  throw failure('The account that Postgres runs as reaches neither the project nor any temporary folder.');
}

/** Copies the programs and lets everybody read them, unless that was done before. */
async function copyBinaries(native: string, to: string): Promise<void> {
  const done = join(to, 'complete');
  const source = String((await stat(join(native, 'bin', 'postgres'))).mtimeMs);
  if ((await readFile(done, 'utf8').catch(() => '')) === source) return;
  await rm(to, { recursive: true, force: true });
  await cp(native, to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  await chmod(to, 0o755);
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    await chmod(
      join(entry.parentPath, entry.name),
      entry.isDirectory() || entry.parentPath.endsWith('bin') ? 0o755 : 0o644,
    );
  }
  await writeFile(done, source);
}

function failure(why: string): CatalogError {
  return new CatalogError('CONFIG_INVALID', 'EMBEDDED_POSTGRES', {
    why,
    remedy:
      'Run as an ordinary user, move the project to a folder that others may enter, or set DATABASE_URL.',
  });
}
