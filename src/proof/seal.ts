/**
 * Seals a snapshot: the last step of a scan, after which the artifact never changes (S1).
 */
import type { Digest } from '../domain/ids.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import { SNAPSHOT_SCHEMA, type ToolCatalogSnapshot } from '../domain/snapshot.js';
import { canonicalJson } from './canonical.js';
import { compareNames, contentRoot } from './contentRoot.js';
import { sha256Bytes } from './digest.js';
import { pageRoot } from './pageChain.js';
import { asSnapshot } from './snapshotShape.js';
import { checkSnapshot } from './verifySnapshot.js';

/** Everything that sealing does not compute. Tools in any order. */
export type SnapshotParts = Omit<ToolCatalogSnapshot, 'schema' | 'state' | 'pageRoot' | 'contentRoot'>;

export interface SealedSnapshot {
  readonly snapshot: ToolCatalogSnapshot;
  /** UTF-8 of the canonical JSON: what is stored, served and digested. */
  readonly bytes: Uint8Array;
  /** The snapshot's address. */
  readonly digest: Digest;
}

/**
 * S1, S5: sorts the tools, computes both roots, checks all of it and digests the canonical bytes. A generator, so that
 * who runs it can let others run in between: it yields the characters of source text that it has been through.
 * @throws ProofError for parts that would not verify: a broken page chain, one name twice, a tool that does not
 * agree with its source text, a member of the wrong form or too many
 */
export function* sealSnapshot(parts: SnapshotParts): Generator<number, SealedSnapshot, void> {
  const tools = [...parts.tools].sort((a, b) => compareNames(a.name, b.name));
  const frame = {
    ...parts,
    schema: SNAPSHOT_SCHEMA,
    tools: [],
    pageRoot: pageRoot(parts.pages),
    contentRoot: contentRoot(tools),
    state: 'COMPLETE',
  } as const;
  const frameText = canonicalJson(frame as unknown as JsonValue);
  // `tools` is the last of the sorted members, and an array's canonical form is made of those of its elements.
  const encoder = new TextEncoder();
  const chunks = [encoder.encode(frameText.slice(0, -']}'.length))];
  const readBack: JsonValue[] = [];
  for (const tool of tools) {
    const text = canonicalJson(tool as unknown as JsonValue);
    chunks.push(encoder.encode(readBack.length === 0 ? text : `,${text}`));
    // Read back from the sealed text, so that no object of the caller's is shared with what was sealed.
    readBack.push(JSON.parse(text) as JsonValue);
    yield tool.source.length;
  }
  chunks.push(encoder.encode(']}'));
  const snapshot = asSnapshot({ ...(JSON.parse(frameText) as JsonObject), tools: readBack });
  yield* checkSnapshot(snapshot);
  const bytes = Buffer.concat(chunks);
  return { snapshot, bytes, digest: sha256Bytes(bytes) };
}
