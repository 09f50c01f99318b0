import { describe, expect, it } from 'vitest';
import type { Digest } from '../../../../src/domain/ids.js';
import { epochMs } from '../../../../src/domain/ids.js';
import { DEFAULT_TRUST } from '../../../../src/domain/server.js';
import {
  type ListPageContext,
  readKnownPage,
  readListPage,
  readRevision,
} from '../../../../src/sources/mcp/readListPage.js';
import { SourceFault } from '../../../../src/sources/source.js';

const context: ListPageContext = {
  requestId: 4,
  pointers: DEFAULT_TRUST,
  evidence: {
    endpoint: `sha256:${'1'.repeat(64)}` as Digest,
    spki: null,
    artifact: null,
    address: null,
    protocolVersion: '2025-11-25',
    sessionScoped: false,
    serverInfo: null,
    announcesTools: true,
  },
  now: epochMs(1_700_000_000_000),
  secrets: ['hunter2hunter2'],
};
const read = (text: string) => readListPage(Buffer.from(text), context);
const result = (text: string) => `{"jsonrpc":"2.0","id":4,"result":${text}}`;
const page = (text: string) => {
  const answer = read(result(text));
  if (answer.kind !== 'page') throw new Error(`expected a page, not ${answer.kind}`);
  return answer.page;
};
const fault = (text: string): SourceFault => {
  try {
    read(text);
  } catch (error) {
    if (error instanceof SourceFault) return error;
    throw error;
  }
  throw new Error('expected a fault');
};

describe('readListPage', () => {
  it('takes result and tools from the source text, byte for byte', () => {
    const got = page('{ "tools": [ {"b":1, "a":"\\u00fc"} ,\n{}], "nextCursor":"n" }');
    expect(got.resultText).toBe('{ "tools": [ {"b":1, "a":"\\u00fc"} ,\n{}], "nextCursor":"n" }');
    expect(got.tools).toEqual([
      { text: '{"b":1, "a":"\\u00fc"}', value: { b: 1, a: 'ü' } },
      { text: '{}', value: {} },
    ]);
    expect(got).toMatchObject({
      nextCursor: 'n',
      nullCursor: false,
      revision: null,
      fetchedAt: 1_700_000_000_000,
    });
  });

  it('reads the right text past characters of several bytes', () => {
    expect(page('{"x":"€😀ü","tools":[{"n":"😀"}]}').tools[0]?.text).toBe('{"n":"😀"}');
  });

  it('D1 an empty string is a cursor, null and absence are the end', () => {
    expect(page('{"tools":[],"nextCursor":""}').nextCursor).toBe('');
    expect(page('{"tools":[],"nextCursor":null}')).toMatchObject({ nextCursor: undefined, nullCursor: true });
    expect(page('{"tools":[]}')).toMatchObject({ nextCursor: undefined, nullCursor: false });
    expect(fault(result('{"tools":[],"nextCursor":7}')).evidence).toMatchObject({
      pointer: '/result/nextCursor',
    });
  });

  it('passes tools on that are no objects: judging them is validation, not reading', () => {
    expect(page('{"tools":[null,1,"x"]}').tools.map(({ text }) => text)).toEqual(['null', '1', '"x"']);
  });

  it('tells notifications, requests and other answers from its own', () => {
    const other = (text: string): string | null => {
      const answer = read(text);
      return answer.kind === 'other' ? answer.what() : null;
    };
    expect(other('{"jsonrpc":"2.0","method":"notifications/progress"}')).toBe('notifications/progress');
    expect(other('{"jsonrpc":"2.0","id":4,"method":"ping"}')).toBe('ping');
    expect(other('{"jsonrpc":"2.0","id":"4","result":{"tools":[]}}')).toBe('an answer to request "4"');
    expect(other('{"jsonrpc":"2.0","method":"x/hunter2hunter2"}')).toBe('x/[redacted]');
  });

  it('says to which request another answer is, and that no message of the server is one', () => {
    const answersTo = (text: string) => {
      const answer = read(text);
      return answer.kind === 'other' ? answer.answersTo : 'its own';
    };
    expect(answersTo('{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}')).toBe(3);
    expect(answersTo('{"jsonrpc":"2.0","id":"3","error":{"code":1,"message":""}}')).toBe('3');
    expect(answersTo('{"jsonrpc":"2.0","id":3,"method":"ping"}')).toBeUndefined();
    expect(answersTo('{"jsonrpc":"2.0","method":"notifications/x"}')).toBeUndefined();
  });

  it('reads errors, also those without an id', () => {
    expect(
      read('{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"no hunter2hunter2\\u0007"}}'),
    ).toEqual({
      kind: 'error',
      code: -32602,
      message: 'no [redacted]\\x07',
    });
    expect(read('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}')).toMatchObject({
      kind: 'error',
    });
    expect(fault('{"jsonrpc":"2.0","id":4,"error":{"code":"x"}}').reason).toBe('PAGE_MALFORMED');
  });

  it.each([
    ['[]', ''],
    ['7', ''],
    ['{"id":4,"result":{"tools":[]}}', '/jsonrpc'],
    ['{"jsonrpc":"2.0","id":4}', '/result'],
    [result('null'), '/result'],
    [result('{"tools":null}'), '/result/tools'],
  ])('V7 %s is PAGE_MALFORMED at %j', (text, pointer) => {
    expect(fault(text)).toMatchObject({ reason: 'PAGE_MALFORMED', evidence: { pointer } });
  });

  it('V7 what is no strict JSON is refused with rule and position', () => {
    expect(fault(result('{"tools":[],}'))).toMatchObject({
      reason: 'PAGE_MALFORMED',
      evidence: { rule: 'MALFORMED' },
    });
    expect(fault(result('{"tools":["\\ud800"]}')).evidence).toMatchObject({ rule: 'LONE_SURROGATE' });
    expect(fault(result('{"tools":[1e999]}')).evidence).toMatchObject({ rule: 'NUMBER_RANGE' });
    expect(fault(result(`{"tools":[${'['.repeat(200)}${']'.repeat(200)}]}`)).evidence).toMatchObject({
      rule: 'TOO_DEEP',
    });
    expect(fault(result('{"tools":[{"\\u0061":1,"a":2}]}')).reason).toBe('DUPLICATE_KEY');
  });
});

