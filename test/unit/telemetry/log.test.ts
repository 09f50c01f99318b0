/** What a log line may and may not show. */
import { describe, expect, test } from 'vitest';
import { CatalogError } from '../../../src/domain/errors.js';
import { Secret } from '../../../src/domain/secret.js';
import { createLogger, scrub } from '../../../src/telemetry/log.js';

const capture = (level: 'info' | 'warn' = 'info') => {
  const lines: string[] = [];
  const log = createLogger({ level, program: 'api', to: { write: (line) => lines.push(line) } });
  return { log, lines, last: (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? 'null') };
};

const JWT = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;

describe('log', () => {
  test('a line is one JSON object with program, level by name and ISO time', () => {
    const { log, lines, last } = capture();
    log.info({ server: 'inventory' }, 'discovery ended');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(last()).toMatchObject({
      program: 'api',
      level: 'info',
      server: 'inventory',
      msg: 'discovery ended',
    });
    expect(last()['time']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  test('a level that is off writes nothing', () => {
    const { log, lines } = capture('warn');
    log.info('quiet');
    log.warn('loud');
    expect(lines).toHaveLength(1);
  });

  test.each([
    ['authorization', { headers: { Authorization: 'Bearer hunter2hunter2' } }],
    ['dpop', { req: { headers: { dpop: 'hunter2' } } }],
    ['access_token', { body: [{ access_token: 'hunter2' }] }],
    ['password', { config: { db: { password: 'hunter2' } } }],
    ['apiDatabaseUrl', { databaseUrl: 'postgres://u:hunter2@h/db' }],
    ['mcp-session-id', { headers: { 'Mcp-Session-Id': 'hunter2' } }],
    ['a Secret', { value: new Secret('hunter2') }],
  ])('%s is not printed, at any depth', (_, members) => {
    const { log, lines } = capture();
    log.info(members, 'x');
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).toContain('[redacted]');
  });

  test('what a logger is bound to is redacted as well', () => {
    const { log, lines } = capture();
    log.child({ auth: { token: 'hunter2' } }).info('x');
    expect(lines[0]).not.toContain('hunter2');
  });

  test('a credential inside a message, an error or its cause is not printed', () => {
    const { log, last, lines } = capture();
    const cause = Object.assign(
      new Error(`connect postgres://genlock_api:hunter2@db:5432/g refused ${JWT}`),
      {
        client: { password: 'hunter2' },
      },
    );
    log.error(
      { err: new CatalogError('UNAVAILABLE', 'DATABASE', { sqlState: '08006' }, { cause }) },
      `token ${JWT}`,
    );
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).not.toContain(JWT);
    expect(last()['err']).toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'DATABASE',
      details: { sqlState: '08006' },
      cause: { message: 'connect postgres://[redacted]@db:5432/g refused [redacted]' },
    });
  });

  test('scrubbing leaves ordinary text and keeps a line valid JSON', () => {
    const text = JSON.stringify({
      a: 'http://127.0.0.1:80/mcp?x=1',
      b: 'sha256:abc',
      c: 'basic 4 rules',
      q: '"@',
    });
    expect(scrub(text)).toBe(text);
    expect(() => JSON.parse(scrub(JSON.stringify({ a: `Bearer ${JWT}`, b: 'x://a:b@c' })))).not.toThrow();
  });
});
