import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { durationMs } from '../../../src/domain/ids.js';
import { Secret } from '../../../src/domain/secret.js';
import { mcpSource } from '../../../src/sources/mcp/mcpSource.js';
import type { SourceConnection, StdioTarget } from '../../../src/sources/source.js';
import { faultOf, stdioTarget } from '../../fixtures/sourceTarget.js';

const signal = new AbortController().signal;
const script = join(import.meta.dirname, '../../fixtures/bentStdioServer.mjs');
const open: SourceConnection[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close()));
});

const connect = async (mode: string, more: Partial<StdioTarget> = {}): Promise<SourceConnection> => {
  const connection = await mcpSource.connect(stdioTarget(process.execPath, [script, mode], more), { signal });
  open.push(connection);
  return connection;
};
const listFault = async (mode: string, more: Partial<StdioTarget> = {}) =>
  await faultOf((await connect(mode, more)).listPage(undefined, { signal }));
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('stdio servers that are bent', () => {
  it('a command that does not exist is PROCESS_FAILED', async () => {
    const fault = await faultOf(mcpSource.connect(stdioTarget('no-such-command-here', []), { signal }));
    expect(fault).toMatchObject({ reason: 'PROCESS_FAILED', evidence: { error: 'ENOENT' } });
  });

  it('a file that is no program is PROCESS_FAILED', async () => {
    const fault = await faultOf(mcpSource.connect(stdioTarget(script, []), { signal }));
    expect(fault).toMatchObject({ reason: 'PROCESS_FAILED', evidence: { error: 'EACCES' } });
  });

  it('a server that ends at once is PROCESS_FAILED with exit code and what it said, without its credential', async () => {
    const env = { BENT_TOKEN: new Secret('very-secret-9876') };
    const fault = await faultOf(connect('exits-at-once', { env }));
    expect(fault.reason).toBe('PROCESS_FAILED');
    expect(fault.evidence).toMatchObject({ exitCode: 3, stderr: 'no database, token was [redacted]\\x0a' });
  });

  it('a server that dies in mid-page is PROCESS_FAILED, and stays it', async () => {
    const connection = await connect('dies');
    expect(await faultOf(connection.listPage(undefined, { signal }))).toMatchObject({
      reason: 'PROCESS_FAILED',
      evidence: { exitCode: 4 },
    });
    expect((await faultOf(connection.listPage(undefined, { signal }))).reason).toBe('PROCESS_FAILED');
  });

  it('a line that is not JSON is PAGE_MALFORMED', async () => {
    expect((await listFault('not-json')).reason).toBe('PAGE_MALFORMED');
  });

  it('V7 a line with a duplicate key is DUPLICATE_KEY', async () => {
    expect(await listFault('duplicate-keys')).toMatchObject({
      reason: 'DUPLICATE_KEY',
      evidence: { pointer: expect.stringContaining('/result') },
    });
  });

  it('a line without an end is PAGE_TOO_LARGE', async () => {
    const limits = { pageBytes: 1024 * 1024, pageTime: durationMs(20_000) };
    expect(await listFault('long-line', { limits })).toMatchObject({ reason: 'PAGE_TOO_LARGE' });
  });

  it.each([
    ['short lines', 'y', 'NOT_MCP'],
    ['blank lines', '', 'NOT_MCP'],
    ['notifications', '{"jsonrpc":"2.0","method":"notifications/x"}', 'NOT_MCP'],
    ['long lines', 'z'.repeat(3_000), 'PAGE_TOO_LARGE'],
  ])('a flood of %s is ended, and with it the server', async (_what, line, reason) => {
    const folder = await mkdtemp(join(tmpdir(), 'genlock-flood-'));
    try {
      const target = stdioTarget('/bin/sh', ['-c', `echo $$ > pid; exec yes '${line}'`], { cwd: folder });
      expect(await faultOf(mcpSource.connect(target, { signal }))).toMatchObject({ reason });
      const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
      await expect.poll(() => alive(pid)).toBe(false);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('a flood after the start is ended before its lines are all read', async () => {
    const connection = await connect('floods');
    const fault = await faultOf(connection.listPage(undefined, { signal }));
    expect(fault).toMatchObject({
      reason: 'NOT_MCP',
      evidence: { rule: 'more than 1000 messages in answer to one request' },
    });
  });

  it('S6 a secret that the last of stderr begins within is not shown', async () => {
    const env = { BENT_TOKEN: new Secret('very-secret-9876543210-and-more') };
    const fault = await faultOf(connect('complains-long', { env }));
    expect(fault.evidence['stderr']).toMatch(/redacted|zzz/);
    expect(JSON.stringify(fault.evidence)).not.toMatch(/very-secret|9876543210|and-more/);
  });

  it('an answer to another request is none: PAGE_TIMEOUT', async () => {
    const limits = { pageBytes: 1024 * 1024, pageTime: durationMs(2_000) };
    const fault = await listFault('wrong-id', { limits });
    expect(fault.reason).toBe('PAGE_TIMEOUT');
    expect(fault.evidence['otherMessages']).toHaveLength(1);
  });

  it('a banner before the start is passed over', async () => {
    const page = await (await connect('banner')).listPage(undefined, { signal });
    expect(page.tools).toHaveLength(1);
  });

  it('close ends the server and everything it started, even where it does not want to', async () => {
    const connection = await connect('child');
    const page = await connection.listPage(undefined, { signal });
    const pid = Number(/"pid":(\d+)/.exec(page.resultText)?.[1]);
    expect(alive(pid)).toBe(true);
    await connection.close();
    await expect.poll(() => alive(pid)).toBe(false);
  });

  it('D8 the artifact digest is that of executable and script: another script gives another one', async () => {
    const here = await connect('plain');
    const again = await connect('banner');
    const other = await faultOf(
      mcpSource.connect(stdioTarget(process.execPath, [join(import.meta.dirname, 'badStdio.test.ts')]), {
        signal,
      }),
    );
    expect(other.reason).toBe('PROCESS_FAILED');
    expect(here.evidence.artifact).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(again.evidence.artifact).toBe(here.evidence.artifact);
    expect(again.evidence.endpoint).not.toBe(here.evidence.endpoint);
  });
});
