/** The oracle of the interleavings judges by itself: what it imports, and what that imports, is none of the product. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { ROOT } from './cruise.js';

/** Everything that a file imports, types included, and what those import in turn; packages by their names. */
const closureOf = (path: string): ReadonlySet<string> => {
  const found = new Set<string>();
  const follow = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    for (const { fileName } of ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8')).importedFiles) {
      if (!fileName.startsWith('.')) found.add(fileName);
      else follow(relative(ROOT, join(ROOT, dirname(file), fileName.replace(/\.js$/, '.ts'))));
    }
  };
  follow(path);
  return found;
};

const HERE = 'test/interleavings';

test('the oracle of the interleavings shares nothing with the product', () => {
  expect([...closureOf(`${HERE}/oracle.ts`)].sort()).toEqual(
    ['causes', 'history', 'oracle', 'runRules', 'standing'].map((name) => `${HERE}/${name}.ts`),
  );
});

test('what imports the product is seen to do so, types included', () => {
  expect([...closureOf(`${HERE}/mutant.ts`)]).toContain('src/domain/pagination.ts');
  expect([...closureOf(`${HERE}/round.ts`)]).toContain('src/activities/activityTypes.ts');
});
