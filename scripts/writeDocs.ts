/** Writes the generated documents; with --check it only says which of them differ, and fails if one does. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderErrors } from './renderErrors.js';
import { renderOpenApi } from './renderOpenApi.js';
import { renderStates } from './renderStates.js';

/** A path in the repository, and the text that belongs there. A new generated document is one line here. */
const DOCUMENTS: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/states.md': renderStates,
  'docs/errors.md': renderErrors,
  'docs/openapi.json': renderOpenApi,
};

const place = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const check = process.argv.includes('--check');
for (const [path, render] of Object.entries(DOCUMENTS)) {
  const text = await render();
  const there = await readFile(place(path), 'utf8').catch(() => undefined);
  if (there === text) continue;
  if (check) {
    console.error(
      `${path} ${there === undefined ? 'is missing' : 'differs from the code'}: run npm run docs`,
    );
    process.exitCode = 1;
  } else {
    await writeFile(place(path), text);
    console.log(`wrote ${path}`);
  }
}
