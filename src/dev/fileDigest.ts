/**
 * Compares a file with the digest that is pinned for it. Nothing that was brought from elsewhere is opened or run
 * before this has passed.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** @returns the sha256 of the file's bytes, in hex. Reads it in pieces of a megabyte. */
export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/** @throws Error naming both digests unless the file has the pinned one; also when none is pinned. */
export async function checkDigest(path: string, name: string, pinned: string | undefined): Promise<void> {
  if (pinned === undefined) throw new Error(`no digest is pinned for ${name}`);
  const found = await fileDigest(path);
  if (found !== pinned) throw new Error(`${name} has sha256 ${found}, pinned is ${pinned}`);
}
