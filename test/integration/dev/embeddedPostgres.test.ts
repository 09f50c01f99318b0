import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddedPostgres, startPostgres } from '../../../src/dev/embeddedPostgres.js';
import { freePort } from '../../../src/dev/freePort.js';
import { openStateFolder, type StateFolder } from '../../../src/dev/stateFolder.js';

const log = (): void => {};
const running: EmbeddedPostgres[] = [];
let base: string;
let folder: StateFolder;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'postgres with space '));
  await chmod(base, 0o755);
  folder = await openStateFolder(join(base, 'state'));
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await folder.remove();
  await rm(base, { recursive: true, force: true });
});

async function start(preferredPort?: number): Promise<EmbeddedPostgres> {
  const server = await startPostgres({
    stateDir: folder.dir,
    log,
    ...(preferredPort === undefined ? {} : { preferredPort }),
  });
  running.push(server);
  return server;
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

describe('startPostgres', () => {
  it('keeps data, password and port from one start to the next', async () => {
    const port = await freePort();
    const first = await start(port);
    await ask(first.adminUrl, "create table kept as select 'ä' as word");
    await first.stop();
    const second = await start(port);
    expect(second).toMatchObject({ port, adminUrl: first.adminUrl });
    expect(await ask(second.adminUrl, 'select word from kept')).toEqual(['ä']);
  }, 60_000);

  it('is durable, UTF-8, in UTC, on loopback only and without a socket file', async () => {
    const { adminUrl } = await start();
    const settings = ['fsync', 'synchronous_commit', 'full_page_writes', 'server_encoding', 'TimeZone'];
    const values: unknown[] = [];
    for (const name of [
      ...settings,
      'listen_addresses',
      'unix_socket_directories',
      'shared_preload_libraries',
    ]) {
      values.push(...(await ask(adminUrl, `show "${name}"`)));
    }
    expect(values).toEqual(['on', 'on', 'on', 'UTF8', 'UTC', '127.0.0.1', '', '']);
  }, 60_000);

  it('lets nobody in without the password, which only this user can read', async () => {
    const { adminUrl } = await start();
    const wrong = new URL(adminUrl);
    wrong.password = 'postgres';
    await expect(ask(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    const file = join(folder.dir, 'postgres.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(adminUrl).toContain(await readFile(file, 'utf8'));
  }, 60_000);

  it('takes another port when the preferred one is taken, and says so', async () => {
    const holder = createServer();
    const taken = await freePort();
    await new Promise<void>((listening) => holder.listen(taken, '127.0.0.1', listening));
    const said: string[] = [];
    const server = await startPostgres({
      stateDir: folder.dir,
      preferredPort: taken,
      log: (line) => said.push(line),
    });
    running.push(server);
    expect(server.port).not.toBe(taken);
    expect(said).toContain(`Port ${taken} is taken; Postgres listens on ${server.port}.`);
    await new Promise((closed) => holder.close(closed));
  }, 60_000);

  it('begins again after an initdb that was interrupted', async () => {
    await mkdir(join(folder.dir, 'postgres.draft'));
    await writeFile(join(folder.dir, 'postgres.draft', 'PG_VERSION'), '18\n');
    expect(await ask((await start()).adminUrl, 'select 1')).toEqual([1]);
  }, 60_000);

  it('tells what the server said when it cannot start', async () => {
    const server = await start();
    const [dataDir] = await ask(server.adminUrl, 'show data_directory');
    await server.stop();
    await writeFile(join(String(dataDir), 'PG_VERSION'), '9.0\n');
    await expect(start()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      reason: 'EMBEDDED_POSTGRES',
      details: { said: expect.arrayContaining([expect.stringContaining('database files are incompatible')]) },
    });
  }, 60_000);

  it('tells when the password file does not belong to the data', async () => {
    await (await start()).stop();
    await writeFile(join(folder.dir, 'postgres.password'), 'another');
    await expect(start()).rejects.toMatchObject({
      reason: 'EMBEDDED_POSTGRES',
      details: { why: expect.stringContaining('another password') },
    });
    await rm(join(folder.dir, 'postgres.password'));
    await expect(start()).rejects.toMatchObject({ details: { why: expect.stringContaining('is missing') } });
  }, 60_000);

  it('runs below a folder that only this user may enter', async () => {
    await chmod(base, 0o700);
    const first = await start();
    await ask(first.adminUrl, 'create table kept as select 7 as n');
    await first.stop();
    const second = await start();
    expect(await ask(second.adminUrl, 'select n from kept')).toEqual([7]);
    const [dataDir] = await ask(second.adminUrl, 'show data_directory');
    await second.stop();
    await folder.remove();
    await expect(stat(String(dataDir))).rejects.toMatchObject({ code: 'ENOENT' });
  }, 60_000);
});
