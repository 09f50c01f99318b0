/** Answers that come to the wrong request, twice, late or not at all: none of them becomes a page. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { durationMs } from '../../../src/domain/ids.js';
import { mcpSource } from '../../../src/sources/mcp/mcpSource.js';
import type { SourceConnection } from '../../../src/sources/source.js';
import { type Bend, SAMPLE_TOOLS } from '../../fixtures/bendableMcp.js';
import { closers, connect, listFault, signal, start } from '../../fixtures/bentConnections.js';
import { faultOf, httpTarget, stdioTarget } from '../../fixtures/sourceTarget.js';

const answer = (id: unknown, names: readonly string[] = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { tools: names.map((name) => ({ name })) } });
const events = (...messages: readonly string[]): string =>
  messages.map((message) => `data: ${message}\n\n`).join('');
const short = { pageBytes: 1_000_000, pageTime: durationMs(300) };

describe('an answer to another request', () => {
  it('as the whole body is known at once for none: PAGE_MALFORMED with what came instead', async () => {
    const fault = await listFault((b) => b.bytes(answer(9999, ['stray'])));
    expect(fault).toMatchObject({
      reason: 'PAGE_MALFORMED',
      transient: false,
      evidence: {
        rule: 'the body is no answer to the request',
        otherMessages: ['an answer to request 9999'],
      },
    });
  });

  it.each([
    ['of which the stream ends', true, 'UPSTREAM_ERROR'],
    ['of which the stream stays open', false, 'PAGE_TIMEOUT'],
  ])('in an event stream %s is none either', async (_what, ends, reason) => {
    const fault = await listFault(
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(events(answer('other', ['stray'])));
        if (ends) response.end();
      },
      { limits: ends ? { ...short, pageTime: durationMs(20_000) } : short },
    );
    expect(fault).toMatchObject({ reason, evidence: { otherMessages: ['an answer to request "other"'] } });
  });

  it('beside the right one is passed over', async () => {
    const server = await start({
      list: (b) => b.bytes(events(answer(9999, ['stray']), answer(b.id, ['right'])), 'text/event-stream'),
    });
    const page = await (await connect(httpTarget(server.url))).listPage(undefined, { signal });
    expect(page.tools.map(({ value }) => value)).toEqual([{ name: 'right' }]);
  });
});

describe('a request that is answered twice', () => {
  const TWICE = { reason: 'PAGE_MALFORMED', evidence: { rule: 'a request was answered twice' } };
  const twice: Bend = (b) =>
    b.bytes(events(answer(b.id, ['one']), answer(b.id, ['two'])), 'text/event-stream');

  it('gives no page: nobody could say which of the two it is', async () => {
    expect(await listFault(twice)).toMatchObject(TWICE);
    expect(
      await listFault((b) => b.bytes(events(answer(b.id), answer(b.id)), 'text/event-stream')),
    ).toMatchObject(TWICE);
  });

  it('late, while the next one is under way, ends that one and all that would follow', async () => {
    const script = join(import.meta.dirname, '../../fixtures/bentStdioServer.mjs');
    const connection = await mcpSource.connect(stdioTarget(process.execPath, [script, 'repeats']), {
      signal,
    });
    closers.push(() => connection.close());
    expect((await connection.listPage(undefined, { signal })).tools).toEqual([]);
    for (let n = 0; n < 2; n++)
      expect(await faultOf(connection.listPage('c1', { signal }))).toMatchObject(TWICE);
  });

  it('two requests are never under way at a time', async () => {
    let under = 0;
    const server = await start({
      list: async (b) => {
        expect(++under).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 20));
        under--;
        b.result({ tools: SAMPLE_TOOLS });
      },
    });
    const connection: SourceConnection = await connect(httpTarget(server.url));
    const both = await Promise.allSettled([1, 2].map(() => connection.listPage(undefined, { signal })));
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});

describe('an answer that is lost', () => {
  it.each([
    ['the event stream before its answer', 'data: {"jsonrpc":"2.0","id":'],
    ['the event stream after an event id, which is never resumed from', 'id: e1\ndata: \n\n'],
  ])('in %s may be asked for again', async (_what, sent) => {
    const ids: unknown[] = [];
    const cursors: unknown[] = [];
    const server = await start({
      list: (b) => {
        ids.push(b.id);
        cursors.push(b.cursor);
        if (b.before > 0) return b.result({ tools: SAMPLE_TOOLS });
        b.response.writeHead(200, { 'content-type': 'text/event-stream' });
        b.response.write(sent, () => b.response.destroy());
      },
    });
    const connection = await connect(httpTarget(server.url));
    const fault = await faultOf(connection.listPage('p2', { signal }));
    expect(fault).toMatchObject({ reason: 'UPSTREAM_ERROR', transient: true });
    expect((await connection.listPage('p2', { signal })).tools).toHaveLength(2);
    expect(cursors).toEqual(['p2', 'p2']);
    expect(new Set(ids).size).toBe(2);
    expect(server.seen.filter((method) => method === 'GET')).toEqual([]);
  });
});
