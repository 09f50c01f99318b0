/** Readings of a page are kept by the digest of its bytes and by READER: a reader that reads otherwise must show there. */
import { expect, test } from 'vitest';
import { epochMs, parseDigest } from '../../../../src/domain/ids.js';
import type { JsonValue } from '../../../../src/domain/json.js';
import { DEFAULT_TRUST } from '../../../../src/domain/server.js';
import { digestJson } from '../../../../src/proof/digest.js';
import { type ListPageContext, readListPage } from '../../../../src/sources/mcp/readListPage.js';
import { SourceFault } from '../../../../src/sources/source.js';

const context: ListPageContext = {
  requestId: 1,
  pointers: DEFAULT_TRUST,
  evidence: {
    endpoint: parseDigest(`sha256:${'1'.repeat(64)}`),
    spki: null,
    artifact: null,
    address: null,
    protocolVersion: '2025-11-25',
    sessionScoped: false,
    serverInfo: null,
    announcesTools: true,
  },
  now: epochMs(1_700_000_000_000),
  secrets: [],
};
const answer = (result: string): string => `{"jsonrpc":"2.0","id":1,"result":${result}}`;
const stamped = (meta: string): string => answer(`{"tools":[],"_meta":${meta}}`);

/** One for each thing that the reader looks at; a new rule gets one of its own. */
const PAGES: readonly string[] = [
  answer('{"tools":[ {"name":"\\u0061", "inputSchema":{"maximum":1.0}} ,{"name":"b"},7],"nextCursor":"c"}'),
  answer('{"tools":[],"nextCursor":null}'),
  answer('{"tools":[],"nextCursor":""}'),
  answer('{"tools":[],"nextCursor":7}'),
  answer('{"tools":{}}'),
  answer('[]'),
  answer('{"tools":[{"name":"a","n":0.1000000000000000055,"m":12345678901234567890}]}'),
  answer('{"tools":[{"name":"a","name":"b"}]}'),
  answer('{"tools":[{"__proto__":1}]}'),
  answer('{"tools":[1e999]}'),
  answer('{"tools":["\\ud800"]}'),
  answer(`{"tools":${'['.repeat(130)}${']'.repeat(130)}}`),
  answer(`{"tools":[${'0,'.repeat(640_000)}0]}`),
  answer(`{"tools":[{${Array.from({ length: 50_001 }, (_, n) => `"${n}":0`).join(',')}}]}`),
  stamped('{"dev.genlock/catalogRevision":7}'),
  stamped('{"dev.genlock/catalogRevision":{"incarnation":"i","counter":7}}'),
  stamped('{"dev.genlock/catalogRevision":-1}'),
  stamped('{"dev.genlock/snapshotToken":"t"}'),
  stamped('{"dev.genlock/snapshotToken":""}'),
  '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}',
  '{"jsonrpc":"1.0","id":1,"result":{"tools":[]}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid cursor"}}',
  '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
  '\ufeff{}',
  '{"jsonrpc":"2.0"',
];

const read = (text: string): JsonValue => {
  try {
    const found = readListPage(Buffer.from(text), context);
    if (found.kind === 'other')
      return { kind: 'other', what: found.what(), answersTo: found.answersTo ?? null };
    if (found.kind === 'error') return { ...found };
    const { rawDigest, resultText, result, tools, nextCursor, nullCursor, revision, inexactNumbers } =
      found.page;
    const page = {
      rawDigest,
      resultText,
      result,
      tools,
      nextCursor: nextCursor ?? null,
      nullCursor,
      revision,
      inexactNumbers,
    };
    return page as unknown as JsonValue;
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    return { refused: error.reason, evidence: error.evidence as JsonValue };
  }
};

test('V7 pages are read as the present READER stands for', () => {
  const first = readListPage(Buffer.from(PAGES[0] ?? ''), context);
  expect(
    {
      // It changes with READER, and with nothing else here.
      reading: first.kind === 'page' ? first.page.reading : null,
      read: digestJson(PAGES.map(read)),
    },
    'The reader takes other bytes or reads them otherwise. Raise READER in src/sources/mcp/readListPage.ts, so that ' +
      'readings of the reader before are not used again; then pin both here. Where only PAGES changed, pin the digest.',
  ).toEqual({
    reading: 'sha256:4c64827b7557756b0c1d428ca93f2baa509ea85b9d0d4c675e9b499e90638e0f',
    read: 'sha256:1bf62adfd08dd1e1335e46ae7f26a83ed00e5115dcbe8268fb95689f6390d8ba',
  });
});
