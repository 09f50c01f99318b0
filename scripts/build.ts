/**
 * Makes dist: compiled programs and the workflow bundle. Everything is made beside it and moved into place at the
 * end, so that a failed build leaves the one that worked.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from './bundleWorkflows.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
// Beside dist: source maps lead from there to src by relative paths.
const draft = mkdtempSync(join(root, 'dist.draft-'));

const build = async (): Promise<void> => {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', draft];
  const compiled = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (compiled.status !== 0) throw new Error('tsc found errors.');
  await bundleWorkflows(join(draft, 'workflow-bundle.js'));
  chmodSync(join(draft, 'src', 'bin', 'genlock.js'), 0o755);
  chmodSync(draft, 0o755);
  const old = `${draft}.old`;
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(draft, dist);
  rmSync(old, { recursive: true, force: true });
};

try {
  await build();
} catch (error) {
  rmSync(draft, { recursive: true, force: true });
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
