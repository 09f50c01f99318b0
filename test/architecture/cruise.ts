/** Runs dependency-cruiser as `npm run lint:imports` does, on any tree that looks like this repository. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

export interface Cruise {
  readonly modules: number;
  readonly violations: readonly Violation[];
}

/** @param tree a folder with src, package.json, tsconfig.json, node_modules and the rules */
export const cruise = (tree: string): Cruise => {
  const program = join(ROOT, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const args = [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src'];
  const run = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  if (run.stdout === '') throw new Error(`dependency-cruiser said nothing: ${run.stderr}`);
  const { summary } = JSON.parse(run.stdout) as {
    summary: { totalCruised: number; violations: { rule: { name: string }; from: string; to: string }[] };
  };
  return {
    modules: summary.totalCruised,
    violations: summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
  };
};
