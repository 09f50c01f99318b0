/** D8: what the digest of a stdio server covers, on real files, and what cannot be pinned at all. */
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Artifact, artifactOf } from '../../../src/sources/artifactDigest.js';
import { SourceFault } from '../../../src/sources/source.js';
import { faultOf } from '../../fixtures/sourceTarget.js';

let folder = '';
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'genlock-artifact-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const put = async (path: string, text: string, mode = 0o644): Promise<string> => {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
};
const program = (path: string, text = '#!/bin/sh\nexit 0\n') => put(path, text, 0o755);
const start = (command: string, args: readonly string[] = [], path = join(folder, 'bin')) =>
  artifactOf({ command, args, cwd: folder, path });
const artifact = async (command: string, args: readonly string[] = [], path?: string): Promise<Artifact> => {
  const found = await start(command, args, path);
  if (found === null) throw new Error('no artifact');
  return found;
};
/** The digest of `run app/server.js`, before and after a change. */
const around = async (change: () => Promise<unknown>, entry = 'app/server.js'): Promise<boolean> => {
  await program('bin/run');
  const before = (await artifact('run', [entry])).digest;
  await change();
  return (await artifact('run', [entry])).digest === before;
};

describe('D8 the program', () => {
  test('is looked for along PATH as the kernel would, and what is spawned is the file that was digested', async () => {
    await put('first/tool', 'no program');
    const real = await program('store/tool-1.2');
    await mkdir(join(folder, 'second'));
    await symlink(real, join(folder, 'second/tool'));
    const { program: found } = await artifact('tool', [], `first:${join(folder, 'second')}`);
    expect(found).toEqual({ found: join(folder, 'second/tool'), file: real });
    expect(await start('tool', [], join(folder, 'first'))).toBeNull();
    expect(await start('', [])).toBeNull();
  });

  test.each([
    ['the program', 'bin/run', '#!/bin/sh\nexit 1\n'],
    ['its script', 'app/server.js', 'two'],
    ['a module that an option loads', 'hook.mjs', 'two'],
  ])('another digest comes of %s', async (_, file, text) => {
    await program('bin/run');
    for (const path of ['app/server.js', 'hook.mjs']) await put(path, 'one');
    const args = ['--import=./hook.mjs', 'app/server.js', 'data.db'];
    await put('data.db', 'rows');
    const before = await artifact('run', args);
    await put('data.db', 'more rows');
    expect((await artifact('run', args)).digest).toBe(before.digest);
    expect(await before.isUntouched()).toBe(true);
    await program(file, text);
    expect((await artifact('run', args)).digest).not.toBe(before.digest);
    expect(await before.isUntouched()).toBe(false);
  });

  test('the interpreter that a script names is part of it', async () => {
    await program('bin/runtime', 'one');
    const script = await program('bin/server', '#!/usr/bin/env -S runtime --quiet\n');
    const before = await artifact(script);
    await program('bin/runtime', 'two');
    expect((await artifact(script)).digest).not.toBe(before.digest);
  });
});

