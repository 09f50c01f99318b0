/** The digest of a file's bytes, with the state of the file that they were read from. */
import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import type { Digest } from '../domain/ids.js';

/** Digests by file state, so that a large executable is read once. */
const known = new Map<string, Digest>();
const KNOWN_LIMIT = 20_000;

export interface DigestedFile {
  readonly file: string;
  readonly digest: Digest;
  /** Device, inode, size and times. A change that keeps all of them is beyond what a stat can see. */
  readonly state: string;
}

const stateOf = (of: { dev: bigint; ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint }): string =>
  [of.dev, of.ino, of.size, of.mtimeNs, of.ctimeNs].join(':');

/** State and bytes are those of one opened file: a path that is given to another one meanwhile mixes nothing. */
export const fileDigest = async (file: string): Promise<DigestedFile> => {
  const handle = await open(file);
  try {
    const state = stateOf(await handle.stat({ bigint: true }));
    const before = known.get(state);
    if (before !== undefined) return { file, state, digest: before };
    const hash = createHash('sha256');
    for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 })) hash.update(chunk);
    const digest = `sha256:${hash.digest('hex')}` as Digest;
    if (stateOf(await handle.stat({ bigint: true })) === state) {
      if (known.size >= KNOWN_LIMIT) known.clear();
      known.set(state, digest);
    }
    return { file, state, digest };
  } finally {
    await handle.close();
  }
};

/** Whether the path still names the very file in the very state that was digested. */
export const isUntouched = async ({ file, state }: DigestedFile): Promise<boolean> => {
  try {
    return stateOf(await stat(file, { bigint: true })) === state;
  } catch {
    return false;
  }
};