describe('S6 a page that repeats a secret is refused', () => {
  const escaped = '\\u0068unter2hunter2';
  it.each([
    ['in a description', '{"tools":[{"name":"a","description":"hunter2hunter2"}]}'],
    ['in base64', `{"tools":[],"x":"${Buffer.from('Bearer hunter2hunter2').toString('base64')}"}`],
    ['in a name, escaped', `{"tools":[{"name":"${escaped}"}]}`],
    ['in a cursor, escaped', `{"tools":[],"nextCursor":"${escaped}"}`],
    ['in a revision, escaped', `{"tools":[],"_meta":{"dev.genlock/snapshotToken":"${escaped}"}}`],
  ])('%s', (_where, text) => {
    expect(fault(result(text))).toMatchObject({
      reason: 'PAGE_MALFORMED',
      evidence: { rule: 'SECRET_ECHOED' },
    });
  });
});

describe('V7 a page is bounded in what it would build', () => {
  const tool = (n: number): string => {
    const property = (p: number) =>
      `"p${p}_${n % 1_000}":{"type":"string","description":"${'x'.repeat(30)}"}`;
    const properties = [0, 1, 2, 3, 4, 5, 6, 7].map(property).join();
    return `{"name":"tool_${n}","description":"${'d'.repeat(140)}","inputSchema":{"type":"object","properties":{${properties}}}}`;
  };

  it('16 MB of ordinary tools stay below the bounds', () => {
    const tools = Array.from({ length: 20_000 }, (_, n) => tool(n)).join();
    expect(tools.length).toBeGreaterThan(15_000_000);
    expect(page(`{"tools":[${tools}]}`).tools).toHaveLength(20_000);
  });

  it('millions of values, and hundreds of thousands of names, are refused', () => {
    expect(fault(result(`{"tools":[${'[],'.repeat(1_000_000)}[]]}`)).evidence).toMatchObject({
      rule: 'TOO_MANY_VALUES',
    });
    const names = Array.from({ length: 200_000 }, (_, n) => `"${n}":0`).join();
    expect(fault(result(`{"tools":[],"x":{${names}}}`)).evidence).toMatchObject({ rule: 'TOO_MANY_NAMES' });
  });
});

