/** What the shape of the source text promises: one reader of the environment, small files, names, nothing unfinished. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { END_REASONS } from '../../src/domain/endReasons.js';
import { CODES } from '../../src/domain/errors.js';
import { ROOT } from './cruise.js';

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const filesBelow = (folder: string, pattern: RegExp): SourceFile[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && !name.includes('node_modules'))
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(ROOT, folder, name), 'utf8') }));

const code = filesBelow('src', /\.ts$/);
const everything = [
  ...code,
  ...['test', 'scripts', 'bench', 'examples', 'migrations', 'docs'].flatMap((folder) =>
    filesBelow(folder, /\.(ts|mjs|cjs|sql|md|json|ya?ml)$/),
  ),
];
const pathsWhere = (files: readonly SourceFile[], wrong: (file: SourceFile) => boolean): string[] =>
  files.filter(wrong).map(({ path }) => path);

describe('source text', () => {
  test('there is something to look at', () => expect(code.length).toBeGreaterThan(50));

  test('only src/config.ts reads the environment', () => {
    expect(pathsWhere(code, ({ text }) => /process\.env\b|process\[['"]env/.test(text))).toEqual([
      'src/config.ts',
    ]);
  });

  test('no file of src is longer than 350 lines', () => {
    expect(pathsWhere(code, ({ text }) => text.split('\n').length > 351)).toEqual([]);
  });

  test('files are named in camel case, and none is a drawer for odds and ends', () => {
    const odd = pathsWhere(code, ({ path }) => !/^[a-z][A-Za-z0-9]*\.ts$/.test(basename(path)));
    const drawers = pathsWhere(code, ({ path }) =>
      /(^|\/)(utils?|helpers?|common|misc|shared)(\/|\.ts$)/.test(path),
    );
    expect([...odd, ...drawers]).toEqual([]);
  });

  test('every file says in its first lines why it exists', () => {
    expect(pathsWhere(code, ({ text }) => !/^(#!.*\n)?\/\*\*/.test(text))).toEqual([]);
  });

  test('nothing in src is marked as unfinished', () => {
    const unfinished = /\b(TODO|FIXME|XXX)\b|\bfor now\b|\bplaceholder\b|\bnot implemented\b/i;
    expect(pathsWhere(code, ({ text }) => unfinished.test(text))).toEqual([]);
  });

  test('no test is switched off', () => {
    const off = /\b(test|it|describe)\.(skip|only|todo)\b/;
    const here = 'test/architecture/sources.test.ts';
    expect(pathsWhere(everything, ({ path, text }) => path !== here && off.test(text))).toEqual([]);
  });

  test('no file names a place on the machine it was written on', () => {
    const here = 'test/architecture/sources.test.ts';
    const machine = /(^|[\s'"`(=])\/(work|root|home)\//m;
    expect(pathsWhere(everything, ({ path, text }) => path !== here && machine.test(text))).toEqual([]);
  });

  test('every reason of the table of codes is produced somewhere', () => {
    const others = code.filter(({ path }) => path !== 'src/domain/errorTable.ts');
    const unreachable = Object.entries(CODES).flatMap(([errorCode, { reasons }]) =>
      Object.keys(reasons)
        .filter((reason) => {
          // A discovery may end for a reason of the same name: there only a file that names the code too counts.
          const words = reason in END_REASONS ? [reason, errorCode] : [reason];
          return !others.some(({ text }) => words.every((word) => text.includes(`'${word}'`)));
        })
        .map((reason) => `${errorCode}/${reason}`),
    );
    expect(unreachable).toEqual([]);
  });

  test('every runtime dependency has its line in CONTRIBUTING.md', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    expect(Object.keys(dependencies).filter((name) => !contributing.includes(`\`${name}\``))).toEqual([]);
  });
});
