/**
 * One small snapshot with every member set, built from source text as a scan builds it. Its digest is pinned.
 */
import { mayHaveSideEffects, verdictOf } from '../../../src/domain/descriptor.js';
import {
  parseAudienceClass,
  parseNamespace,
  parseServerName,
  parseTenantId,
  toolId,
} from '../../../src/domain/ids.js';
import { isJsonObject, isString, type JsonObject, member } from '../../../src/domain/json.js';
import type { SchemaReference, SnapshotPage, SnapshotTool } from '../../../src/domain/snapshot.js';
import { digestJson, sha256Bytes } from '../../../src/proof/digest.js';
import { endpointDigest, identityDigest, serverIdentity } from '../../../src/proof/identity.js';
import { nextCursorDigest, requestCursorDigest } from '../../../src/proof/pageChain.js';
import { type SealedSnapshot, type SnapshotParts, sealSnapshot } from '../../../src/proof/seal.js';
import { readStrict } from '../../../src/proof/strictJson.js';

const NAMESPACE = parseNamespace('inventory');
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const VOCABULARIES = ['https://json-schema.org/draft/2020-12/vocab/core'];

export const read = (text: string): JsonObject => {
  const { value } = readStrict(new TextEncoder().encode(text), { maxDepth: 64 });
  if (!isJsonObject(value)) throw new TypeError('not an object');
  return value;
};

export const PAGES: readonly string[] = [
  '{"tools":[{"name":"reserve","description":"Reserves stock.","inputSchema":{"type":"object","properties":{"amount":{"type":"integer","maximum":1e2}}},"outputSchema":{"type":"object"}}],"nextCursor":"p2"}',
  '{"tools":[],"nextCursor":""}',
  '{"tools":[{"inputSchema":{ "type":"object" },"name":"count","_meta":{"__proto__":1}}]}',
];

const reference = (tool: JsonObject, name: string): SchemaReference | null => {
  const schema = member(tool, name);
  return schema === undefined
    ? null
    : { digest: digestJson(schema), dialect: DIALECT, vocabularies: VOCABULARIES };
};

export const toolFrom = (source: string, effectClass: SnapshotTool['effectClass']): SnapshotTool => {
  const descriptor = read(source);
  const name = member(descriptor, 'name');
  if (!isString(name)) throw new TypeError('no name');
  return {
    id: toolId(NAMESPACE, name, 1),
    namespace: NAMESPACE,
    name,
    contractVersion: 1,
    descriptor: digestJson(descriptor),
    raw: sha256Bytes(source),
    inputSchema: reference(descriptor, 'inputSchema'),
    outputSchema: reference(descriptor, 'outputSchema'),
    effectClass,
    mayHaveSideEffects: mayHaveSideEffects(effectClass),
    verdict: verdictOf([
      { code: 'NO_TITLE', severity: 'lint', pointer: '/title', message: 'There is no title.' },
    ]),
    source,
  };
};

export const pagesFrom = (texts: readonly string[]): readonly SnapshotPage[] => {
  let cursor: string | undefined;
  return texts.map((text, index) => {
    const result = read(text);
    const next = member(result, 'nextCursor');
    const tools = member(result, 'tools');
    const page: SnapshotPage = {
      index,
      requestCursor: requestCursorDigest(cursor),
      nextCursor: nextCursorDigest(isString(next) ? next : undefined),
      result: digestJson(result),
      raw: sha256Bytes(text),
      tools: Array.isArray(tools) ? tools.length : 0,
      bytes: text.length,
    };
    cursor = isString(next) ? next : undefined;
    return page;
  });
};

const sourcesOf = (page: string): readonly string[] => {
  const bytes = new TextEncoder().encode(page);
  const { text, elements } = readStrict(bytes, { maxDepth: 64 }, { elementsOf: '/tools' });
  return elements.map(({ start, end }) => text.slice(start, end));
};

export const sampleParts = (): SnapshotParts => {
  const endpoint = endpointDigest({ transport: 'http', url: 'http://127.0.0.1:7000/mcp' });
  const identity = identityDigest({
    schema: 'identity.v1',
    kind: 'mcp-http',
    endpoint,
    spki: null,
    artifact: null,
  });
  return {
    server: serverIdentity(parseServerName('inventory-mcp'), identity),
    endpoint,
    protocol: 'mcp-2025-11-25',
    tenant: parseTenantId('acme'),
    audienceClass: parseAudienceClass('tenant-admin.policy-42'),
    policyEpoch: 42,
    catalogGeneration: 7,
    discoveryStartedAt: '2026-01-02T03:04:05.000Z',
    revision: { binding: 'SERVER_REVISION', value: { incarnation: 'a1', counter: 12 } },
    pages: pagesFrom(PAGES),
    tools: PAGES.flatMap(sourcesOf).map((source) =>
      toolFrom(source, source.includes('reserve') ? 'RESERVATION' : 'READ'),
    ),
    credential: { reference: sha256Bytes('env:INVENTORY_TOKEN'), fingerprint: null },
    expires: '2026-01-03T03:04:05.000Z',
  };
};

/** Seals in one go. */
export const sealNow = (parts: SnapshotParts): SealedSnapshot => {
  const steps = sealSnapshot(parts);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};
