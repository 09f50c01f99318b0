/** What others import of this package: the built client with its types, and nothing else of it. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/packageRoot.js';

const run = promisify(execFile);
const root = packageRoot();
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

/** Imports by the package's own name, as Node does it for whoever stands in its folder. */
const importing = async (name: string): Promise<string> => {
  const program = `const all = await import(${JSON.stringify(name)}).catch(({ code }) => ({ [code]: 0 }));
    console.log(Object.keys(all).sort().join(' '));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: root });
  return stdout.trim();
};

/** A project of somebody else's that has this package installed. */
let consumer: string;
beforeAll(async () => {
  consumer = await mkdtemp(join(tmpdir(), 'genlock-consumer-'));
  await mkdir(join(consumer, 'node_modules'));
  await symlink(root, join(consumer, 'node_modules', 'genlock'), 'dir');
  await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
});
afterAll(() => rm(consumer, { recursive: true, force: true }));

const typeErrors = async (program: string): Promise<string> => {
  await writeFile(join(consumer, 'use.ts'), program);
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext'];
  return run(process.execPath, [tsc, ...options, 'use.ts'], { cwd: consumer }).then(
    () => '',
    (error: { readonly stdout: string }) => error.stdout,
  );
};

describe('genlock/client', () => {
  test('has what an agent needs: the client, the holder keys, the errors', async () => {
    expect(await importing('genlock/client')).toBe(
      'GenlockProblem GenlockUnreachable NotGenlock createClient createDpopKey generateDpopJwk importDpopKey',
    );
  });

  test('comes with types that a strict program of another package compiles against', async () => {
    const program = `import { createClient, createDpopKey, type Admitted, type PlanNode } from 'genlock/client';
      export const admit = async (node: PlanNode): Promise<Admitted> => {
        const client = createClient({ baseUrl: 'http://127.0.0.1:1', token: 't', key: await createDpopKey() });
        return client.admit(node);
      };`;
    expect(await typeErrors(program)).toBe('');
    // The compiler does look at them.
    expect(await typeErrors(program.replace('client.admit(node)', 'client.catalogs()'))).toContain('TS2');
  });

  test.each([
    'genlock',
    'genlock/dist/src/client/client.js',
    'genlock/dist/src/wiring.js',
    'genlock/package.json',
  ])('%s cannot be imported', async (name) => {
    expect(await importing(name)).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});
