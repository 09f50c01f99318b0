import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDigest } from '../../../src/domain/ids.js';
import type { JsonObject, JsonValue } from '../../../src/domain/json.js';
import type { SnapshotTool } from '../../../src/domain/snapshot.js';
import { canonicalJson } from '../../../src/proof/canonical.js';
import { sha256Bytes } from '../../../src/proof/digest.js';
import { resolvePointer } from '../../../src/proof/jsonPointer.js';
import { ProofError } from '../../../src/proof/proofError.js';
import type { SnapshotParts } from '../../../src/proof/seal.js';
import { verifySnapshot } from '../../../src/proof/verifySnapshot.js';
import { PAGES, pagesFrom, sampleParts, sealNow, toolFrom } from './sampleSnapshot.js';

const SAMPLE = new URL('../../vectors/toolCatalogSnapshot.v1.sample', import.meta.url);
const SAMPLE_DIGEST = parseDigest('sha256:0564d8642fbe33972ae74a36a7a5812752fc74f1c7a09f982cb17445fbd3f5a5');

const reasonOf = (action: () => unknown): string => {
  try {
    action();
    return 'nothing was refused';
  } catch (error) {
    if (error instanceof ProofError) return error.message;
    throw error;
  }
};

/** Bends a sealed snapshot and gives it a digest of its own, as a forger would. */
const forge = (bend: (snapshot: JsonObject & Lists) => void): (() => unknown) => {
  const snapshot = JSON.parse(new TextDecoder().decode(sealNow(sampleParts()).bytes));
  bend(snapshot);
  const text = canonicalJson(snapshot as JsonValue);
  return () => verifySnapshot(new TextEncoder().encode(text), sha256Bytes(text));
};

interface Lists {
  readonly pages: JsonValue[];
  readonly tools: JsonValue[];
}

/** Puts a value, or with undefined nothing, in the place of a pointer. */
const put = (snapshot: JsonObject, pointer: string, value: JsonValue | undefined): void => {
  const cut = pointer.lastIndexOf('/');
  const parent = resolvePointer(snapshot, pointer.slice(0, cut));
  if (typeof parent !== 'object' || parent === null) throw new Error(`nothing at ${pointer}`);
  if (value === undefined) Reflect.deleteProperty(parent, pointer.slice(cut + 1));
  else Reflect.set(parent, pointer.slice(cut + 1), value);
};

const sealWith = (change: Partial<SnapshotParts>) => sealNow({ ...sampleParts(), ...change });

describe('S1 the artifact', () => {
  test('the bytes and the digest of a full sample are pinned', () => {
    const sealed = sealNow(sampleParts());
    expect(new TextDecoder().decode(sealed.bytes)).toBe(readFileSync(SAMPLE, 'utf8'));
    expect(sealed.digest).toBe(SAMPLE_DIGEST);
    expect(verifySnapshot(readFileSync(SAMPLE), SAMPLE_DIGEST)).toEqual(sealed.snapshot);
  });

  test('docs/snapshot-v1.md names the sample, and every member', () => {
    const text = readFileSync(new URL('../../../docs/snapshot-v1.md', import.meta.url), 'utf8');
    expect(text).toContain(SAMPLE_DIGEST);
    const { snapshot } = sealNow(sampleParts());
    const names = [snapshot, snapshot.tools[0] ?? {}, snapshot.pages[0] ?? {}].flatMap(Object.keys);
    const parts = ['name', 'namespace', 'contractVersion'];
    const missing = names.filter(
      (name) => !parts.includes(name) && !new RegExp(`\`${name}(\\[\\])?\``).test(text),
    );
    expect(missing).toEqual([]);
  });

  test('the literal names on the wire', () => {
    const { snapshot } = sealNow(sampleParts());
    expect(Object.keys(snapshot)).toEqual([
      ...[
        'audienceClass',
        'catalogGeneration',
        'contentRoot',
        'credential',
        'discoveryStartedAt',
        'endpoint',
      ],
      ...['expires', 'pageRoot', 'pages', 'policyEpoch', 'protocol', 'revision', 'schema', 'server', 'state'],
      ...['tenant', 'tools'],
    ]);
    expect(Object.keys(snapshot.tools[0] ?? {})).toEqual([
      ...['contractVersion', 'descriptor', 'effectClass', 'id', 'inputSchema', 'mayHaveSideEffects', 'name'],
      ...['namespace', 'outputSchema', 'raw', 'source', 'verdict'],
    ]);
    expect(Object.keys(snapshot.pages[0] ?? {})).toEqual([
      ...['bytes', 'index', 'nextCursor', 'raw', 'requestCursor', 'result', 'tools'],
    ]);
  });

  test('S5 the order in which the source lists has no meaning, and the source text is kept byte for byte', () => {
    const parts = sampleParts();
    const sealed = sealNow({ ...parts, tools: [...parts.tools].reverse() });
    expect(sealed.digest).toBe(sealNow(parts).digest);
    expect(sealed.snapshot.tools.map(({ name }) => name)).toEqual(['count', 'reserve']);
    expect(PAGES[2]).toContain(sealed.snapshot.tools[0]?.source);
  });

  test.each([
    ['an empty catalog', { tools: [], pages: pagesFrom(['{"tools":[]}']) }],
    ['a token', { revision: { binding: 'SNAPSHOT_TOKEN', value: { token: '' } } }],
    ['no credential', { credential: 'none' }],
  ] as [string, Partial<SnapshotParts>][])('%s can be sealed', (_what, change) => {
    const { bytes, digest } = sealWith(change);
    expect(verifySnapshot(bytes, digest)).toMatchObject(change);
  });
});

