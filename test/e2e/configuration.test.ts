/** No configuration ends in a stack trace: each gets a code, the variable or address at fault, and a next step. */
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadKeySet } from '../../src/keys/keyFile.js';
import { cloneDatabase, type TestDatabase } from '../support/database.js';
import { genlock } from './genlockProcess.js';

const UNUSED = '127.0.0.1:1';
let database: TestDatabase;
let env: Record<string, string>;

beforeAll(async () => {
  database = await cloneDatabase();
  env = {
    GENLOCK_API_DATABASE_URL: database.apiUrl,
    GENLOCK_OPERATOR_DATABASE_URL: database.operatorUrl,
    GENLOCK_WORKER_DATABASE_URL: database.workerUrl,
    GENLOCK_SESSION_KEYS: 'k'.repeat(43),
    TEMPORAL_ADDRESS: inject('temporal').address,
    GENLOCK_KEYS_FILE: join(mkdtempSync(join(tmpdir(), 'genlock-keys-')), 'keys.json'),
    GENLOCK_ISSUER_URL: 'http://127.0.0.1:9',
    GENLOCK_ISSUER_JWKS_URL: 'http://127.0.0.1:9/jwks.json',
    GENLOCK_TOKEN_AUDIENCE: 'genlock',
    GENLOCK_PUBLIC_URL: 'http://127.0.0.1:9',
    GENLOCK_API_PORT: '0',
  };
});
afterAll(() => database.drop());

const changed = (url: string, change: (parsed: URL) => void): string => {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
};

const refused = async (
  command: 'api' | 'worker' | 'migrate',
  overrides: Record<string, string>,
): Promise<string> => {
  const { code, stderr, stdout } = await genlock([command], { env: { ...env, ...overrides } }).ended;
  expect(code).toBe(1);
  expect(stderr).toContain('Next: ');
  expect(`${stdout}${stderr}`).not.toMatch(/^\s+at .*[:(]/m);
  expect(`${stdout}${stderr}`).not.toContain('s3cret');
  return stderr;
};

describe.each(['api', 'worker'] as const)('genlock %s', (program) => {
  const variable = program === 'api' ? 'GENLOCK_API_DATABASE_URL' : 'GENLOCK_WORKER_DATABASE_URL';
  const url = (): string => env[variable] ?? '';

  it('names a missing variable', async () => {
    const said = await refused(program, { [variable]: '' });
    expect(said).toContain('CONFIG_INVALID/MISSING_VARIABLE');
    expect(said).toContain(variable);
  });

  it('names an invalid variable without repeating its value', async () => {
    const said = await refused(program, { [variable]: 's3cret' });
    expect(said).toContain('CONFIG_INVALID/INVALID_VARIABLE');
    expect(said).toContain(variable);
  });

  it('names an unreachable database', async () => {
    const said = await refused(program, { [variable]: changed(url(), (at) => (at.host = UNUSED)) });
    expect(said).toContain('CONFIG_INVALID/DATABASE_UNREACHABLE');
    expect(said).toContain(UNUSED);
  });

  it('says that the database refused the password, and not which it was', async () => {
    const said = await refused(program, { [variable]: changed(url(), (at) => (at.password = 's3cret')) });
    expect(said).toContain('CONFIG_INVALID/DATABASE_AUTH');
  });

  it('names an unreachable Temporal', async () => {
    const said = await refused(program, { TEMPORAL_ADDRESS: UNUSED });
    expect(said).toContain('CONFIG_INVALID/TEMPORAL_UNREACHABLE');
  });
});

describe('genlock api', () => {
  it('names a port that is in use', async () => {
    const server = createServer();
    const port = await new Promise<number>((done) =>
      server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port)),
    );
    const said = await refused('api', { GENLOCK_API_PORT: String(port) });
    server.close();
    expect(said).toContain('CONFIG_INVALID/PORT_IN_USE');
    expect(said).toContain(String(port));
  });
});

describe.each(['start', 'demo'])('genlock %s', (command) => {
  const run = (overrides: Record<string, string>) => genlock([command], { env: overrides });

  it.runIf(process.platform === 'linux')('names a state folder that cannot be made', async () => {
    const { code, stderr } = await run({ GENLOCK_STATE_DIR: '/proc/x' }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('CONFIG_INVALID/STATE_FOLDER');
    expect(stderr).toContain('/proc/x');
  });

  it.each([
    ['DATABASE_URL', `postgres://postgres:s3cret@${UNUSED}/postgres`, 'CONFIG_INVALID/DATABASE_UNREACHABLE'],
    ['TEMPORAL_ADDRESS', UNUSED, 'CONFIG_INVALID/TEMPORAL_UNREACHABLE'],
  ])('tries the %s that is given before it starts anything', async (variable, value, reason) => {
    const started = run({ [variable]: value });
    const { code, stdout, stderr } = await started.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
    expect(`${stdout}${stderr}`).not.toContain('s3cret');
    expect(stdout).not.toContain('Bringing');
    // Neither a data directory nor Temporal's own database was made.
    const start = join(started.stateDir, 'start');
    const made = existsSync(start) ? readdirSync(start) : [];
    expect(made.filter((name) => !name.endsWith('.lock'))).toEqual([]);
  });
});

describe('genlock migrate', () => {
  it('names an unreachable database', async () => {
    const said = await refused('migrate', { DATABASE_URL: `postgres://postgres:s3cret@${UNUSED}/postgres` });
    expect(said).toContain('CONFIG_INVALID/DATABASE_UNREACHABLE');
  });

  it('closes every server after a restore, says how many, and what to do next', async () => {
    const { code, stdout } = await genlock(['migrate', '--restored'], {
      env: {
        ...env,
        DATABASE_URL: database.adminUrl,
        GENLOCK_API_DATABASE_URL: '',
        GENLOCK_OPERATOR_DATABASE_URL: '',
        GENLOCK_WORKER_DATABASE_URL: '',
      },
    }).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Restored: 0 servers are closed/m);
    expect(stdout).toContain('Restart every API and worker process');
  });
});

describe('genlock keys rotate', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'genlock-keys-')), 'keys.json');
  const rotate = () => genlock(['keys', 'rotate'], { env: { GENLOCK_KEYS_FILE: file } }).ended;

  it('names a key file that does not exist, and then the key that signs from the next start on', async () => {
    const refused = await rotate();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('it does not exist');
    const before = await loadKeySet(file);
    const { code, stdout } = await rotate();
    const after = await loadKeySet(file);
    expect(code).toBe(0);
    expect(after.kid).not.toBe(before.kid);
    expect(stdout).toContain(after.kid);
    expect(stdout).toContain('restart all of them');
    expect(stdout).not.toContain('"d"');
  });

  it('names the variable that is missing', async () => {
    const { code, stderr } = await genlock(['keys', 'rotate'], { env: { GENLOCK_KEYS_FILE: '' } }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('GENLOCK_KEYS_FILE');
  });
});
