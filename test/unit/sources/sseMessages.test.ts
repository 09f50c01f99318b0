import { describe, expect, it } from 'vitest';
import { SseMessages } from '../../../src/sources/sseMessages.js';

const STREAM = Buffer.from(
  '\ufeff: comment\r\n\r\ndata: one\n\ndata\ndata:two\r\rdata:  three\ndata: 3b\nid: 7\n\nevent: ping\ndata: no\n\nevent:message\ndata: ü€\n\ndataset: no\n\ndata: unfinished',
);
const WANTED = ['one', '\ntwo', ' three\n3b', 'ü€'];

const read = (chunks: Iterable<Uint8Array>): string[] => {
  const got: string[] = [];
  const messages = new SseMessages((raw) => got.push(Buffer.from(raw).toString('utf8')));
  for (const chunk of chunks) messages.push(chunk);
  return got;
};

describe('SseMessages', () => {
  it('joins data lines, skips other events, comments and what is unfinished', () => {
    expect(read([STREAM])).toEqual(WANTED);
  });

  it('reads the same however the stream is cut', () => {
    for (const size of [1, 2, 3, 5, 7, 11]) {
      const chunks = Array.from({ length: Math.ceil(STREAM.length / size) }, (_, n) =>
        STREAM.subarray(n * size, (n + 1) * size),
      );
      expect(read(chunks)).toEqual(WANTED);
    }
  });

  it('hands bytes over as they came, also those that are no UTF-8', () => {
    const got: Uint8Array[] = [];
    const messages = new SseMessages((raw) => got.push(raw));
    messages.push(Buffer.concat([Buffer.from('data: '), Buffer.from([0xff, 0xfe]), Buffer.from('\n\n')]));
    expect(got.map((raw) => [...raw])).toEqual([[0xff, 0xfe]]);
  });
});
