/** Endless data: an answer, its head, its stream or the list itself never ends. Each has a bound that ends it first. */
import { describe, expect, test } from 'vitest';
import { durationMs } from '../../src/domain/ids.js';
import type { Bend, BentRequest } from '../fixtures/bendableMcp.js';
import { at, tool } from '../integration/discovery/bentLists.js';
import { beginByteBent } from './byteBends.js';
import { type Fault, useFaults } from './expectations.js';

const stack = useFaults();
const LIMIT = 1024 * 1024;

/** Writes for as long as the other side takes it. */
const forEver = ({ response }: BentRequest, piece: string): void => {
  const socket = response.socket;
  if (socket === null) return;
  socket.on('error', () => undefined);
  const more = (): void => {
    for (let n = 0; n < 100 && !socket.destroyed; n++)
      if (!socket.write(piece)) return void socket.once('drain', more);
    if (!socket.destroyed) setImmediate(more);
  };
  more();
};
const head = (type: string): string => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n\r\n`;
const raw =
  (start: string, piece: string): Bend =>
  (b) => {
    b.response.socket?.write(start);
    forEver(b, piece);
  };
const page = (bent: BentRequest, more: object): void =>
  bent.result({ ...more, _meta: { 'dev.genlock/catalogRevision': at(8) } });

const WAYS: readonly (readonly [what: string, bend: { list?: Bend; initialize?: Bend }, fault: Fault])[] = [
  [
    'one page',
    {
      list: raw(`${head('application/json')}{"jsonrpc":"2.0","id":1,"result":{"tools":["`, 'x'.repeat(4_096)),
    },
    { reason: 'PAGE_TOO_LARGE', evidence: { limit: LIMIT, page: 0 } },
  ],
  [
    'the comments of an event stream',
    { list: raw(head('text/event-stream'), `: ${'x'.repeat(4_000)}\n\n`) },
    { reason: 'PAGE_TOO_LARGE', evidence: { limit: LIMIT, page: 0 } },
  ],
  [
    'the notifications of an event stream',
    {
      list: raw(
        head('text/event-stream'),
        'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'.repeat(20),
      ),
    },
    { reason: 'NOT_MCP', evidence: { rule: 'more than 1000 messages in answer to one request' } },
  ],
  [
    'the head of an answer',
    { list: raw('HTTP/1.1 200 OK\r\n', `x-more: ${'x'.repeat(1_000)}\r\n`) },
    { reason: 'PAGE_TOO_LARGE', evidence: { part: 'headers', page: 0 } },
  ],
  [
    'interim answers before the answer',
    { list: raw('', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n') },
    { reason: 'PAGE_TIMEOUT', evidence: { limitMs: 1_500, page: 0 } },
  ],
  [
    'the answer to the start',
    { initialize: raw(head('application/json'), ' '.repeat(4_096)) },
    { reason: 'PAGE_TOO_LARGE', evidence: { limit: LIMIT, page: 0 } },
  ],
  [
    'the pages of a list',
    {
      list: (b) => page(b, { tools: [tool(`t${b.before}`)], nextCursor: `after-${b.before}` }),
    },
    { reason: 'PAGE_BUDGET_EXCEEDED', evidence: { limit: 40, pages: 39 } },
  ],
  [
    'pages without a tool',
    { list: (b) => page(b, { tools: [], nextCursor: `after-${b.before}` }) },
    { reason: 'PAGE_BUDGET_EXCEEDED', evidence: { limit: 40, pages: 39 } },
  ],
  [
    'pages that grow and grow',
    {
      list: (b) =>
        page(b, {
          tools: [tool(`t${b.before}`, { description: 'x'.repeat(200_000) })],
          nextCursor: `after-${b.before}`,
        }),
    },
    { reason: 'BYTE_BUDGET_EXCEEDED', evidence: { limit: 2 * LIMIT } },
  ],
];

describe('D1 endless data', () => {
  test.each(WAYS)('D1 %s: ended by its own bound, and what serves goes on', async (_, bend, fault) => {
    const bent = await beginByteBent(stack, {
      limits: { pageBytes: LIMIT, scanBytes: 2 * LIMIT, pages: 40, pageTime: durationMs(1_500) },
    });
    bent.bend(bend);
    const outcome = await stack.expectFault(bent.begun, fault);
    expect(JSON.stringify(outcome).length).toBeLessThan(4_000);
    await stack.register(bent.begun.key, bent.begun.catalog.source);
    await stack.expectMended(bent.begun);
  });
});