describe('S5 verification finds', () => {
  test('one changed byte, anywhere', () => {
    const { bytes, digest } = sealNow(sampleParts());
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bent = Uint8Array.from(bytes);
        bent[at] = (bytes[at] ?? 0) ^ flip;
        expect(reasonOf(() => verifySnapshot(bent, digest))).toBe('DIGEST_MISMATCH');
        // Under a digest of its own nothing that can be computed again gets through either. Dates, numbers
        // and the like are facts of the one who sealed: for those there is only the digest.
        const changed = (() => {
          try {
            return verifySnapshot(bent, sha256Bytes(bent));
          } catch (error) {
            if (error instanceof ProofError) return undefined;
            throw error;
          }
        })();
        if (changed === undefined) return;
        const { snapshot } = sealNow(sampleParts());
        expect(changed.pageRoot).toBe(snapshot.pageRoot);
        expect(changed.contentRoot).toBe(snapshot.contentRoot);
        expect(changed.tools.map(({ source }) => source)).toEqual(snapshot.tools.map(({ source }) => source));
      }),
      { numRuns: 300 },
    );
  });

  const other = sha256Bytes('another');
  const hidden = 'eyjhbgcioijub25lin0.eyjzdwiioiix.c2ln';
  test.each<[string, string, JsonValue | undefined, string]>([
    ['another content root', '/contentRoot', other, 'CONTENT_ROOT at /contentRoot'],
    ['another page root', '/pageRoot', other, 'PAGE_ROOT at /pageRoot'],
    ['a bent page', '/pages/1/result', other, 'PAGE_ROOT at /pageRoot'],
    ['other source text', '/tools/0/source', '{}', 'RAW_DIGEST at /tools/0/raw'],
    ['another descriptor', '/tools/0/descriptor', other, 'DESCRIPTOR_DIGEST at /tools/0/descriptor'],
    ['another schema', '/tools/0/inputSchema/digest', other, 'SCHEMA_DIGEST at /tools/0/inputSchema'],
    ['a hidden schema', '/tools/1/outputSchema', null, 'SCHEMA_DIGEST at /tools/1/outputSchema'],
    ['an id of another version', '/tools/0/contractVersion', 2, 'TOOL_ID at /tools/0/id'],
    [
      'a lint made a quarantine',
      '/tools/0/verdict/status',
      'QUARANTINED',
      'TOOL_VERDICT at /tools/0/verdict',
    ],
    [
      'a fault passed over',
      '/tools/0/verdict/findings/0/severity',
      'fault',
      'TOOL_VERDICT at /tools/0/verdict',
    ],
    ['an effect denied', '/tools/1/mayHaveSideEffects', false, 'TOOL_VERDICT at /tools/1/mayHaveSideEffects'],
    ['S3 a derived text', '/tools/0/shortDescription', 'x', 'WRONG_SHAPE at /tools/0/shortDescription'],
    ['an unknown member', '/note', 'x', 'WRONG_SHAPE at /note'],
    ['one of the prototype', '/tools/0/constructor', 1, 'WRONG_SHAPE at /tools/0/constructor'],
    ['a missing member', '/expires', undefined, 'WRONG_SHAPE at /expires'],
    ['another state', '/state', 'PARTIAL', 'WRONG_SHAPE at /state'],
    ['a local date', '/expires', '2026-01-03T03:04:05+01:00', 'WRONG_SHAPE at /expires'],
    ['a fractional epoch', '/policyEpoch', 1.5, 'WRONG_SHAPE at /policyEpoch'],
    ['a server without digest', '/server', 'inventory-mcp', 'WRONG_SHAPE at /server'],
    ['a counter as a token', '/revision/binding', 'SNAPSHOT_TOKEN', 'WRONG_SHAPE at /revision/value/counter'],
    ['an unknown binding', '/revision/binding', 'SCANNED_TWICE', 'WRONG_SHAPE at /revision/binding'],
    ['S4 an audience like a token', '/audienceClass', hidden, 'WRONG_SHAPE at /audienceClass'],
  ])('%s', (_what, pointer, value, message) => {
    expect(reasonOf(forge((snapshot) => put(snapshot, pointer, value)))).toBe(message);
  });

  test.each<[string, (lists: Lists) => unknown, string]>([
    ['a page left out', ({ pages }) => pages.splice(1, 1), 'PAGE_CHAIN at /pages/1'],
    ['the end left out', ({ pages }) => pages.pop(), 'PAGE_CHAIN at /pages/1'],
    ['a tool left out', ({ tools }) => tools.pop(), 'CONTENT_ROOT at /contentRoot'],
    ['a tool twice', ({ tools }) => tools.push(...tools.slice(1)), 'TOOL_ORDER at /tools/2'],
    ['tools out of order', ({ tools }) => tools.reverse(), 'TOOL_ORDER at /tools/1'],
  ])('%s', (_what, bend, message) => {
    expect(reasonOf(forge(bend))).toBe(message);
  });

  test('text that is not canonical or not strict, under its own digest', () => {
    const text = new TextDecoder().decode(sealNow(sampleParts()).bytes);
    const verify = (bent: string) =>
      reasonOf(() => verifySnapshot(new TextEncoder().encode(bent), sha256Bytes(bent)));
    expect(verify(text)).toBe('nothing was refused');
    expect(verify(`${text}\n`)).toBe('NOT_CANONICAL');
    expect(verify(text.replace('"counter":12', '"counter":1.2e1'))).toBe('NOT_CANONICAL');
    expect(verify(text.replace('"counter":12', '"counter":12,"counter":12'))).toBe('NOT_STRICT_JSON');
    expect(verify('[]')).toBe('WRONG_SHAPE');
  });
});