describe('readRevision', () => {
  const stamped = (meta: Record<string, unknown>) =>
    readRevision(JSON.parse(JSON.stringify({ tools: [], _meta: meta })), DEFAULT_TRUST);
  const COUNTER = 'dev.genlock/catalogRevision';
  const TOKEN = 'dev.genlock/snapshotToken';

  it('D9 a bare integer has the empty incarnation', () => {
    expect(stamped({ [COUNTER]: 7 })).toEqual({
      binding: 'SERVER_REVISION',
      value: { incarnation: '', counter: 7 },
    });
    expect(stamped({ [COUNTER]: { incarnation: 'i', counter: 0, more: 1 } })).toEqual({
      binding: 'SERVER_REVISION',
      value: { incarnation: 'i', counter: 0 },
    });
  });

  it('D3 a token binds where there is no counter; neither is no revision', () => {
    expect(stamped({ [TOKEN]: 'abc' })).toEqual({ binding: 'SNAPSHOT_TOKEN', value: { token: 'abc' } });
    expect(stamped({ [TOKEN]: 'abc', [COUNTER]: 1 })).toMatchObject({ binding: 'SERVER_REVISION' });
    expect(stamped({})).toBeNull();
    expect(readRevision({ tools: [] }, DEFAULT_TRUST)).toBeNull();
  });

  it.each([
    -1,
    1.5,
    '7',
    null,
    true,
    2 ** 53,
    {},
    { incarnation: 'i' },
    { counter: 1 },
    { incarnation: 1, counter: 1 },
    [],
  ])('D3 %j is a fault and never reads as an absence', (value) => {
    expect(() => stamped({ [COUNTER]: value })).toThrow(SourceFault);
  });

  it('D3 a token of a wrong form is a fault', () => {
    for (const value of ['', 7, null, 'x'.repeat(1_025)])
      expect(() => stamped({ [TOKEN]: value })).toThrow(SourceFault);
  });

  it('reads from where the registration says', () => {
    const pointers = { revisionPointer: '/_meta/x~1y/0', tokenPointer: '/etag' };
    expect(readRevision({ _meta: { 'x/y': [3] } }, pointers)).toMatchObject({ value: { counter: 3 } });
    expect(readRevision({ etag: 'e' }, pointers)).toMatchObject({ value: { token: 'e' } });
  });
});

describe('readKnownPage', () => {
  const text = result('{"tools":[{"name":"a"}],"nextCursor":"n","_meta":{"dev.genlock/catalogRevision":7}}');
  const first = page('{"tools":[{"name":"a"}],"nextCursor":"n","_meta":{"dev.genlock/catalogRevision":7}}');
  const known = new Map([[first.rawDigest, { ...first, names: ['a'] }]]);
  const again = (bytes: string, more: Partial<ListPageContext> = {}) =>
    readKnownPage(Buffer.from(bytes), { ...context, ...more }, known);

  it('S7 the very same bytes say what they said, with the evidence of the connection that brought them now', () => {
    const { rawDigest, reading, nextCursor, nullCursor, revision } = first;
    const evidence = { ...context.evidence, address: '127.0.0.1:9' };
    expect(again(text, { evidence, now: epochMs(5) })).toEqual({
      known: true,
      ...{ raw: Buffer.from(text), rawDigest, reading, nextCursor, nullCursor, revision },
      ...{ evidence, fetchedAt: 5 },
    });
  });

  it('other bytes are read, and so are the same bytes under another id or another pointer', () => {
    expect(again(text.replace('"a"', '"b"'))).toBeNull();
    expect(again(text.replace('"id":4', '"id":5'))).toBeNull();
    expect(again(text, { requestId: 5 })).toBeNull();
    expect(again(text, { pointers: { ...DEFAULT_TRUST, revisionPointer: '/_meta/other' } })).toBeNull();
    expect(again(text, { pointers: { ...DEFAULT_TRUST, tokenPointer: '/_meta/other' } })).toBeNull();
  });

  it('S6 bytes that were harmless are refused where they hold what is a secret now', () => {
    expect(() => again(text, { secrets: ['catalogRevision'] })).toThrow(SourceFault);
  });
});
