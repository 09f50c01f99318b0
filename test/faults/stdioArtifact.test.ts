/**
 * The fault: what a stdio server is started from is another thing than it was. Script, lock and the start itself are
 * looked at, and what a launcher would fetch is not started at all (D8).
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { ownKey, useDiscovery } from '../integration/discovery/discoveryStack.js';

const stack = useDiscovery();

/** A server in a package of its own that lists one tool, and first does what `onStart` says. */
const serverText = (onStart: string): string => `
import { appendFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
${onStart}
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
  if (method === 'tools/list')
    answer(id, {
      tools: [{ name: 'look', inputSchema: { type: 'object' } }],
      _meta: { 'dev.genlock/catalogRevision': { incarnation: 'i', counter: 7 } },
    });
});
`;

interface Installed {
  readonly key: DiscoveryKey;
  readonly folder: string;
  put(file: string, text: string): Promise<void>;
}

const lockOf = (integrity: string): string =>
  JSON.stringify({
    packages: {
      '': { name: 'server', version: '1.0.0', dependencies: { dep: '1' } },
      'node_modules/dep': { version: '1.0.0', integrity },
    },
  });

const install = async (onStart = ''): Promise<Installed> => {
  const key = ownKey();
  const folder = join(stack.folder, key.server);
  await mkdir(folder);
  const put = (file: string, text: string) => writeFile(join(folder, file), text);
  await put('package.json', JSON.stringify({ name: 'server', version: '1.0.0', dependencies: { dep: '1' } }));
  await put('package-lock.json', lockOf('sha512-first'));
  await put('server.mjs', serverText(onStart));
  await stack.register(key, {
    kind: 'mcp-stdio',
    command: process.execPath,
    args: ['server.mjs'],
    cwd: folder,
  });
  return { key, folder, put };
};

describe('D8 the artifact of a stdio server', () => {
  test.each([
    ['its script', 'server.mjs', `${serverText('')}// another\n`],
    ['the integrity of a dependency in its lock', 'package-lock.json', lockOf('sha512-second')],
    [
      'its version',
      'package.json',
      JSON.stringify({ name: 'server', version: '1.0.1', dependencies: { dep: '1' } }),
    ],
  ])('D8 another one by %s is quarantined; announced, it takes over', async (_, file, text) => {
    const { key, folder, put } = await install();
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1 });
    const before = await stack.store.active(key);
    expect(await stack.discover(key)).toMatchObject({ reason: 'UNCHANGED' });

    await put(file, text);
    const held = await stack.discover(key);
    expect(held).toMatchObject({
      state: 'QUARANTINED',
      reason: 'IDENTITY_CHANGED',
      evidence: { accepted: before?.identity },
    });
    expect(await stack.store.active(key)).toMatchObject({ generation: 1, identity: before?.identity });

    const announced = held.evidence['proposed'] as NonNullable<typeof before>['identity'];
    const source = {
      kind: 'mcp-stdio',
      command: process.execPath,
      args: ['server.mjs'],
      cwd: folder,
    } as const;
    await stack.register(key, source, { trust: { acceptedIdentities: [announced] } });
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 2 });
    expect(await stack.store.active(key)).toMatchObject({ identity: announced });
  });

  test('D8 a script that changes while it is started is IDENTITY_TORN: what answers is not what was digested', async () => {
    const { key } = await install(`appendFileSync(new URL(import.meta.url), '// once more\\n');`);
    expect(await stack.discover(key)).toMatchObject({
      state: 'QUARANTINED',
      reason: 'IDENTITY_TORN',
      evidence: { at: 'start' },
    });
  });

  test('D8 a launcher that may fetch what it runs is not started', async () => {
    const { key, folder, put } = await install();
    await mkdir(join(folder, 'bin'));
    const started = join(folder, 'started');
    await put(
      'bin/npx',
      `#!/bin/sh\ntouch ${started}\nexec ${process.execPath} ${join(folder, 'server.mjs')}\n`,
    );
    await stack.register(key, {
      kind: 'mcp-stdio',
      command: '/bin/sh',
      args: ['bin/npx', 'server'],
      cwd: folder,
    });
    expect(await stack.discover(key)).toMatchObject({
      state: 'INCOMPLETE',
      reason: 'STDIO_REFUSED',
      evidence: { launcher: 'npx', command: '/bin/sh' },
    });
    await expect(readFile(started)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
