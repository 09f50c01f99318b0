/** The configuration of each program: what it needs, its defaults, and what a wrong value says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  apiConfig,
  clientConfig,
  devConfig,
  type Environment,
  keysConfig,
  migrateConfig,
  VARIABLES,
  workerConfig,
} from '../../src/config.js';
import { CatalogError } from '../../src/domain/errors.js';
import { packageRoot } from '../../src/packageRoot.js';

const API: Environment = {
  GENLOCK_API_DATABASE_URL: 'postgres://genlock_api:hunter2@db:5432/genlock',
  GENLOCK_OPERATOR_DATABASE_URL: 'postgres://genlock_operator:hunter3@db:5432/genlock',
  TEMPORAL_ADDRESS: 'temporal:7233',
  GENLOCK_KEYS_FILE: 'keys.json',
  GENLOCK_ISSUER_URL: 'https://issuer.example',
  GENLOCK_ISSUER_JWKS_URL: 'https://issuer.example/jwks',
  GENLOCK_TOKEN_AUDIENCE: 'genlock',
  GENLOCK_PUBLIC_URL: 'https://genlock.example/',
};
const WORKER: Environment = {
  GENLOCK_WORKER_DATABASE_URL: 'postgresql://genlock_worker:hunter2@db/genlock',
  GENLOCK_SESSION_KEYS: 'k'.repeat(43),
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  GENLOCK_KEYS_FILE: 'keys.json',
  GENLOCK_PUBLIC_URL: 'http://127.0.0.1:8080',
};

const refusal = (
  work: () => unknown,
): { reason: string; variables: { variable: string; rule: string }[] } => {
  try {
    work();
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code !== 'CONFIG_INVALID') throw error;
    const variables = Object.entries(error.details).map(([variable, rule]) => ({
      variable,
      rule: String(rule),
    }));
    return { reason: error.reason, variables };
  }
  throw new Error('nothing was refused');
};
const variablesAtFault = (work: () => unknown): string[] =>
  refusal(work).variables.map(({ variable }) => variable);

describe('configuration', () => {
  test('the API gets typed values with units, and the stated defaults', () => {
    const config = apiConfig(API);
    expect(config).toMatchObject({
      temporal: { address: 'temporal:7233', namespace: 'default', taskQueue: 'genlock' },
      publicUrl: 'https://genlock.example',
      callers: { issuer: 'https://issuer.example', audience: 'genlock' },
      listen: { host: '127.0.0.1', port: 8080 },
      leaseTtl: 10_000,
      requireBoundTokens: true,
      poolSize: 10,
      logLevel: 'info',
    });
    expect(config.apiDatabaseUrl.reveal()).toBe(API['GENLOCK_API_DATABASE_URL']);
  });

  test('the worker needs neither an issuer nor the API and operator databases', () => {
    expect(workerConfig(WORKER).workerName).toBeUndefined();
    expect(workerConfig({ ...WORKER, GENLOCK_WORKER_NAME: 'blue-1' }).workerName).toBe('blue-1');
  });

  test('a worker starts stdio servers for nobody, and reads no files, unless it is told so', () => {
    expect(workerConfig(WORKER)).toMatchObject({ credentialsDir: undefined, stdioTenants: new Set() });
    const told = workerConfig({
      ...WORKER,
      GENLOCK_CREDENTIALS_DIR: '/run/credentials',
      GENLOCK_STDIO_TENANTS: 'acme, acme-eu',
    });
    expect(told).toMatchObject({
      credentialsDir: '/run/credentials',
      stdioTenants: new Set(['acme', 'acme-eu']),
    });
    for (const wrong of ['*', 'acme,', 'acme;other', 'Acme'])
      expect(variablesAtFault(() => workerConfig({ ...WORKER, GENLOCK_STDIO_TENANTS: wrong }))).toEqual([
        'GENLOCK_STDIO_TENANTS',
      ]);
  });

  test('D6 a worker does not start without a key for sessions; of several the order counts', () => {
    expect(variablesAtFault(() => workerConfig({ ...WORKER, GENLOCK_SESSION_KEYS: '' }))).toEqual([
      'GENLOCK_SESSION_KEYS',
    ]);
    const two = ['+'.repeat(43), `${'/'.repeat(43)}=`];
    const { sessionKeys } = workerConfig({ ...WORKER, GENLOCK_SESSION_KEYS: two.join(', ') });
    expect(sessionKeys.map((key) => key.reveal())).toEqual(two);
    for (const wrong of ['k'.repeat(42), 'k'.repeat(44), `${two[0]},`, 'hunter2'.repeat(7)])
      expect(variablesAtFault(() => workerConfig({ ...WORKER, GENLOCK_SESSION_KEYS: wrong }))).toEqual([
        'GENLOCK_SESSION_KEYS',
      ]);
  });

  test('migrate takes the passwords of the login roles from their addresses, decoded', () => {
    const { passwords, adminUrl } = migrateConfig({
      DATABASE_URL: 'postgres://admin@db/genlock',
      GENLOCK_API_DATABASE_URL: 'postgres://genlock_api:a%40b@db/genlock',
      GENLOCK_WORKER_DATABASE_URL: 'postgres://genlock_worker@db/genlock',
    });
    expect(adminUrl.reveal()).toBe('postgres://admin@db/genlock');
    expect(Object.keys(passwords)).toEqual(['genlock_api']);
    expect(passwords.genlock_api?.reveal()).toBe('a@b');
  });

  test('the development stack needs nothing, and does not demand bound tokens', () => {
    expect(devConfig({})).toMatchObject({
      stateDir: '.genlock',
      databaseUrl: undefined,
      temporalAddress: undefined,
      requireBoundTokens: false,
      listen: { host: '127.0.0.1', port: 8080 },
    });
  });

  test('every missing variable is named at once; an empty one is missing', () => {
    const { reason, variables } = refusal(() =>
      workerConfig({ ...WORKER, TEMPORAL_ADDRESS: '', GENLOCK_KEYS_FILE: undefined }),
    );
    expect(reason).toBe('MISSING_VARIABLE');
    expect(variables.map(({ variable }) => variable)).toEqual(['TEMPORAL_ADDRESS', 'GENLOCK_KEYS_FILE']);
    expect(variablesAtFault(() => apiConfig({}))).toEqual(
      Object.keys(API).sort((a, b) => order(a) - order(b)),
    );
  });

  test.each<[string, string]>([
    ['GENLOCK_API_DATABASE_URL', 'mysql://genlock_api:s@db/genlock'],
    ['GENLOCK_API_DATABASE_URL', 'not a url'],
    ['GENLOCK_API_DATABASE_URL', 'postgres://postgres:s@db/genlock'],
    ['GENLOCK_OPERATOR_DATABASE_URL', 'postgres://genlock_api:s@db/genlock'],
    ['TEMPORAL_ADDRESS', 'temporal'],
    ['TEMPORAL_ADDRESS', 'http://temporal:7233'],
    ['TEMPORAL_NAMESPACE', 'two words'],
    ['GENLOCK_ISSUER_URL', 'http://issuer.example'],
    ['GENLOCK_ISSUER_JWKS_URL', 'http://127.evil.example/jwks'],
    ['GENLOCK_ISSUER_JWKS_URL', 'https://user:pass@issuer.example/jwks'],
    ['GENLOCK_PUBLIC_URL', 'https://genlock.example/?a=1'],
    ['GENLOCK_PUBLIC_URL', 'genlock.example'],
    ['GENLOCK_API_PORT', '65536'],
    ['GENLOCK_API_PORT', '8080.5'],
    ['GENLOCK_API_PORT', '-1'],
    ['GENLOCK_LEASE_TTL_MS', '999'],
    ['GENLOCK_LEASE_TTL_MS', '10s'],
    ['GENLOCK_LEASE_TTL_MS', '60001'],
    ['GENLOCK_REQUIRE_BOUND_TOKENS', 'no'],
    ['GENLOCK_POOL_SIZE', '0'],
    ['GENLOCK_LOG_LEVEL', 'loud'],
  ])('%s refuses %j by its name, and does not repeat the value', (variable, value) => {
    const { reason, variables } = refusal(() => apiConfig({ ...API, [variable]: value }));
    expect(reason).toBe('INVALID_VARIABLE');
    expect(variables).toHaveLength(1);
    expect(variables[0]?.variable).toBe(variable);
    if (value.length > 2) expect(variables[0]?.rule).not.toContain(value);
    expect(variables[0]?.rule.length).toBeGreaterThan(5);
  });

  test('a secret never prints: not in JSON, not in a template, not by inspect', () => {
    const config = apiConfig(API);
    const printed = [JSON.stringify(config), `${config.apiDatabaseUrl}`, inspect(config, { depth: 9 })].join(
      '\n',
    );
    expect(printed).not.toContain('hunter');
    expect(printed).toContain('[redacted]');
  });

  test('a caller token need not be bound only where the operator says so', () => {
    expect(apiConfig({ ...API, GENLOCK_REQUIRE_BOUND_TOKENS: 'false' }).requireBoundTokens).toBe(false);
    expect(devConfig({ GENLOCK_REQUIRE_BOUND_TOKENS: 'true' }).requireBoundTokens).toBe(true);
  });
});

describe('.env.example', () => {
  test('names every variable that a program reads', () => {
    const text = readFileSync(join(packageRoot(), '.env.example'), 'utf8');
    const names = new Set(text.match(/\b[A-Z][A-Z0-9_]+\b/g));
    expect(Object.keys(VARIABLES).filter((variable) => !names.has(variable))).toEqual([]);
  });

  test('docker-compose.yml passes on every variable that .env sets', () => {
    const read = (file: string): string => readFileSync(join(packageRoot(), file), 'utf8');
    const set = [...read('.env.example').matchAll(/^([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);
    expect(set.length).toBeGreaterThan(10);
    expect(set.filter((name) => !read('docker-compose.yml').includes(`\${${name}:`))).toEqual([]);
  });
});

describe('clientConfig', () => {
  test('asks for the address of the API and a token, which is never shown', () => {
    const config = clientConfig({ GENLOCK_URL: 'https://genlock.example/', GENLOCK_TOKEN: 'aa.bb.cc' });
    expect(config.url).toBe('https://genlock.example');
    expect(config.token.reveal()).toBe('aa.bb.cc');
    expect(inspect(config)).not.toContain('aa.bb.cc');
    expect(variablesAtFault(() => clientConfig({}))).toEqual(['GENLOCK_URL', 'GENLOCK_TOKEN']);
  });

  test.each([
    ['GENLOCK_URL', 'http://genlock.example'],
    ['GENLOCK_TOKEN', 'two words'],
  ])('%s=%s is refused without being repeated', (variable, value) => {
    const env = { GENLOCK_URL: 'https://genlock.example', GENLOCK_TOKEN: 'aa.bb.cc', [variable]: value };
    const { reason, variables } = refusal(() => clientConfig(env));
    expect([reason, variables.map((one) => one.variable)]).toEqual(['INVALID_VARIABLE', [variable]]);
    expect(JSON.stringify(variables)).not.toContain(value);
  });
});

describe('keysConfig', () => {
  test('asks for the key file and nothing else', () => {
    expect(keysConfig({ GENLOCK_KEYS_FILE: 'keys.json' })).toEqual({ keysFile: 'keys.json' });
    expect(variablesAtFault(() => keysConfig({}))).toEqual(['GENLOCK_KEYS_FILE']);
  });
});

/** The order in which the API's variables are checked. */
const ORDER = [
  'TEMPORAL_ADDRESS',
  'GENLOCK_KEYS_FILE',
  'GENLOCK_PUBLIC_URL',
  'GENLOCK_API_DATABASE_URL',
  'GENLOCK_OPERATOR_DATABASE_URL',
  'GENLOCK_ISSUER_URL',
  'GENLOCK_ISSUER_JWKS_URL',
  'GENLOCK_TOKEN_AUDIENCE',
];
const order = (variable: string): number => ORDER.indexOf(variable);
