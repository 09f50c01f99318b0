import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../../src/dev/embeddedPostgres.js';
import { openStateFolder } from '../../../src/dev/stateFolder.js';
import { processesWith } from './processList.js';
import { temporalProgram } from './temporalProgram.js';

const STACK = join(import.meta.dirname, 'stackProcess.ts');
const log = (): void => {};
const PATIENCE = { timeout: 20_000, interval: 50 };
let base: string;
let program: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'stack end '));
  // Postgres runs as another account when the tests run as root.
  await chmod(base, 0o755);
  program = await temporalProgram();
}, 400_000);
afterAll(() => rm(base, { recursive: true, force: true }));

interface Running {
  readonly parent: ChildProcess;
  readonly pid: number;
  readonly adminUrl: string;
  readonly address: string;
}

async function startStack(dir: string): Promise<Running> {
  const parent = spawn(process.execPath, ['--import', 'tsx', STACK, dir, program], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (!parent.stdout || parent.pid === undefined) throw new Error('the stack process did not start');
  const first = once(createInterface({ input: parent.stdout }), 'line');
  const [line] = (await Promise.race([first, once(parent, 'exit').then(() => ['{}'])])) as [string];
  const up = JSON.parse(line) as { adminUrl: string; address: string };
  expect(up.adminUrl).toContain('postgres://');
  return { parent, pid: parent.pid, ...up };
}

/** All that belongs to a stack: Postgres names the folder, Temporal its port. */
const leftOf = (dir: string, address: string) => [
  ...processesWith(`${dir}/postgres`),
  ...processesWith(`--port ${address.split(':')[1]} `),
];

const ask = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query({ text: sql, rowMode: 'array' });
  // The connection may be cut by the very end that a test is about.
  await client.end().catch(() => {});
  return rows.flat();
};

describe('the end of a stack', () => {
  it.each([
    ['SIGKILL', (stack: Running) => process.kill(stack.pid, 'SIGKILL')],
    ['SIGINT without a handler', (stack: Running) => process.kill(stack.pid, 'SIGINT')],
    ['SIGTERM without a handler', (stack: Running) => process.kill(stack.pid, 'SIGTERM')],
    ['an uncaught failure', (stack: Running) => stack.parent.stdin?.write('fail\n')],
  ])(
    'by %s leaves nothing running, and the next start has what was committed',
    async (_way, end) => {
      const dir = join(base, `state ${_way}`);
      const stack = await startStack(dir);
      expect(leftOf(dir, stack.address).length).toBeGreaterThanOrEqual(2);
      await ask(stack.adminUrl, 'create table kept as select 42 as n');

      const gone = once(stack.parent, 'exit');
      end(stack);
      await gone;
      await expect.poll(() => leftOf(dir, stack.address), PATIENCE).toEqual([]);

      const folder = await openStateFolder(dir);
      const postgres = await startPostgres({ stateDir: folder.dir, log });
      expect(await ask(postgres.adminUrl, 'select n from kept')).toEqual([42]);
      await postgres.stop();
      await folder.remove();
    },
    60_000,
  );

  it('a start right after SIGKILL waits for nothing to be cleaned by hand', async () => {
    const dir = join(base, 'state at once');
    for (let n = 0; n < 2; n++) {
      const stack = await startStack(dir);
      const gone = once(stack.parent, 'exit');
      process.kill(stack.pid, 'SIGKILL');
      await gone;
    }
    const folder = await openStateFolder(dir);
    const postgres = await startPostgres({ stateDir: folder.dir, log });
    await postgres.stop();
    await folder.remove();
  }, 60_000);

  it('a server whose watchdog was killed too is ended by the next start', async () => {
    const dir = join(base, 'state orphan');
    const stack = await startStack(dir);
    const gone = once(stack.parent, 'exit');
    process.kill(stack.pid, 'SIGSTOP');
    const ours = leftOf(dir, stack.address);
    for (const { pid, command } of ours) if (command.includes('genlock-guard')) process.kill(pid, 'SIGKILL');
    process.kill(stack.pid, 'SIGKILL');
    await gone;
    const orphans = leftOf(dir, stack.address);
    expect(orphans.map(({ command }) => command).join()).toContain('/postgres -D');

    const said: string[] = [];
    const folder = await openStateFolder(dir);
    const postgres = await startPostgres({ stateDir: folder.dir, log: (line) => said.push(line) });
    expect(said.join('\n')).toContain('that an earlier stack left');
    await postgres.stop();
    await folder.remove();
    // Nothing is written down about Temporal's, which this test orphaned by force.
    for (const { pid } of leftOf(dir, stack.address)) process.kill(pid, 'SIGKILL');
    await expect.poll(() => leftOf(dir, stack.address), PATIENCE).toEqual([]);
  }, 60_000);

  it('a second stack on the same folder is refused and the first goes on', async () => {
    const dir = join(base, 'state twice');
    const stack = await startStack(dir);
    await expect(openStateFolder(dir)).rejects.toMatchObject({
      reason: 'STACK_RUNNING',
      details: { pid: stack.pid },
    });
    expect(await ask(stack.adminUrl, 'select 1')).toEqual([1]);
    const gone = once(stack.parent, 'exit');
    process.kill(stack.pid, 'SIGTERM');
    await gone;
    await expect.poll(() => leftOf(dir, stack.address), PATIENCE).toEqual([]);
    await (await openStateFolder(dir)).remove();
  }, 60_000);
});
