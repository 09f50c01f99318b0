/**
 * Every bad input ends its run INCOMPLETE with a reason of its own, with evidence that an operator reads in the store and
 * in Temporal, and leaves what was active as it was. The servers are bent after a first good scan.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { durationMs, parseTenantId } from '../../../src/domain/ids.js';
import type { Bend, BendableOptions } from '../../fixtures/bendableMcp.js';
import { selfSignedCertificate } from '../../fixtures/selfSignedCertificate.js';
import { at, serveList, tool, tools } from './bentLists.js';
import { ownKey, type Registered, useDiscovery } from './discoveryStack.js';

const stack = useDiscovery();

interface Case {
  readonly name: string;
  readonly reason: string;
  /** What the server does once it is bent. */
  readonly list?: Bend;
  readonly any?: BendableOptions['any'];
  readonly more?: Registered;
  readonly evidence: object;
}

const good = serveList(() => ({ pages: [tools(3), tools(3, 'more')], revision: at(7) }));
/** Page by page, with a revision on each. */
const pages =
  (page: (n: number) => { readonly tools: readonly object[]; readonly next?: string }): Bend =>
  (bent) => {
    const n = bent.cursor === undefined ? 0 : Number(bent.cursor.replace(/\D/g, ''));
    const { tools: list, next } = page(n);
    bent.result({
      tools: list,
      ...(next === undefined ? {} : { nextCursor: next }),
      _meta: { 'dev.genlock/catalogRevision': at(8) },
    });
  };
const status =
  (code: number, body: string, type = 'application/json'): BendableOptions['any'] =>
  (_, response) => {
    response.writeHead(code, { 'content-type': type, location: 'http://127.0.0.1:1/' }).end(body);
    return true;
  };
