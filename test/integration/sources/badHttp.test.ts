import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Digest } from '../../../src/domain/ids.js';
import { durationMs } from '../../../src/domain/ids.js';
import { mcpSource } from '../../../src/sources/mcp/mcpSource.js';
import { Secret } from '../../../src/sources/secret.js';
import { type HttpTarget, type SourceConnection, SourceFault } from '../../../src/sources/source.js';
import {
  type Bend,
  type BendableMcp,
  type BendableOptions,
  SAMPLE_TOOLS,
  startBendableMcp,
} from '../../fixtures/bendableMcp.js';
import { selfSignedCertificate } from '../../fixtures/selfSignedCertificate.js';
import { faultOf, httpTarget } from '../../fixtures/sourceTarget.js';

const signal = new AbortController().signal;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const deferred = () => {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((go) => {
    resolve = go;
  });
  return { promise, resolve };
};
const start = async (options: BendableOptions): Promise<BendableMcp> => {
  const server = await startBendableMcp(options);
  closers.push(server.close);
  return server;
};
const connect = async (target: HttpTarget, abort: AbortSignal = signal): Promise<SourceConnection> => {
  const connection = await mcpSource.connect(target, { signal: abort });
  closers.push(() => connection.close());
  return connection;
};
/** The fault of the first page of a server whose list is bent. */
const listFault = async (
  list: Bend,
  more: Partial<HttpTarget> = {},
  cursor?: string,
): Promise<SourceFault> => {
  const server = await start({ list });
  const connection = await connect(httpTarget(server.url, more));
  const fault = await faultOf(connection.listPage(cursor, { signal }));
  expect(fault).toBeInstanceOf(SourceFault);
  return fault;
};
const connectFault = async (
  options: BendableOptions,
  more: Partial<HttpTarget> = {},
): Promise<SourceFault> => {
  const server = await start(options);
  return await faultOf(connect(httpTarget(server.url, more)));
};

describe('what cannot be connected to', () => {
  it('a port where nobody listens is UNREACHABLE', async () => {
    const server = await startBendableMcp();
    await server.close();
    const fault = await faultOf(connect(httpTarget(server.url)));
    expect(fault).toMatchObject({ reason: 'UNREACHABLE', transient: true });
    expect(fault.evidence).toEqual({ endpoint: `127.0.0.1:${server.port}`, error: 'ECONNREFUSED' });
  });

  it('a name that does not exist is UNREACHABLE', async () => {
    expect((await faultOf(connect(httpTarget('http://no-such-host.invalid/mcp')))).reason).toBe(
      'UNREACHABLE',
    );
  });

  it('a private address is ADDRESS_REFUSED before anything is sent, as literal and through a name', async () => {
    const server = await start({});
    const trust = { allowPrivateAddresses: false };
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433']) {
      const fault = await faultOf(connect(httpTarget(`http://${host}:${server.port}/mcp`, { trust })));
      expect(fault.reason, host).toBe('ADDRESS_REFUSED');
    }
    expect(server.seen).toEqual([]);
  });

  it('a URL that carries a credential is refused, and the credential is not shown', async () => {
    const fault = await faultOf(connect(httpTarget('http://user:hunter2@127.0.0.1/mcp')));
    expect(fault.reason).toBe('ADDRESS_REFUSED');
    expect(JSON.stringify(fault.evidence)).not.toContain('hunter2');
  });

  it('a redirect is REDIRECT_REFUSED, even within the origin, and its query is not shown', async () => {
    for (const location of ['/elsewhere?token=abcdef', 'http://198.51.100.7/mcp?token=abcdef']) {
      const fault = await connectFault({
        any: (_, response) => {
          response.writeHead(307, { location }).end();
          return true;
        },
      });
      expect(fault.reason).toBe('REDIRECT_REFUSED');
      expect(fault.evidence).toMatchObject({ status: 307 });
      expect(JSON.stringify(fault.evidence)).not.toContain('abcdef');
    }
  });
});

