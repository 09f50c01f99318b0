/** `npm start`: a stack that stays up until Ctrl-C, and comes up again on what it left. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { genlock } from './genlockProcess.js';

const taken: Server[] = [];
const take = (port: number): Promise<void> =>
  new Promise((done) => {
    const server = createServer();
    // Somebody else has it already: taken all the same.
    server.once('error', () => done());
    server.listen(port, '127.0.0.1', () => {
      taken.push(server);
      done();
    });
  });

afterEach(() => {
  for (const server of taken.splice(0)) server.close();
});

const addressOf = (output: string, what: string): string =>
  new RegExp(`${what}\\s+(\\S+)`).exec(output)?.[1] ?? '';

/** The variables that a running process was given, without their values. */
const variablesOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .map((entry) => entry.slice(0, entry.indexOf('=')));

describe('genlock start', () => {
  it('takes other ports where the default ones are taken, serves, and stops everything on Ctrl-C; twice in a row', async () => {
    for (const port of [8080, 8081, 8090, 5433, 7233, 8233]) await take(port);
    const first = genlock(['start']);
    for (const again of [false, true]) {
      const start = again ? genlock(['start'], { sharing: first }) : first;
      const output = await start.said(/Genlock is up[\s\S]*Ctrl-C stops everything/);
      const api = addressOf(output, 'API');
      expect(api).not.toContain(':8080');
      const ready = (await (await fetch(`${api}/readyz`)).json()) as Record<string, unknown>;
      expect(JSON.stringify(ready)).toContain('database');
      expect((await fetch(`${api}/docs`)).status).toBe(200);
      expect((await fetch(addressOf(output, 'Temporal UI'))).status).toBe(200);
      const started = start.descendants();
      start.signal('SIGINT');
      expect((await start.ended).code).toBe(0);
      await start.allGone(started);
    }
  });

  it.each([
    ['Postgres and Temporal are coming up', /^$/],
    ['the programs are coming up', /Bringing the schema up to date/],
  ])('obeys Ctrl-C while %s: everything is stopped, and nothing says that it is up', async (_, until) => {
    const start = genlock(['start']);
    await start.said(until);
    // Before it has a part to stop, it has not begun; from here on it handles the signal itself.
    await expect.poll(() => start.descendants().length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(0);
    const started = start.descendants();
    start.signal('SIGINT');
    const { code, stdout, stderr } = await start.ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Stopping.');
    expect(stdout).not.toContain('Genlock is up');
    await start.allGone(started);
  });

  it.runIf(process.platform === 'linux')('gives each program its own variables and no others', async () => {
    const start = genlock(['start']);
    await start.said(/Genlock is up/);
    const given = start.descendants().map(variablesOf);
    const urls = new Set(
      given.map((names) =>
        names
          .filter((name) => /DATABASE_URL$|^GENLOCK_(STDIO_TENANTS|SESSION_KEYS)$/.test(name))
          .sort()
          .join(' '),
      ),
    );
    start.signal('SIGINT');
    expect((await start.ended).code).toBe(0);
    expect([...urls].filter((names) => names !== '').sort()).toEqual([
      'GENLOCK_API_DATABASE_URL GENLOCK_OPERATOR_DATABASE_URL',
      'GENLOCK_SESSION_KEYS GENLOCK_STDIO_TENANTS GENLOCK_WORKER_DATABASE_URL',
    ]);
  });

  it('refuses a second stack on the same state folder with a code, and leaves the first alone', async () => {
    const first = genlock(['start']);
    await first.said(/Genlock is up/);
    const { code, stderr } = await genlock(['start'], { sharing: first }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('CONFIG_INVALID/STACK_RUNNING');
    expect(stderr).not.toMatch(/^\s+at /m);
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);
  });
});
