/**
 * D8: the package that a stdio server's script belongs to, as its lock file pins it: the package and everything that
 * it depends on, by integrity. Read from the disk; nothing is asked of a registry.
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Digest } from '../domain/ids.js';
import { isJsonObject, isString, type JsonObject, type JsonValue, member } from '../domain/json.js';
import { digestJson, sha256Bytes } from '../proof/digest.js';
import { packageFiles } from './packageFiles.js';

export type PackageEvidence = {
  readonly name: string | null;
  readonly version: string | null;
  /** What pins it: its closure in a lock of npm, the whole lock of another manager, or its own files. */
  readonly by: 'npm-lock' | 'lock-file' | 'files';
  readonly digest: Digest;
};

/** A lock of ten thousand packages has about 5 MB. */
const LOCK_BYTES = 64 * 1024 * 1024;
const MODULES = '/node_modules/';
/** Of npm, the tree that is installed before the one that was asked for. */
const NPM_LOCKS = ['node_modules/.package-lock.json', 'package-lock.json', 'npm-shrinkwrap.json'];
const OTHER_LOCKS = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock'];

const readBounded = async (file: string): Promise<Buffer | null> => {
  try {
    const found = await stat(file);
    return found.isFile() && found.size <= LOCK_BYTES ? await readFile(file) : null;
  } catch {
    return null;
  }
};

const readObject = async (file: string): Promise<JsonObject | null> => {
  const bytes = await readBounded(file);
  if (bytes === null) return null;
  try {
    const value = JSON.parse(bytes.toString('utf8')) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
};

const folders = (from: string): readonly string[] => {
  const up = dirname(from);
  return up === from ? [from] : [from, ...folders(up)];
};

const stringOf = (value: JsonValue | undefined): string | null => (isString(value) ? value : null);
const objectOf = (value: JsonValue | undefined): JsonObject | null => (isJsonObject(value) ? value : null);

/** Names of what is loaded at run time. What is missing from the lock was not installed. */
const dependenciesOf = (manifest: JsonObject): readonly string[] =>
  ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((group) =>
    Object.keys(objectOf(member(manifest, group)) ?? {}),
  );

/** The place in the lock that Node.js would load a package from, asked for from `place`. */
const resolveName = (packages: JsonObject, place: string, name: string): string | null => {
  for (let base = place; ; base = base.includes('/') ? dirname(base) : '') {
    const candidate = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (Object.hasOwn(packages, candidate)) return candidate;
    if (base === '') return null;
  }
};

/** Every package that one place reaches, with what pins it. */
const closure = (packages: JsonObject, start: string, manifest: JsonObject): JsonValue => {
  const found = new Map<string, JsonValue>();
  const queue = [{ place: start, entry: objectOf(member(packages, start)) ?? manifest }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { place, entry } = next;
    if (found.has(place)) continue;
    const pin = member(entry, 'integrity') ?? member(entry, 'resolved') ?? null;
    found.set(place, [place, member(entry, 'version') ?? null, pin]);
    const link = member(entry, 'link') === true ? stringOf(member(entry, 'resolved')) : null;
    const reached = dependenciesOf(entry).map((name) => resolveName(packages, place, name));
    for (const target of [link, ...reached]) {
      const to = target === null ? null : objectOf(member(packages, target));
      if (target !== null && to !== null) queue.push({ place: target, entry: to });
    }
  }
  return [...found.values()].sort((a, b) => (String(a) < String(b) ? -1 : 1));
};

/** @returns the digest of what the nearest lock that knows the package says of it, or null */
const lockedAs = async (
  folder: string,
  manifest: JsonObject,
): Promise<Pick<PackageEvidence, 'by' | 'digest'> | null> => {
  // What a package brings along in its own folder does not say what was installed.
  const installed = folder.indexOf(MODULES);
  const start = installed === -1 ? folder : folder.slice(0, installed);
  for (const root of folders(start)) {
    const place = relative(root, folder);
    for (const name of NPM_LOCKS) {
      const packages = objectOf(member((await readObject(join(root, name))) ?? {}, 'packages'));
      if (packages === null || (place !== '' && !Object.hasOwn(packages, place))) continue;
      return { by: 'npm-lock', digest: digestJson(closure(packages, place, manifest)) };
    }
    if (root !== start) continue;
    for (const name of OTHER_LOCKS) {
      const bytes = await readBounded(join(root, name));
      if (bytes !== null) return { by: 'lock-file', digest: sha256Bytes(bytes) };
    }
  }
  return null;
};

/**
 * @param file the real path of a script or program
 * @returns null where it belongs to no package
 * @throws SourceFault STDIO_REFUSED where nothing locks the package and it is too large to digest as a whole
 */
export const packageOf = async (file: string): Promise<PackageEvidence | null> => {
  for (const folder of folders(dirname(file))) {
    const manifest = await readObject(join(folder, 'package.json'));
    // A manifest that only says how modules are read is no package of its own.
    if (manifest === null || !['name', 'version', 'dependencies'].some((key) => Object.hasOwn(manifest, key)))
      continue;
    const locked = await lockedAs(folder, manifest);
    return {
      name: stringOf(member(manifest, 'name')),
      version: stringOf(member(manifest, 'version')),
      ...(locked ?? { by: 'files', digest: await packageFiles(folder) }),
    };
  }
  return null;
};
