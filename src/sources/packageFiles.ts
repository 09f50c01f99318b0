/** D8: where no lock pins a package, its own code is digested, as it is on the disk, within bounds. */
import { readdir, readlink, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Digest } from '../domain/ids.js';
import { digestJson } from '../proof/digest.js';
import { fileDigest } from './fileDigest.js';
import { SourceFault } from './source.js';

/** What a server may write beside its code (a database, a log) is none of it. */
const CODE = new Set('.js .mjs .cjs .ts .mts .cts .jsx .tsx .node .wasm .py .rb .sh'.split(' '));
const MAX_ENTRIES = 100_000;
const MAX_BYTES = 256 * 1024 * 1024;

export const isCode = (file: string): boolean => CODE.has(extname(file));

/**
 * Digest over path and bytes of each code file below a folder, and of its package.json files.
 * @throws SourceFault STDIO_REFUSED beyond the bounds
 */
export const packageFiles = async (root: string): Promise<Digest> => {
  const parts: [path: string, what: string][] = [];
  let bytes = 0;
  let entries = 0;
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      entries++;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const full = join(root, path);
      if (entry.isDirectory() && entry.name !== '.git') await walk(path);
      // Where a link leads is recorded; it is not followed out of the folder.
      else if (entry.isSymbolicLink()) parts.push([path, `-> ${await readlink(full)}`]);
      else if (entry.isFile() && (isCode(path) || entry.name === 'package.json')) {
        bytes += (await stat(full)).size;
        if (bytes <= MAX_BYTES) parts.push([path, (await fileDigest(full)).digest]);
      }
      if (entries > MAX_ENTRIES || bytes > MAX_BYTES)
        throw new SourceFault('STDIO_REFUSED', {
          package: root,
          rule: 'no lock file pins the package, and it is too large to be digested as a whole',
          maxEntries: MAX_ENTRIES,
          maxBytes: MAX_BYTES,
        });
    }
  };
  await walk('');
  return digestJson(parts.sort(([a], [b]) => (a < b ? -1 : 1)));
};
