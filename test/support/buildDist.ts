/** Programs are tested as they are shipped, from dist; it is built anew when a source is younger than it. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

const age = (path: string): number => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const newest = (folder: string): number =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .reduce((latest, name) => Math.max(latest, age(join(folder, name))), 0);

export default (): void => {
  if (Math.max(newest('src'), newest('examples')) < age('dist/workflow-bundle.js')) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
};
