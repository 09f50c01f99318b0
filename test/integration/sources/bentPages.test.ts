import { describe, expect, it } from 'vitest';
import { durationMs } from '../../../src/domain/ids.js';
import { mcpSource } from '../../../src/sources/mcp/mcpSource.js';
import { type Bend, endlessPages, SAMPLE_TOOLS } from '../../fixtures/bendableMcp.js';
import { connect, connectFault, deferred, listFault, signal, start } from '../../fixtures/bentConnections.js';
import { faultOf, httpTarget } from '../../fixtures/sourceTarget.js';

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

  it('an event stream of more messages than an answer needs is NOT_MCP', async () => {
    const note = 'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n';
    const fault = await listFault((b) => b.bytes(note.repeat(5_000), 'text/event-stream'));
    expect(fault).toMatchObject({ reason: 'NOT_MCP', evidence: { method: 'tools/list' } });
  });

  it('V7 a page of more values than tools can have is refused before it is built', async () => {
    const fault = await listFault((b) =>
      b.bytes(`{"jsonrpc":"2.0","id":${b.id},"result":{"tools":[${'[],'.repeat(1_000_000)}[]]}}`),
    );
    expect(fault).toMatchObject({ reason: 'PAGE_MALFORMED', evidence: { rule: 'TOO_MANY_VALUES' } });
  });

  it('an answer to initialize is bounded more tightly than a page', async () => {
    const fault = await connectFault({ initialize: (b) => b.bytes(' '.repeat(2 * 1024 * 1024)) });
    expect(fault).toMatchObject({ reason: 'PAGE_TOO_LARGE', evidence: { limit: 1024 * 1024 } });
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

  it('D1 an endless list goes on for as long as it is asked: ending it is the business of the limits', async () => {
    const server = await start({ list: endlessPages });
    const connection = await connect(httpTarget(server.url));
    let cursor: string | undefined;
    const cursors = new Set<string | undefined>();
    for (let n = 0; n < 50; n++) {
      cursor = (await connection.listPage(cursor, { signal })).nextCursor;
      cursors.add(cursor);
    }
    expect(cursors.size).toBe(50);
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
    expect(connection.evidence.announcesTools).toBe(false);
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
