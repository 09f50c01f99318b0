/**
 * Reads a credential from the folder that the administrator made for one tenant. A link may lead about within that
 * folder, as mounted secrets do, and never out of it; a pipe or a huge file is not read at all.
 */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { TenantId } from '../domain/ids.js';

const MAX_BYTES = 65_536;

/** `rule` says, without any content, why there is no text. */
export type CredentialText = { readonly text: string } | { readonly rule: string };

/**
 * @param folder GENLOCK_CREDENTIALS_DIR; it has a folder for each tenant
 * @param path as credentialPlace gave it: relative, without `.` and `..`
 */
export const readCredentialFile = async (
  folder: string | undefined,
  tenant: TenantId,
  path: string,
): Promise<CredentialText> => {
  if (folder === undefined) return { rule: 'the worker has no GENLOCK_CREDENTIALS_DIR' };
  try {
    const own = await realpath(join(folder, tenant));
    const file = await realpath(join(own, path));
    if (!file.startsWith(`${own}${sep}`)) return { rule: "the file leads out of the tenant's folder" };
    return await readRegular(file);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { rule: `the file cannot be read (${code})` };
  }
};

const readRegular = async (file: string): Promise<CredentialText> => {
  // NONBLOCK: opening a pipe would wait for its writer. NOFOLLOW: the path was resolved, a new link is none of ours.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) return { rule: 'it is not a regular file' };
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (length > MAX_BYTES) return { rule: `the file is larger than ${MAX_BYTES} bytes` };
      if (bytesRead === 0) return { text: buffer.toString('utf8', 0, length) };
    }
  } finally {
    await handle.close();
  }
};