describe('D8 the package of the script', () => {
  const manifest = {
    name: 'server',
    version: '1.0.0',
    dependencies: { a: '1' },
    devDependencies: { dev: '1' },
  };
  const locked = (more: object = {}) => ({
    lockfileVersion: 3,
    packages: {
      '': manifest,
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-a', dependencies: { b: '1' } },
      'node_modules/a/node_modules/b': { version: '1.0.0', integrity: 'sha512-inner' },
      'node_modules/b': { version: '2.0.0', integrity: 'sha512-outer' },
      'node_modules/dev': { version: '1.0.0', integrity: 'sha512-dev' },
      ...more,
    },
  });
  const lock = (more?: object) => put('app/package-lock.json', JSON.stringify(locked(more)));
  const project = async () => {
    await put('app/package.json', JSON.stringify(manifest));
    await put('app/server.js', 'serve()');
    await lock();
  };

  test.each([
    ['its version', () => put('app/package.json', JSON.stringify({ ...manifest, version: '1.0.1' })), false],
    [
      'a dependency',
      () => lock({ 'node_modules/a': { integrity: 'sha512-x', dependencies: { b: '1' } } }),
      false,
    ],
    [
      'a dependency of that',
      () => lock({ 'node_modules/a/node_modules/b': { integrity: 'sha512-x' } }),
      false,
    ],
    ['what only development needs', () => lock({ 'node_modules/dev': { integrity: 'sha512-x' } }), true],
    ['a package that it does not reach', () => lock({ 'node_modules/b': { integrity: 'sha512-x' } }), true],
    ['a log beside it', () => put('app/server.log', 'line'), true],
  ])('a project with a lock: a change of %s', async (_, change, same) => {
    await project();
    expect(await around(change)).toBe(same);
  });

  test.each([
    ['of its own integrity', 'node_modules/cli', 'sha512-x', false],
    ['of what it depends on', 'node_modules/dep', 'sha512-x', false],
    ['of another package of the project', 'node_modules/other', 'sha512-x', true],
  ])(
    'an installed program: the tree that npm wrote down, and a change %s',
    async (_, place, integrity, same) => {
      const tree = (more: object = {}) =>
        put(
          'node_modules/.package-lock.json',
          JSON.stringify({
            packages: {
              'node_modules/cli': { version: '1.0.0', integrity: 'sha512-cli', dependencies: { dep: '1' } },
              'node_modules/dep': { version: '1.0.0', integrity: 'sha512-dep' },
              'node_modules/other': { version: '1.0.0', integrity: 'sha512-other' },
              ...more,
            },
          }),
        );
      await tree();
      await put('node_modules/cli/package.json', JSON.stringify({ name: 'cli', version: '1.0.0' }));
      // A lock that was shipped inside the package does not say what was installed.
      await put('node_modules/cli/package-lock.json', JSON.stringify({ packages: { '': {} } }));
      const bin = await program('node_modules/cli/bin.js', '#!/bin/sh\n');
      await mkdir(join(folder, 'node_modules/.bin'));
      await symlink(bin, join(folder, 'node_modules/.bin/cli'));
      const command = join(folder, 'node_modules/.bin/cli');
      const before = (await artifact(command)).digest;
      await tree({
        [place]: {
          version: '1.0.0',
          integrity,
          ...(place.endsWith('cli') ? { dependencies: { dep: '1' } } : {}),
        },
      });
      expect((await artifact(command)).digest === before).toBe(same);
    },
  );

  test('the lock of another package manager counts as a whole', async () => {
    await project();
    await rm(join(folder, 'app/package-lock.json'));
    await put('app/pnpm-lock.yaml', 'lockfileVersion: 9');
    expect(await around(() => put('app/pnpm-lock.yaml', 'lockfileVersion: 10'))).toBe(false);
  });

  test.each([
    ['code', 'app/lib/other.mjs', false],
    ['code of a package inside', 'app/node_modules/a/index.js', false],
    ['what the server writes', 'app/state.db', true],
  ])('without a lock its own files are digested: a change of %s', async (_, file, same) => {
    await project();
    await rm(join(folder, 'app/package-lock.json'));
    await put(file, 'one');
    expect(await around(() => put(file, 'two'))).toBe(same);
  });

  test('without a lock, a package that is too large to digest is refused', async () => {
    await project();
    await rm(join(folder, 'app/package-lock.json'));
    await truncate(await put('app/huge.js', ''), 300 * 1024 * 1024);
    await program('bin/run');
    const fault = await faultOf(start('run', ['app/server.js']));
    expect(fault).toBeInstanceOf(SourceFault);
    expect(fault).toMatchObject({ reason: 'STDIO_REFUSED', evidence: { package: join(folder, 'app') } });
  });
});

describe('D8 launchers', () => {
  const image = `registry.example/server@sha256:${'a'.repeat(64)}`;
  test.each([
    ['npx', ['-y', 'server'], 'npx'],
    ['npm', ['exec', 'server'], 'npm'],
    ['pnpm', ['dlx', 'server'], 'pnpm'],
    ['uvx', ['server'], 'uvx'],
    ['uv', ['run', 'server'], 'uv'],
    ['bun', ['x', 'server'], 'bun x'],
    ['deno', ['run', 'npm:server'], 'deno'],
    ['docker', ['run', '-i', 'server:latest'], 'docker'],
    ['env', ['A=b', 'npx', 'server'], 'npx'],
    ['sh', ['-c', 'cd /srv && exec npx server'], 'npx'],
    ['run', ['npm/bin/npx-cli.js', 'server'], 'npx'],
    ['shim', [], 'npx'],
    ['alias', [], 'npx'],
  ])('%s %j may fetch what it runs, and is refused', async (command, args, launcher) => {
    for (const name of ['npx', 'npm', 'pnpm', 'uvx', 'uv', 'bun', 'deno', 'docker', 'env', 'sh', 'run'])
      await program(`bin/${name}`, 'ELF');
    await program('bin/shim', '#!/usr/bin/env -S npx tsx\n');
    await put('npm/bin/npx-cli.js', 'fetch()');
    await symlink(join(folder, 'bin/npx'), join(folder, 'bin/alias'));
    expect(await faultOf(start(command, args))).toMatchObject({
      reason: 'STDIO_REFUSED',
      evidence: { command, launcher },
    });
  });

  test.each([
    ['docker', ['run', '-i', image]],
    ['bun', ['server.js']],
    ['sh', ['-c', 'exec server --name npxy']],
    ['npx-free-server', []],
  ])('%s %j is pinned by what stands there', async (command, args) => {
    for (const name of ['docker', 'bun', 'sh', 'npx-free-server']) await program(`bin/${name}`, 'ELF');
    expect((await artifact(command, args)).digest).toMatch(/^sha256:/);
  });
});