const PIECE = Buffer.alloc(64 * 1024, ' ');
const hundredMegabytes: Bend = ({ response }) => {
  let left = 100 * 1024 * 1024;
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= PIECE.length;
      if (!response.write(PIECE)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
};

const CASES: readonly Case[] = [
  {
    name: 'what answers is not an MCP server',
    reason: 'NOT_MCP',
    any: status(200, '<html>Welcome to nginx</html>', 'text/html'),
    evidence: { start: expect.stringContaining('nginx') },
  },
  {
    name: 'the credential is refused',
    reason: 'AUTH_REFUSED',
    any: status(401, '{}'),
    evidence: { status: 401 },
  },
  {
    name: 'the endpoint redirects',
    reason: 'REDIRECT_REFUSED',
    any: status(307, ''),
    evidence: { status: 307 },
  },
  { name: 'the server fails', reason: 'UPSTREAM_ERROR', any: status(500, 'oops'), evidence: { status: 500 } },
  {
    name: 'the server answers with an error',
    reason: 'UPSTREAM_ERROR',
    list: (bent) => bent.error(-32_603, 'no database'),
    evidence: { code: -32_603, message: 'no database', page: 0 },
  },
  {
    name: 'a page is not JSON',
    reason: 'PAGE_MALFORMED',
    list: (bent) => bent.bytes(`{"jsonrpc":"2.0","id":${bent.id},"result":{"tools":[}}`),
    evidence: { page: 0, rule: 'MALFORMED', offset: expect.any(Number) },
  },
  {
    name: 'a page has an object with one key twice',
    reason: 'DUPLICATE_KEY',
    list: (bent) =>
      bent.bytes(`{"jsonrpc":"2.0","id":${bent.id},"result":{"tools":[{"name":"a","name":"b"}]}}`),
    evidence: { page: 0, pointer: '/result/tools/0/name' },
  },
  {
    name: 'a page has 100 MB',
    reason: 'PAGE_TOO_LARGE',
    list: hundredMegabytes,
    evidence: { page: 0, limit: 16 * 1024 * 1024 },
  },
  {
    name: 'a list has 10,000 pages',
    reason: 'PAGE_BUDGET_EXCEEDED',
    list: pages((n) => ({ tools: [tool(`t${n}`)], ...(n < 9_999 ? { next: `c${n + 1}` } : {}) })),
    evidence: { page: 999, limit: 1_000, pages: 999 },
  },
  {
    name: 'a page does not come',
    reason: 'PAGE_TIMEOUT',
    list: () => {},
    more: { limits: { pageTime: durationMs(150), scanTime: durationMs(60_000) } },
    evidence: { page: 0, limitMs: 150 },
  },
  {
    name: 'a scan takes longer than it may',
    reason: 'DEADLINE_EXCEEDED',
    list: async (bent) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      await pages((n) => ({ tools: [tool(`t${n}`)], next: `c${n + 1}` }))(bent);
    },
    more: { limits: { scanTime: durationMs(1_500) } },
    evidence: { limitMs: 1_500, pages: expect.any(Number) },
  },
  {
    name: 'a page names its own cursor again',
    reason: 'CURSOR_REPEATED',
    list: pages((n) => ({ tools: [tool(`t${n}`)], next: 'c1' })),
    evidence: { page: 1 },
  },
  {
    name: 'cursors run in a circle',
    reason: 'CURSOR_CYCLE',
    list: pages((n) => ({ tools: [], next: `c${(n % 3) + 1}` })),
    evidence: { page: 3 },
  },
  {
    name: 'a page brings nothing new',
    reason: 'NO_PROGRESS',
    list: pages((n) => ({ tools: [tool('same')], next: `c${n + 1}` })),
    evidence: { page: 1, tools: 1 },
  },
  {
    name: 'a list has more tools than it may',
    reason: 'TOOL_BUDGET_EXCEEDED',
    list: pages(() => ({ tools: tools(11) })),
    more: { limits: { tools: 10 } },
    evidence: { tools: 11, limit: 10 },
  },
  {
    name: 'pages together are larger than they may',
    reason: 'BYTE_BUDGET_EXCEEDED',
    list: pages((n) => ({ tools: [tool(`t${n}`, { description: 'x'.repeat(1_000) })], next: `c${n + 1}` })),
    more: { limits: { scanBytes: 3_000 } },
    evidence: { limit: 3_000 },
  },
  {
    name: 'only some pages carry a revision',
    reason: 'REVISION_MISSING',
    list: (bent) =>
      bent.result(
        bent.cursor === undefined
          ? { tools: tools(1), nextCursor: 'c1', _meta: { 'dev.genlock/catalogRevision': 9 } }
          : { tools: tools(1, 'b') },
      ),
    evidence: { page: 1, now: null },
  },
  {
    name: 'a revision holds U+0000',
    reason: 'PAGE_MALFORMED',
    list: serveList(() => ({ pages: [tools(1)], revision: at(9, 'a\u0000b') })),
    evidence: { page: 0, rule: 'a revision holds U+0000' },
  },
  {
    name: 'a tool has a name of 100,000 characters',
    reason: 'PAGE_MALFORMED',
    list: serveList(() => ({ pages: [[tool('n'.repeat(100_000))]], revision: at(9) })),
    evidence: { page: 0, tool: 0, characters: 100_000 },
  },
  {
    name: 'the server does not answer after the last page',
    reason: 'TAIL_UNVERIFIED',
    list: (bent) => {
      // 2 requests for the first scan and its tail were good; the third is the page, the fourth the tail.
      if (tailSeen.has(bent.request.headers.host ?? '')) return bent.error(-32_603, 'gone');
      tailSeen.add(bent.request.headers.host ?? '');
      return bent.result({ tools: tools(2), _meta: { 'dev.genlock/catalogRevision': at(9) } });
    },
    evidence: { fault: 'UPSTREAM_ERROR', message: 'gone' },
  },
];
const tailSeen = new Set<string>();

describe('bad input of a server that was good before', () => {
  test.concurrent.each(CASES)('$reason: $name', async ({ reason, list, any, more, evidence }) => {
    let bent = false;
    const server = await stack.bent({
      any: (request, response) => bent && any?.(request, response) === true,
      list: (b) => (bent && list !== undefined ? list(b) : good(b)),
    });
    const key = ownKey();
    await stack.register(key, server.url, more);
    expect(await stack.discover(key)).toMatchObject({ state: 'ELIGIBLE', generation: 1, tools: 6 });
    const active = await stack.store.active(key);
    bent = true;

    const outcome = await stack.discover(key);
    expect(outcome).toMatchObject({
      state: 'INCOMPLETE',
      reason,
      failed: true,
      generation: null,
      receipt: null,
      evidence,
    });
    expect(outcome.message).toMatch(new RegExp(`^INCOMPLETE/${reason}: .+ Next: .+`));
    expect(await stack.attributesOf(key, outcome.runId)).toMatchObject({
      GenlockState: 'INCOMPLETE',
      GenlockReason: reason,
    });
    const shown = await stack.operator.readDiscovery(key.tenant, outcome.scan);
    expect(shown).toMatchObject({ state: 'INCOMPLETE', reason, evidence, endedAt: expect.any(String) });
    expect(await stack.store.active(key)).toEqual(active);
    expect(JSON.stringify(outcome).length).toBeLessThan(4_000);
  });
});