describe('TLS', () => {
  it('a self-signed certificate is TLS_FAILED with the error code', async () => {
    const fault = await connectFault({ tls: selfSignedCertificate() });
    expect(fault.reason).toBe('TLS_FAILED');
    expect(fault.evidence).toMatchObject({ error: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('https spoken to a plain server is TLS_FAILED', async () => {
    const server = await start({});
    const fault = await faultOf(connect(httpTarget(server.url.replace('http:', 'https:'))));
    expect(fault.reason).toBe('TLS_FAILED');
  });

  it('D8 a trusted certificate gives the digest of its public key, one per key, the same on each page', async () => {
    const seen: (Digest | null)[] = [];
    for (const tls of [selfSignedCertificate(), selfSignedCertificate()]) {
      const server = await start({ tls });
      const connection = await connect(
        httpTarget(server.url, { trust: { allowPrivateAddresses: true, tlsCaPem: tls.cert } }),
      );
      const first = await connection.listPage(undefined, { signal });
      const second = await connection.listPage(undefined, { signal });
      expect(first.evidence.spki).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(second.evidence.spki).toBe(first.evidence.spki);
      seen.push(first.evidence.spki);
    }
    expect(seen[0]).not.toBe(seen[1]);
  });

  it('D8 a key that is not pinned is refused before the credential is sent; the pinned one is accepted', async () => {
    const tls = selfSignedCertificate();
    const server = await start({ tls });
    const trusting = (pin: Digest) =>
      httpTarget(server.url, { trust: { allowPrivateAddresses: true, tlsCaPem: tls.cert, spkiPins: [pin] } });
    const fault = await faultOf(connect(trusting(`sha256:${'0'.repeat(64)}` as Digest)));
    expect(fault).toMatchObject({ reason: 'TLS_FAILED', evidence: { error: 'SPKI_PIN_MISMATCH' } });
    expect(server.seen).toEqual([]);
    const connection = await connect(trusting(fault.evidence['spki'] as Digest));
    expect((await connection.listPage(undefined, { signal })).tools).toHaveLength(2);
  });
});

describe('what does not speak MCP', () => {
  it('a web page is NOT_MCP with its first bytes', async () => {
    const fault = await connectFault({ initialize: (b) => b.bytes('<!doctype html>\n<p>Hi', 'text/html') });
    expect(fault.reason).toBe('NOT_MCP');
    expect(fault.evidence).toMatchObject({
      status: 200,
      contentType: 'text/html',
      start: '<!doctype html>\\x0a<p>Hi',
    });
  });

  it('a path that does not exist is NOT_MCP', async () => {
    expect((await connectFault({ initialize: (b) => b.bytes('none', 'text/plain', 404) })).reason).toBe(
      'NOT_MCP',
    );
  });

  it('JSON that is no initialize result, text that is no JSON, and an unknown version are NOT_MCP', async () => {
    const bends: Bend[] = [
      (b) => b.bytes('{"hello":"world"}'),
      (b) => b.bytes('not json'),
      (b) => b.result({ ok: true }),
      (b) =>
        b.result({
          protocolVersion: '1999-01-01',
          capabilities: {},
          serverInfo: { name: 'x', version: '0' },
        }),
    ];
    for (const initialize of bends) expect((await connectFault({ initialize })).reason).toBe('NOT_MCP');
  });

  it('something that is not HTTP is NOT_MCP', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('220 mail.example ESMTP\r\n', () => socket.destroySoon());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    expect((await faultOf(connect(httpTarget(`http://127.0.0.1:${port}/mcp`)))).reason).toBe('NOT_MCP');
  });
});

describe('refusals and errors of the server', () => {
  it('401 and 403 are AUTH_REFUSED; an echoed token is blotted out', async () => {
    const token = 'secret-token-abc123';
    for (const status of [401, 403]) {
      const fault = await connectFault(
        { initialize: (b) => b.bytes(`no: ${b.request.headers.authorization}`, 'text/plain', status) },
        { credential: { kind: 'bearer', token: new Secret(token) } },
      );
      expect(fault.reason).toBe('AUTH_REFUSED');
      expect(fault.evidence).toMatchObject({ status, start: 'no: Bearer [redacted]' });
    }
  });

  it('a server error is a transient UPSTREAM_ERROR', async () => {
    const fault = await listFault((b) => b.bytes('boom', 'text/plain', 503));
    expect(fault).toMatchObject({ reason: 'UPSTREAM_ERROR', transient: true, evidence: { status: 503 } });
  });

  it('a JSON-RPC error is UPSTREAM_ERROR with code and message', async () => {
    const fault = await listFault((b) => b.error(-32603, 'database is down'));
    expect(fault).toMatchObject({ reason: 'UPSTREAM_ERROR', transient: false });
    expect(fault.evidence).toMatchObject({ code: -32603, message: 'database is down' });
    expect((await connectFault({ initialize: (b) => b.error(-32603, 'no') })).reason).toBe('UPSTREAM_ERROR');
  });

  it('D6 −32602 in answer to a cursor is CURSOR_EXPIRED, in answer to none UPSTREAM_ERROR, also with status 400', async () => {
    for (const status of [200, 400]) {
      const list: Bend = (b) => b.error(-32602, 'unknown cursor', status);
      expect((await listFault(list, {}, 'c1')).reason).toBe('CURSOR_EXPIRED');
      expect((await listFault(list)).reason).toBe('UPSTREAM_ERROR');
    }
  });

  it('D6 a session that is gone is SESSION_LOST; its id is sent back, ended on close, and never shown', async () => {
    const sessionId = 'session-9f8e7d6c';
    const server = await start({
      sessionId,
      list: (b) =>
        b.before === 0
          ? b.result({ tools: SAMPLE_TOOLS, nextCursor: 'c' })
          : b.error(-32001, `no ${sessionId}`, 404),
    });
    const connection = await connect(httpTarget(server.url));
    const page = await connection.listPage(undefined, { signal });
    expect(page.evidence.sessionScoped).toBe(true);
    const fault = await faultOf(connection.listPage('c', { signal }));
    expect(fault.reason).toBe('SESSION_LOST');
    expect(JSON.stringify([fault.evidence, page.evidence])).not.toContain(sessionId);
    await connection.close();
    expect(server.headers.at(-1)).toMatchObject({ 'mcp-session-id': sessionId });
    expect(server.seen.at(-1)).toBe('DELETE');
  });
});

describe('pages that are bent', () => {
  it('a page that is not JSON is PAGE_MALFORMED with the position', async () => {
    const fault = await listFault((b) => b.bytes(`{"jsonrpc":"2.0","id":${b.id},"result":{"tools":[}}`));
    expect(fault.reason).toBe('PAGE_MALFORMED');
    expect(fault.evidence).toMatchObject({
      rule: 'MALFORMED',
      pointer: expect.any(String),
      offset: expect.any(Number),
    });
  });

  it('V7 a duplicate key is DUPLICATE_KEY with its pointer', async () => {
    const fault = await listFault((b) =>
      b.bytes(`{"jsonrpc":"2.0","id":${b.id},"result":{"tools":[{"name":"a","name":"b"}]}}`),
    );
    expect(fault.reason).toBe('DUPLICATE_KEY');
    expect(fault.evidence).toMatchObject({ pointer: expect.stringContaining('/result/tools/0') });
  });

  it('bytes that are no UTF-8 are PAGE_MALFORMED', async () => {
    const fault = await listFault((b) => b.bytes(Buffer.from([0x7b, 0xff, 0x7d])));
    expect(fault).toMatchObject({ reason: 'PAGE_MALFORMED', evidence: { rule: 'INVALID_UTF8' } });
  });

  it('a result without an array of tools is PAGE_MALFORMED', async () => {
    expect((await listFault((b) => b.result({}))).evidence).toMatchObject({ pointer: '/result/tools' });
    expect((await listFault((b) => b.result({ tools: {} }))).reason).toBe('PAGE_MALFORMED');
    expect((await listFault((b) => b.result([]))).evidence).toMatchObject({ pointer: '/result' });
  });

  it('an answer in a content encoding that was not asked for is PAGE_MALFORMED', async () => {
    const fault = await listFault((b) => {
      b.response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x');
    });
    expect(fault).toMatchObject({ reason: 'PAGE_MALFORMED', evidence: { encoding: 'gzip' } });
  });

  it('a page of 100 MB is cut at the limit, whether its length is declared, in chunks or an event stream', async () => {
    const total = 100 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, ' ');
    for (const headers of [
      { 'content-type': 'application/json' },
      { 'content-type': 'application/json', 'content-length': String(total) },
      { 'content-type': 'text/event-stream' },
    ]) {
      let sent = 0;
      const gone = deferred();
      const fault = await listFault(
        ({ response }) => {
          response.on('close', gone.resolve);
          response.writeHead(200, headers);
          const more = (): void => {
            while (sent < total && !response.destroyed) {
              sent += piece.length;
              if (!response.write(piece)) {
                response.once('drain', more);
                return;
              }
            }
            response.end();
          };
          more();
        },
        { limits: { pageBytes: 1024 * 1024, pageTime: durationMs(20_000) } },
      );
      expect(fault).toMatchObject({ reason: 'PAGE_TOO_LARGE', evidence: { limit: 1024 * 1024 } });
      await gone.promise;
      expect(sent).toBeLessThan(total / 2);
    }
  });

  it('a page that does not come in time is PAGE_TIMEOUT, and its request is given up', async () => {
    const gone = deferred();
    const limits = { pageBytes: 1_000_000, pageTime: durationMs(300) };
    const fault = await listFault(({ response }) => void response.on('close', gone.resolve), { limits });
    expect(fault).toMatchObject({ reason: 'PAGE_TIMEOUT', transient: true, evidence: { limitMs: 300 } });
    await gone.promise;
  });

  it('a page that drips byte by byte meets the same time limit', async () => {
    const limits = { pageBytes: 1_000_000, pageTime: durationMs(400) };
    const fault = await listFault(
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(drip));
      },
      { limits },
    );
    expect(fault.reason).toBe('PAGE_TIMEOUT');
  });

  it('an answer to another request is none: PAGE_TIMEOUT with what came instead', async () => {
    const limits = { pageBytes: 1_000_000, pageTime: durationMs(300) };
    const fault = await listFault((b) => b.bytes('{"jsonrpc":"2.0","id":"other","result":{"tools":[]}}'), {
      limits,
    });
    expect(fault).toMatchObject({
      reason: 'PAGE_TIMEOUT',
      evidence: { otherMessages: ['an answer to request "other"'] },
    });
  });

  it('a body that breaks off is a transient UPSTREAM_ERROR', async () => {
    const fault = await listFault(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"jsonrpc":', () => response.destroy());
    });
    expect(fault).toMatchObject({ reason: 'UPSTREAM_ERROR', transient: true, evidence: { cut: 'body' } });
  });
});

