import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Digest } from '../../../src/domain/ids.js';
import { type Bend, SAMPLE_TOOLS, startBendableMcp } from '../../fixtures/bendableMcp.js';
import { closers, connect, connectFault, listFault, signal, start } from '../../fixtures/bentConnections.js';
import { selfSignedCertificate } from '../../fixtures/selfSignedCertificate.js';
import { bearer, faultOf, httpTarget } from '../../fixtures/sourceTarget.js';

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
    const pin = `sha256:${'0'.repeat(64)}` as Digest;
    const fault = await faultOf(connect(trusting(pin)));
    expect(fault).toMatchObject({ reason: 'IDENTITY_CHANGED', evidence: { pinned: [pin] } });
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
        { credential: bearer(token) },
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

  it('NOT_MCP: a session id of a length that only an attacker needs', async () => {
    const fault = await connectFault({ sessionId: 's'.repeat(1_025) });
    expect(fault).toMatchObject({
      reason: 'NOT_MCP',
      evidence: { method: 'initialize', characters: 1_025 },
    });
    const server = await start({ sessionId: 's'.repeat(1_024) });
    const connection = await connect(httpTarget(server.url));
    expect((await connection.listPage(undefined, { signal })).tools).toHaveLength(2);
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
