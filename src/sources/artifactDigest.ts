/**
 * D8: what a stdio server is started from, as one digest: the executable, the interpreter that it names, the scripts
 * that it is given, and the package of the script as its lock pins it. What a lock pins is not read again file by file.
 */
import { resolve } from 'node:path';
import type { Digest } from '../domain/ids.js';
import { digestJson } from '../proof/digest.js';
import { type DigestedFile, fileDigest, isUntouched } from './fileDigest.js';
import { findProgram, interpreterWords, launcherIn, type Program, regularFile } from './findProgram.js';
import { packageOf } from './packageDigest.js';
import { isCode } from './packageFiles.js';
import { SourceFault } from './source.js';

export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Where a command without a path is looked for, as in the environment variable PATH. */
  readonly path: string;
}

export interface Artifact {
  /** What is to be spawned: the very file that was digested. */
  readonly program: Program;
  readonly digest: Digest;
  /** Whether every file that was digested is still what it was: true after the start, that very artifact runs. */
  isUntouched(): Promise<boolean>;
}

/**
 * The first argument that names a file is what an interpreter runs; each further one that is code, also behind an
 * option (`--import=./hook.mjs`), is loaded too.
 */
const scriptsOf = async ({ args, cwd }: StartCommand): Promise<readonly [where: string, file: string][]> => {
  const scripts: [string, string][] = [];
  let first = true;
  for (const [index, arg] of args.entries()) {
    const isOption = arg.startsWith('-');
    const named = isOption ? arg.slice(arg.indexOf('=') + 1) : arg;
    const file = isOption && named === arg ? null : await regularFile(resolve(cwd, named));
    if (file === null || !(isCode(named) || isCode(file) || (first && !isOption))) continue;
    scripts.push([`args/${index}`, file]);
    if (!isOption) first = false;
  }
  return scripts;
};

/**
 * @returns null where there is no executable
 * @throws SourceFault STDIO_REFUSED where what would run cannot be pinned: by a launcher that may fetch it, or a package
 *   that nothing locks and that is too large to digest
 */
export const artifactOf = async (start: StartCommand): Promise<Artifact | null> => {
  const program = await findProgram(start.command, start);
  if (program === null) return null;
  const scripts = await scriptsOf(start);
  const [interpreter, ...options] = await interpreterWords(program.file);
  const names = [start.command, program.file, ...scripts.map(([, file]) => file)];
  const launcher =
    launcherIn(names, start.args) ?? (interpreter === undefined ? null : launcherIn([interpreter], options));
  if (launcher !== null) {
    const rule = 'a launcher may fetch what it then runs, so that nothing pins it';
    throw new SourceFault('STDIO_REFUSED', { command: start.command, launcher, rule });
  }
  const files: [where: string, found: DigestedFile][] = [['command', await fileDigest(program.file)]];
  const through = interpreter === undefined ? null : await findProgram(interpreter, start);
  if (through !== null) files.push(['interpreter', await fileDigest(through.file)]);
  for (const [where, file] of scripts) files.push([where, await fileDigest(file)]);
  const entry = scripts.at(0)?.[1] ?? program.file;
  const pinned = files.map(([where, { digest }]) => [where, digest]);
  const digest = digestJson({
    schema: 'stdioArtifact.v1',
    files: pinned,
    package: await packageOf(entry),
  });
  return {
    program,
    digest,
    isUntouched: async () => (await Promise.all(files.map(([, found]) => isUntouched(found)))).every(Boolean),
  };
};