describe('pages that are unusual and right', () => {
  const page = async (list: Bend) => {
    const server = await start({ list });
    return await (await connect(httpTarget(server.url))).listPage(undefined, { signal });
  };

  it('S3 unknown members, member order and large numbers stand in the text as they were sent', async () => {
    const tool =
      '{ "inputSchema":{"type":"object"},"zz":12345678901234567890, "name":"a","annotations":{"x":1}}';
    const got = await page((b) => b.bytes(`{"result":{"tools":[${tool}]},"id":${b.id},"jsonrpc":"2.0"}`));
    expect(got.tools[0]?.text).toBe(tool);
    expect(got.inexactNumbers).toEqual([expect.objectContaining({ pointer: '/result/tools/0/zz' })]);
  });

  it('an event stream is read as its data lines, past notifications, with any line ending', async () => {
    const got = await page((b) => {
      const answer = `{"jsonrpc":"2.0","id":${b.id},\r\ndata: "result":{"tools":[{"name":"ü"}],"nextCursor":""}}`;
      const note = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
      b.bytes(
        `: hi\n\nevent: message\ndata: ${note}\n\nid: 1\r\ndata: ${answer}\r\n\r\n`,
        'text/event-stream',
      );
    });
    expect(new TextDecoder().decode(got.raw)).toContain(',\n"result"');
    expect(got.tools[0]?.value).toEqual({ name: 'ü' });
    expect(got.nextCursor).toBe('');
  });

  it('a server that answers everything as event streams, as the official SDK does by default, is read', async () => {
    const asStream =
      (result: unknown): Bend =>
      (b) =>
        b.bytes(`data: ${JSON.stringify({ jsonrpc: '2.0', id: b.id, result })}\n\n`, 'text/event-stream');
    const serverInfo = { name: 'x', version: '0' };
    const server = await start({
      initialize: asStream({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo }),
      list: asStream({ tools: SAMPLE_TOOLS }),
    });
    const connection = await connect(httpTarget(server.url));
    expect((await connection.listPage(undefined, { signal })).tools).toHaveLength(2);
    expect(connection.evidence.serverInfo).toEqual(serverInfo);
  });

  it('an event stream that ends without an answer is a transient UPSTREAM_ERROR', async () => {
    const fault = await listFault((b) => b.bytes(': nothing\n\n', 'text/event-stream'));
    expect(fault).toMatchObject({ reason: 'UPSTREAM_ERROR', transient: true });
  });

  it('an event stream that stays open after the answer holds up neither this page nor the next', async () => {
    const server = await start({
      list: (b) => {
        b.response.writeHead(200, { 'content-type': 'text/event-stream' });
        b.response.write(`data: {"jsonrpc":"2.0","id":${b.id},"result":{"tools":[]}}\n\n`);
      },
    });
    const connection = await connect(httpTarget(server.url));
    for (let n = 0; n < 6; n++) expect((await connection.listPage(undefined, { signal })).tools).toEqual([]);
  });

  it('D1 null ends the list and is reported; an absent cursor is not', async () => {
    expect(await page((b) => b.result({ tools: [], nextCursor: null }))).toMatchObject({
      nextCursor: undefined,
      nullCursor: true,
    });
    expect(await page((b) => b.result({ tools: [] }))).toMatchObject({
      nextCursor: undefined,
      nullCursor: false,
    });
  });

  it('a server that does not announce tools is asked all the same', async () => {
    const server = await start({
      initialize: (b) =>
        b.result({
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 'x', version: '0' },
        }),
    });
    const connection = await connect(httpTarget(server.url));
    expect((await connection.listPage(undefined, { signal })).tools).toHaveLength(2);
  });

  it('an abort by the caller rejects with its own reason', async () => {
    const abort = new AbortController();
    const why = new Error('cancelled by the operator');
    const server = await start({ list: () => abort.abort(why) });
    const connection = await connect(httpTarget(server.url));
    await expect(connection.listPage(undefined, { signal: abort.signal })).rejects.toBe(why);
    await expect(mcpSource.connect(httpTarget(server.url), { signal: abort.signal })).rejects.toBe(why);
  });

  it('a connection goes on after a fault', async () => {
    const server = await start({
      list: (b) => (b.before === 0 ? b.bytes('x') : b.result({ tools: SAMPLE_TOOLS })),
    });
    const connection = await connect(httpTarget(server.url));
    expect((await faultOf(connection.listPage(undefined, { signal }))).reason).toBe('PAGE_MALFORMED');
    expect((await connection.listPage(undefined, { signal })).tools).toHaveLength(2);
  });
});
