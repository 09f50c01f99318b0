/**
 * One stack per state folder, without a lock call (Node has none): lock files carry ever rising numbers and the
 * highest one counts. Creating number n+1 is atomic, so of many that find a dead holder exactly one wins.
 */
import { randomUUID } from 'node:crypto';
import { chmod, link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogError } from '../domain/errors.js';
import { processIdentity } from './processIdentity.js';

const LOCK_FILE = /^stack-(\d+)\.lock$/;
const lockName = (number: number): string => `stack-${number}.lock`;

/** What the file of the highest number says; `pid` 0 means that its holder let go. */
interface Holder {
  readonly pid: number;
  readonly identity: string;
}
const NOBODY: Holder = { pid: 0, identity: '' };

export interface StackLock {
  /** Lets go. The file stays, naming nobody, because numbers must never be used again. */
  release(): Promise<void>;
}

/**
 * @param dir an existing folder.
 * @throws CatalogError CONFIG_INVALID/STACK_RUNNING naming the pid, while the holder lives.
 */
export async function lockStack(dir: string): Promise<StackLock> {
  const me: Holder = { pid: process.pid, identity: processIdentity(process.pid) ?? 'unknown' };
  for (;;) {
    const highest = await highestNumber(dir);
    const holder = highest === 0 ? NOBODY : await readHolder(join(dir, lockName(highest)));
    // Somebody replaced the file between listing and reading: look again.
    if (holder === undefined) continue;
    if (isHeld(holder)) {
      throw new CatalogError('CONFIG_INVALID', 'STACK_RUNNING', {
        folder: dir,
        pid: holder.pid,
        remedy: `Stop process ${holder.pid}, or give this stack another state folder.`,
      });
    }
    const mine = highest + 1;
    if (!(await createLock(dir, mine, me))) continue;
    // We may have counted from a listing that was old: then a higher number is there already, and it counts.
    if ((await highestNumber(dir)) > mine) {
      await rm(join(dir, lockName(mine)), { force: true });
      continue;
    }
    await removeBelow(dir, mine);
    return { release: () => replaceLock(dir, mine, NOBODY) };
  }
}

function isHeld(holder: Holder): boolean {
  if (holder.pid <= 0) return false;
  const identity = processIdentity(holder.pid);
  return (
    identity !== undefined &&
    (identity === holder.identity || [identity, holder.identity].includes('unknown'))
  );
}

async function lockNumbers(dir: string): Promise<number[]> {
  return (await readdir(dir)).flatMap((name) => {
    const number = LOCK_FILE.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

const highestNumber = async (dir: string): Promise<number> => Math.max(0, ...(await lockNumbers(dir)));

async function removeBelow(dir: string, number: number): Promise<void> {
  for (const old of await lockNumbers(dir)) {
    if (old < number) await rm(join(dir, lockName(old)), { force: true });
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const { pid, identity } = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder>;
    return { pid: Number(pid) || 0, identity: String(identity) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    // Lock files appear whole; one that does not parse was damaged from outside and binds nobody.
    if (error instanceof SyntaxError) return NOBODY;
    throw error;
  }
}

/** Writes the file beside its place and links it there: it appears whole, and only if the number is new. */
async function createLock(dir: string, number: number, holder: Holder): Promise<boolean> {
  const draft = await writeDraft(dir, holder);
  try {
    await link(draft, join(dir, lockName(number)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function replaceLock(dir: string, number: number, holder: Holder): Promise<void> {
  await rename(await writeDraft(dir, holder), join(dir, lockName(number)));
}

async function writeDraft(dir: string, holder: Holder): Promise<string> {
  const draft = join(dir, `.lock-${randomUUID()}`);
  // Readable by all: the folder may change hands between root and an ordinary user. There is no secret in it.
  await writeFile(draft, JSON.stringify(holder), { flag: 'wx' });
  await chmod(draft, 0o644);
  return draft;
}