describe('bad input from the first', () => {
  const fails = async (key: ReturnType<typeof ownKey>, reason: string, evidence: object): Promise<void> => {
    const outcome = await stack.discover(key);
    expect(outcome).toMatchObject({ state: 'INCOMPLETE', reason, failed: true, evidence });
    expect(await stack.attributesOf(key, outcome.runId)).toMatchObject({
      GenlockState: 'INCOMPLETE',
      GenlockReason: reason,
    });
    expect(await stack.operator.readDiscovery(key.tenant, outcome.scan)).toMatchObject({ reason, evidence });
    expect(await stack.store.active(key)).toBeNull();
  };

  test.concurrent('UNREACHABLE: registering a server that is not there succeeds, its discovery says why it is not', async () => {
    const server = await stack.bent({});
    await server.close();
    const key = ownKey();
    await stack.register(key, server.url);
    await fails(key, 'UNREACHABLE', { error: 'ECONNREFUSED' });
  });

  test.concurrent('TLS_FAILED: a certificate that nobody vouches for', async () => {
    const server = await stack.bent({ tls: selfSignedCertificate(), list: good });
    const key = ownKey();
    await stack.register(key, server.url);
    await fails(key, 'TLS_FAILED', { error: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  test.concurrent('ADDRESS_REFUSED: a private address that the trust configuration does not allow', async () => {
    const server = await stack.bent({ list: good });
    const key = ownKey();
    await stack.register(key, server.url, { trust: { allowPrivateAddresses: false } });
    await fails(key, 'ADDRESS_REFUSED', { addresses: ['127.0.0.1'], rule: 'allowPrivateAddresses is off' });
    expect(server.seen).toEqual([]);
  });

  test.concurrent('PROCESS_FAILED: a stdio server that cannot be started', async () => {
    const key = ownKey();
    await stack.register(key, { kind: 'mcp-stdio', command: 'genlock-no-such-program', args: [] });
    await fails(key, 'PROCESS_FAILED', {});
  });

  test.concurrent('S6 CREDENTIAL_UNRESOLVED: a reference that leads nowhere asks the server for nothing', async () => {
    const server = await stack.bent({ list: good });
    const key = ownKey();
    await stack.register(key, server.url, {
      audiences: { [key.audience]: { kind: 'reference', reference: 'env:GENLOCK_CREDENTIAL_ACME_ABSENT' } },
    });
    await fails(key, 'CREDENTIAL_UNRESOLVED', {
      reference: 'env:GENLOCK_CREDENTIAL_ACME_ABSENT',
      rule: 'the variable is not set',
    });
    expect(server.seen).toEqual([]);
  });

  test.concurrent("S6 CREDENTIAL_UNRESOLVED: a stored reference to a secret that is not the tenant's own is sent nowhere", async () => {
    const server = await stack.bent({ list: good });
    stack.secrets.set('GENLOCK_WORKER_DATABASE_URL', 'the-secret-of-the-worker');
    stack.secrets.set('GENLOCK_CREDENTIAL_OTHER_TOKEN', 'the-secret-of-another-tenant');
    for (const reference of ['env:GENLOCK_WORKER_DATABASE_URL', 'env:GENLOCK_CREDENTIAL_OTHER_TOKEN']) {
      const key = ownKey();
      await stack.register(key, server.url, {
        audiences: { [key.audience]: { kind: 'reference', reference } },
      });
      await fails(key, 'CREDENTIAL_UNRESOLVED', { reference });
    }
    expect(server.seen).toEqual([]);
  });

  test.concurrent('STDIO_REFUSED: a command of a tenant that may start none is not run', async () => {
    const ran = join(stack.folder, 'ran');
    const key = { ...ownKey(), tenant: parseTenantId('other') };
    await stack.register(key, { kind: 'mcp-stdio', command: 'touch', args: [ran] });
    await fails(key, 'STDIO_REFUSED', { tenant: 'other' });
    expect(existsSync(ran)).toBe(false);
    // The same command of a tenant that may does run.
    const permitted = ownKey();
    await stack.register(permitted, { kind: 'mcp-stdio', command: 'touch', args: [ran] });
    await fails(permitted, 'PROCESS_FAILED', {});
    expect(existsSync(ran)).toBe(true);
  });

  test.concurrent('V7 a server that says of itself what no database holds is scanned all the same', async () => {
    const server = await stack.bent({
      initialize: (bent) =>
        bent.bytes(
          `{"jsonrpc":"2.0","id":${bent.id},"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a\\u0000b\\ud800","version":"1"}}}`,
        ),
      list: good,
    });
    const key = ownKey();
    await stack.register(key, server.url);
    const outcome = await stack.discover(key);
    expect(outcome).toMatchObject({ state: 'ELIGIBLE' });
    expect(await stack.operator.readDiscovery(key.tenant, outcome.scan)).toMatchObject({
      sourceEvidence: { serverInfo: { name: 'a\\u{0}b\\u{d800}' } },
    });
  });
});
