/**
 * Reads a bundle from the folder that was reviewed. A file that is missing, or one more than expected, refuses it:
 * a misspelt permits file must not pass for a policy without permits.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '../domain/json.js';
import { readStrict, StrictJsonError } from '../proof/strictJson.js';
import { type BundleError, invalidBundle, parseBundle } from './bundle.js';
import type { PolicyBundle } from './port.js';

const MEMBERS = ['audiences', 'tools', 'permits'] as const;
const LIMITS = { maxDepth: 16, maxBytes: 16_777_216 };

/**
 * @param folder holds audiences.json, tools.json and permits.json, each an object with the one member of its name
 * @throws CatalogError BAD_REQUEST/INVALID_BUNDLE with details.errors: {file, pointer, reason}[]
 */
export const readBundle = async (folder: string): Promise<PolicyBundle> => {
  const names = await readdir(folder).catch(() => {
    throw invalidBundle([{ file: folder, pointer: '', reason: 'the folder cannot be read' }]);
  });
  const errors: BundleError[] = names
    .filter((name) => name.endsWith('.json') && !MEMBERS.some((member) => name === `${member}.json`))
    .map((file) => ({ file, pointer: '', reason: 'a bundle has no such file' }));
  const members: Record<string, JsonValue> = {};
  for (const member of MEMBERS) {
    const file = `${member}.json`;
    const read = names.includes(file)
      ? await readMember(join(folder, file), member)
      : { reason: 'the file is missing', pointer: '' };
    if ('value' in read) members[member] = read.value;
    else errors.push({ file, ...read });
  }
  if (errors.length > 0) throw invalidBundle(errors);
  return parseBundle(members);
};

type Read = { readonly value: JsonValue } | Omit<BundleError, 'file'>;

const readMember = async (path: string, member: string): Promise<Read> => {
  try {
    const { value } = readStrict(await readFile(path), LIMITS);
    const [only, ...more] = isJsonObject(value) ? Object.entries(value) : [];
    return only?.[0] === member && more.length === 0
      ? { value: only[1] }
      : { pointer: '', reason: `an object with the one member "${member}"` };
  } catch (error) {
    if (error instanceof StrictJsonError)
      return {
        pointer: error.pointer,
        reason: `not strict JSON: ${error.reason} at offset ${error.offset}`,
      };
    return { pointer: '', reason: 'the file cannot be read' };
  }
};