describe('S1 nothing is sealed that would not verify', () => {
  const tools = sampleParts().tools;
  const bent = (change: Partial<SnapshotTool>) =>
    reasonOf(() => sealWith({ tools: tools.map((tool) => ({ ...tool, ...change })).slice(0, 1) }));

  test.each([
    [
      'one name twice (V1)',
      () => sealWith({ tools: [...tools, ...tools.slice(0, 1)] }),
      'TOOL_ORDER at /tools/2',
    ],
    [
      'a scan that did not end',
      () => sealWith({ pages: pagesFrom(PAGES.slice(0, 2)) }),
      'PAGE_CHAIN at /pages/1',
    ],
    [
      'fewer tools listed than sealed',
      () => sealWith({ pages: pagesFrom(['{"tools":[]}']) }),
      'TOOL_COUNT at /tools',
    ],
    ['generation 0', () => sealWith({ catalogGeneration: 0 }), 'WRONG_SHAPE at /catalogGeneration'],
  ])('%s', (_what, seal, message) => {
    expect(reasonOf(seal)).toBe(message);
  });

  test('a tool that does not agree with its source', () => {
    expect(bent({ source: '[]', raw: sha256Bytes('[]') })).toBe('TOOL_SOURCE at /tools/0/source');
    expect(bent({ source: '{"a":1,"a":1}', raw: sha256Bytes('{"a":1,"a":1}') })).toBe(
      'TOOL_SOURCE at /tools/0/source',
    );
    const renamed = toolFrom('{"name":"other","inputSchema":{}}', 'READ');
    expect(bent({ source: renamed.source, raw: renamed.raw, descriptor: renamed.descriptor })).toBe(
      'TOOL_SOURCE at /tools/0/name',
    );
  });

  test('S2 a tool without input schema only as quarantined', () => {
    const bare = toolFrom('{"name":"reserve"}', 'UNKNOWN');
    const findings = [{ code: 'NO_INPUT_SCHEMA', severity: 'fault', pointer: '', message: 'x' }] as const;
    const sealed = sealWith({ tools: [{ ...bare, verdict: { status: 'QUARANTINED', findings } }] });
    expect(sealed.snapshot.tools[0]?.inputSchema).toBeNull();
    expect(reasonOf(() => sealWith({ tools: [bare] }))).toBe('TOOL_VERDICT at /tools/0/inputSchema');
  });

  test('later changes to the parts do not reach what was sealed', () => {
    const parts = sampleParts();
    const { snapshot, digest } = sealNow(parts);
    (parts.pages as unknown[]).length = 0;
    expect(snapshot.pages).toHaveLength(3);
    expect(sha256Bytes(canonicalJson(snapshot as unknown as JsonValue))).toBe(digest);
  });
});
