/** Which lines of Temporal's SDK reach our log: some of its debug lines hold whole tasks, tokens and inputs included. */
import { expect, test } from 'vitest';
import { logSdkLine } from '../../../src/temporal/worker.js';

test('S6 INFO is our debug; DEBUG and TRACE, which print whole tasks, come out at no level', () => {
  const lines: string[] = [];
  const log = {
    debug: (fields: object, message: string) => void lines.push(`debug ${message} ${JSON.stringify(fields)}`),
    warn: (fields: object, message: string) => void lines.push(`warn ${message} ${JSON.stringify(fields)}`),
    error: (fields: object, message: string) => void lines.push(`error ${message} ${JSON.stringify(fields)}`),
  };
  for (const level of ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const)
    logSdkLine(log, level, level.toLowerCase(), { taskToken: level });
  expect(lines).toEqual([
    'debug info {"taskToken":"INFO"}',
    'warn warn {"taskToken":"WARN"}',
    'error error {"taskToken":"ERROR"}',
  ]);
});
