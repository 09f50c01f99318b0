/** S6: what the worker resolves for a tenant, from real files, and what it refuses to look at. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  parseAudienceClass,
  parseNamespace,
  parseServerName,
  parseTenantId,
} from '../../../src/domain/ids.js';
import { DEFAULT_SCAN_LIMITS } from '../../../src/domain/scanLimits.js';
import {
  DEFAULT_CONTRACT,
  DEFAULT_FRESHNESS,
  DEFAULT_TRUST,
  type RegisteredServer,
  type SourceSpec,
} from '../../../src/domain/server.js';
import { sha256Bytes } from '../../../src/proof/digest.js';
import type { SourceTarget } from '../../../src/sources/source.js';
import { targetOf } from '../../../src/sources/targetOf.js';

const acme = parseTenantId('acme');
const AUDIENCE = parseAudienceClass('staff');
const HTTP: SourceSpec = { kind: 'mcp-http', url: 'http://127.0.0.1:9/mcp' };
const ENV: Readonly<Record<string, string>> = {
  GENLOCK_WORKER_DATABASE_URL: 'secret-of-the-worker',
  GENLOCK_CREDENTIAL_ACME_TOKEN: ' secret-of-acme\n',
  GENLOCK_CREDENTIAL_ACME_EMPTY: ' ',
  GENLOCK_CREDENTIAL_OTHER_TOKEN: 'secret-of-other',
};

const serverOf = (source: SourceSpec): RegisteredServer => ({
  name: parseServerName('shop'),
  namespace: parseNamespace('shop'),
  source,
  trust: DEFAULT_TRUST,
  limits: DEFAULT_SCAN_LIMITS,
  contract: DEFAULT_CONTRACT,
  freshness: DEFAULT_FRESHNESS,
  refreshSeconds: 0,
  audiences: { [AUDIENCE]: { kind: 'none' } },
  trustVersion: 1,
  closedReason: null,
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'genlock credentials '));
  await mkdir(join(folder, 'acme'));
  await mkdir(join(folder, 'other'));
  await writeFile(join(folder, 'other', 'token'), 'secret-of-other');
});
afterEach(() => rm(folder, { recursive: true }));

const resolve = (
  reference: string | null,
  source: SourceSpec = HTTP,
  { tenant = acme, stdio = [acme], files = true } = {},
): Promise<SourceTarget> =>
  targetOf(
    tenant,
    serverOf(source),
    reference === null ? { kind: 'none' } : { kind: 'reference', reference },
    {
      env: (name) => ENV[name],
      credentialsDir: files ? folder : undefined,
      stdioTenants: new Set(stdio),
      fingerprint: (secret) => sha256Bytes(secret),
    },
  );
const tokenOf = async (reference: string): Promise<string> => {
  const { credential } = await resolve(reference);
  return credential.kind === 'bearer' ? credential.token.reveal() : 'none';
};

describe('S6 references', () => {
  test("a variable of the tenant's own gives its trimmed value", async () => {
    expect(await tokenOf('env:GENLOCK_CREDENTIAL_ACME_TOKEN')).toBe('secret-of-acme');
  });

  test("a file in the tenant's own folder is read, by way of a link within it too", async () => {
    await mkdir(join(folder, 'acme', '..data'));
    await writeFile(join(folder, 'acme', '..data', 'token'), 'first\n');
    await symlink(join('..data', 'token'), join(folder, 'acme', 'token'));
    expect(await tokenOf('file:token')).toBe('first');
  });

  test.each<[string, string]>([
    ['env:GENLOCK_WORKER_DATABASE_URL', "outside of this tenant's space"],
    ['env:GENLOCK_CREDENTIAL_OTHER_TOKEN', "outside of this tenant's space"],
    ['env:PATH', "outside of this tenant's space"],
    ['file:/etc/hostname', "outside of this tenant's space"],
    ['file:../other/token', "outside of this tenant's space"],
    ['env:GENLOCK_CREDENTIAL_ACME_ABSENT', 'the variable is not set'],
    ['env:GENLOCK_CREDENTIAL_ACME_EMPTY', 'the variable is not set'],
    ['file:absent', 'the file cannot be read (ENOENT)'],
    ['file:out', "the file leads out of the tenant's folder"],
    ['file:folder-out/token', "the file leads out of the tenant's folder"],
    ['file:folder', 'it is not a regular file'],
    ['file:pipe', 'it is not a regular file'],
    ['file:huge', 'the file is larger than 65536 bytes'],
    ['file:empty', 'the file is empty'],
  ])('%s ends CREDENTIAL_UNRESOLVED: %s', async (reference, rule) => {
    const own = join(folder, 'acme');
    await symlink(join(folder, 'other', 'token'), join(own, 'out'));
    await symlink(join(folder, 'other'), join(own, 'folder-out'));
    await mkdir(join(own, 'folder'));
    execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', join(own, 'pipe')]);
    await writeFile(join(own, 'huge'), 'a'.repeat(65_537));
    await writeFile(join(own, 'empty'), '\n');
    await expect(resolve(reference)).rejects.toMatchObject({
      reason: 'CREDENTIAL_UNRESOLVED',
      evidence: { reference, rule: expect.stringContaining(rule) },
    });
  });

  test('a folder beside the own one whose name goes on is not inside', async () => {
    await mkdir(join(folder, 'acme-eu'));
    await writeFile(join(folder, 'acme-eu', 'token'), 'secret-of-acme-eu');
    await symlink(join(folder, 'acme-eu', 'token'), join(folder, 'acme', 'next'));
    await expect(resolve('file:next')).rejects.toMatchObject({ reason: 'CREDENTIAL_UNRESOLVED' });
  });

  test('without a folder of credentials no file is read', async () => {
    await writeFile(join(folder, 'acme', 'token'), 'there');
    expect(await tokenOf('file:token')).toBe('there');
    await expect(resolve('file:token', HTTP, { files: false })).rejects.toMatchObject({
      evidence: { rule: 'the worker has no GENLOCK_CREDENTIALS_DIR' },
    });
  });
});

describe('stdio servers', () => {
  const stdio = (env: Readonly<Record<string, string>>): SourceSpec => ({
    kind: 'mcp-stdio',
    command: 'node',
    args: [],
    env,
  });

  test('S6 references in env are bound to the same space; other values are literal', async () => {
    const target = await resolve(
      null,
      stdio({ API_TOKEN: 'env:GENLOCK_CREDENTIAL_ACME_TOKEN', LEVEL: 'debug' }),
    );
    const env = target.kind === 'mcp-stdio' ? (target.env ?? {}) : {};
    expect(env['LEVEL']).toBe('debug');
    expect(String(env['API_TOKEN'])).toBe('[redacted]');
    for (const reference of ['env:GENLOCK_WORKER_DATABASE_URL', 'file:/etc/hostname'])
      await expect(resolve(null, stdio({ LEVEL: reference }))).rejects.toMatchObject({
        reason: 'CREDENTIAL_UNRESOLVED',
      });
  });

  test('STDIO_REFUSED for a tenant that is not named, before a credential is looked up', async () => {
    const refused = resolve('env:GENLOCK_CREDENTIAL_OTHER_TOKEN', stdio({}), {
      tenant: parseTenantId('other'),
    });
    await expect(refused).rejects.toMatchObject({ reason: 'STDIO_REFUSED', evidence: { tenant: 'other' } });
    await expect(resolve(null, stdio({}), { stdio: [] })).rejects.toMatchObject({ reason: 'STDIO_REFUSED' });
  });
});
