import { describe, expect, test } from 'vitest';
import { parseServerName } from '../../../src/domain/ids.js';
import type { IdentityRecord } from '../../../src/domain/snapshot.js';
import { digestJson, sha256Bytes } from '../../../src/proof/digest.js';
import { endpointDigest, identityDigest, serverIdentity } from '../../../src/proof/identity.js';

const http = (url: string) => endpointDigest({ transport: 'http', url });

describe('S1 endpoint digest', () => {
  test('two spellings of one address agree', () => {
    expect(http('HTTPS://Example.org:443/mcp#part')).toBe(http('https://example.org/mcp'));
    expect(http('https://example.org/mcp')).toBe(
      digestJson({ transport: 'http', url: 'https://example.org/mcp' }),
    );
  });

  test.each([
    'https://example.org/mcp/',
    'http://example.org/mcp',
    'https://example.org/mcp?a',
    'https://example.org/MCP',
  ])('%s is another address', (url) => {
    expect(http(url)).not.toBe(http('https://example.org/mcp'));
  });

  test.each(['https://user:pw@example.org/', 'https://user@example.org/', 'ftp://example.org/', '/mcp', ''])(
    '%s is refused',
    (url) => {
      expect(() => http(url)).toThrow('ENDPOINT_FORM');
    },
  );

  test('a command is digested word by word', () => {
    const stdio = (command: string, ...args: string[]) =>
      endpointDigest({ transport: 'stdio', command, args, cwd: null });
    expect(stdio('node', 'a b')).not.toBe(stdio('node', 'a', 'b'));
    expect(stdio('node a')).not.toBe(stdio('node', 'a'));
  });
});

describe('D8 identity', () => {
  const record: IdentityRecord = {
    schema: 'identity.v1',
    kind: 'mcp-http',
    endpoint: http('https://example.org/mcp'),
    spki: sha256Bytes('key'),
    artifact: null,
  };

  test('each part of the evidence changes the identity', () => {
    const digest = identityDigest(record);
    for (const change of [
      { kind: 'openapi' as const },
      { endpoint: http('https://example.net/mcp') },
      { spki: sha256Bytes('other key') },
      { spki: null },
      { artifact: sha256Bytes('binary') },
    ]) {
      expect(identityDigest({ ...record, ...change })).not.toBe(digest);
    }
  });

  test('S1 the server is named by name and digest; members beside identity.v1 have no part in it', () => {
    const digest = identityDigest({ ...record, serverInfo: 'says so' } as IdentityRecord);
    expect(digest).toBe(identityDigest(record));
    expect(serverIdentity(parseServerName('inventory-mcp'), digest)).toBe(`inventory-mcp@${digest}`);
  });
});
