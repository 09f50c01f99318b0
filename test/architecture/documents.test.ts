/** The documents that are made from code say what the code says. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { ROOT } from './cruise.js';

test('the generated documents are those of this code', () => {
  const tsx = createRequire(import.meta.url).resolve('tsx');
  const check = spawnSync(process.execPath, ['--import', tsx, 'scripts/writeDocs.ts', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(check.stderr).toBe('');
  expect(check.status).toBe(0);
});
