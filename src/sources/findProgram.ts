/**
 * Which file a stdio server's command names, and what it starts in turn. What is found here is what is digested and
 * spawned: nothing looks a name up a second time.
 */
import { constants } from 'node:fs';
import { access, open, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, resolve, sep } from 'node:path';

export interface Program {
  /** Absolute, as it was found; some programs go by the name that they were started under. */
  readonly found: string;
  /** The regular file behind all symbolic links. */
  readonly file: string;
}

/** @returns the real path of a regular file, or null */
export const regularFile = async (path: string): Promise<string | null> => {
  try {
    const real = await realpath(path);
    return (await stat(real)).isFile() ? real : null;
  } catch {
    return null;
  }
};

const mayExecute = async (file: string): Promise<boolean> => {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * As execvp does: a command with a separator is a path, any other is looked for along PATH, where a file that may not be
 * executed is passed over.
 * @param at.path the PATH of the process that is started
 */
export const findProgram = async (
  command: string,
  { cwd, path }: { readonly cwd: string; readonly path: string },
): Promise<Program | null> => {
  if (command === '') return null;
  const inPath = path.split(delimiter).filter((part) => part !== '');
  const isPath = command.includes(sep);
  for (const folder of isPath ? [''] : inPath) {
    const found = resolve(cwd, folder, command);
    const file = await regularFile(found);
    if (file !== null && (isPath || (await mayExecute(file)))) return { found, file };
  }
  return null;
};

/** Longer first lines are no interpreter lines to any kernel. */
const SHEBANG_BYTES = 512;

/** @returns the words of the interpreter line, without `env` and what it sets; empty where the file has none */
export const interpreterWords = async (file: string): Promise<readonly string[]> => {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SHEBANG_BYTES), 0, SHEBANG_BYTES, 0);
    const [line = ''] = buffer.toString('latin1', 0, bytesRead).split('\n', 1);
    if (!line.startsWith('#!')) return [];
    const words = line
      .slice(2)
      .split(/\s+/)
      .filter((word) => word !== '');
    if (basename(words[0] ?? '') !== 'env') return words;
    const named = words.findIndex((word, index) => index > 0 && !word.startsWith('-') && !word.includes('='));
    return named === -1 ? [] : words.slice(named);
  } finally {
    await handle.close();
  }
};

/** Programs that look up what they run, and fetch it where it is not there: their own digest says nothing of it. */
const LAUNCHERS = new Set('npx npm pnpm pnpx yarn yarnpkg bunx corepack uv uvx pipx'.split(' '));
/** They run what their arguments say. */
const WRAPPERS = new Set('env sh bash dash ash zsh ksh busybox nice nohup timeout setsid stdbuf'.split(' '));
const CONTAINERS = new Set('docker podman nerdctl'.split(' '));
const IMAGE_BY_DIGEST = /@sha256:[0-9a-f]{64}$/;
const REMOTE_MODULE = /^(?:npm|jsr|https?):/;

/** `npx-cli.js` behind the link `npx` is npx. */
const nameOf = (path: string): string =>
  basename(path)
    .replace(/\.(?:[cm]?js|exe|cmd)$/, '')
    .replace(/-cli$/, '');

/**
 * D8: a program that may fetch what it then runs cannot be pinned by what is on the disk.
 * @param programs every spelling of what is started: as it is named, as it was found, and a script that it is given
 * @returns the name of such a program, or null
 */
export const launcherIn = (programs: readonly string[], args: readonly string[]): string | null => {
  const names = programs.map(nameOf);
  const launcher = names.find((name) => LAUNCHERS.has(name));
  if (launcher !== undefined) return launcher;
  const container = names.find((name) => CONTAINERS.has(name));
  if (container !== undefined) return args.some((arg) => IMAGE_BY_DIGEST.test(arg)) ? null : container;
  if (names.includes('bun') && args[0] === 'x') return 'bun x';
  const runtime = names.find((name) => name === 'deno' || name === 'bun');
  if (runtime !== undefined && args.some((arg) => REMOTE_MODULE.test(arg))) return runtime;
  if (!names.some((name) => WRAPPERS.has(name))) return null;
  const words = args.flatMap((arg) => arg.split(/[\s;&|()'"`]+/)).map(nameOf);
  return words.find((word) => LAUNCHERS.has(word)) ?? null;
};
