/**
 * Runs vitest and ends with one true line, `N passed, N failed`, counted from vitest's own report. A run in which
 * nothing ran, a file that did not load and an error outside any test count as failures.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countTests, type Report, summaryLine } from './countTests.js';

const SUITES = ['unit', 'architecture', 'integration', 'e2e', 'faults'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

/** The suites whose rounds are counted run in a short form unless this is asked for; see test/support/testForm.ts. */
const FULL = '--full';

/** `npm test -- unit` names a suite; anything else goes to vitest as it is. */
const translate = (args: readonly string[]): string[] =>
  args.filter((arg) => arg !== FULL).flatMap((arg) => (SUITES.includes(arg) ? ['--project', arg] : [arg]));

const run = (args: readonly string[], full: boolean): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, 'run', ...args], {
      cwd: root,
      env: { ...process.env, ...(full ? { GENLOCK_TEST_FORM: 'full' } : {}) },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    // Ctrl-C reaches vitest by the terminal; it stops its services, and then we end.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });

const read = (file: string): Report | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
};

const folder = mkdtempSync(join(tmpdir(), 'genlock-tests-'));
try {
  const file = join(folder, 'report.json');
  const args = process.argv.slice(2);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const code = await run([...reporters, ...translate(args)], args.includes(FULL));
  const counts = countTests(read(file), code);
  for (const note of counts.notes) console.log(note);
  console.log(summaryLine(counts));
  process.exitCode = counts.failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
