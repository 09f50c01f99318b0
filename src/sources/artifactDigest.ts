/**
 * D8: the digest of what a stdio server is started from. It covers the bytes of the executable and of the
 * script that it is given, not what those load later: pin a single-file artifact where that matters.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Digest } from '../domain/ids.js';
import { digestJson } from '../proof/digest.js';

export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Where a command without a path is looked for, as in the environment variable PATH. */
  readonly path: string;
}

/** Digests by file state. A change that keeps inode, size, and change time is beyond what a stat can see. */
const known = new Map<string, Digest>();
const KNOWN_LIMIT = 256;

const hashFile = async (file: string): Promise<Digest> => {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
  const key = [dev, ino, size, mtimeNs, ctimeNs].join(':');
  const before = known.get(key);
  if (before !== undefined) return before;
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const digest = `sha256:${hash.digest('hex')}` as Digest;
  if (known.size >= KNOWN_LIMIT) known.clear();
  known.set(key, digest);
  return digest;
};

const regularFile = async (path: string): Promise<string | null> => {
  try {
    const real = await realpath(path);
    return (await stat(real)).isFile() ? real : null;
  } catch {
    return null;
  }
};

/** @returns the real path of the executable, or null where there is none */
export const findExecutable = async ({ command, cwd, path }: StartCommand): Promise<string | null> => {
  if (isAbsolute(command) || command.includes('/') || command.includes(sep)) {
    return await regularFile(resolve(cwd, command));
  }
  for (const folder of path.split(delimiter).filter((part) => part !== '')) {
    const found = await regularFile(join(folder, command));
    if (found !== null) return found;
  }
  return null;
};

/**
 * Digest over the executable and the first argument that names a regular file, with its position.
 * @returns null where there is no executable
 */
export const artifactDigest = async (start: StartCommand): Promise<Digest | null> => {
  const executable = await findExecutable(start);
  if (executable === null) return null;
  const files: [string, Digest][] = [['command', await hashFile(executable)]];
  for (const [index, arg] of start.args.entries()) {
    const script = arg.startsWith('-') ? null : await regularFile(resolve(start.cwd, arg));
    if (script === null) continue;
    files.push([`args/${index}`, await hashFile(script)]);
    break;
  }
  return digestJson({ schema: 'stdioArtifact.v1', files });
};
