/**
 * Seals a snapshot: the last step of a scan, after which the artifact never changes (S1).
 */
import type { Digest } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
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
 * S1, S5: sorts the tools, computes both roots, checks all of it and digests the canonical bytes.
 * @throws ProofError for parts that would not verify: a broken page chain, one name twice, a tool that does not
 * agree with its source text, a member of the wrong form or too many
 */
export const sealSnapshot = (parts: SnapshotParts): SealedSnapshot => {
  const tools = [...parts.tools].sort((a, b) => compareNames(a.name, b.name));
  const candidate = {
    ...parts,
    schema: SNAPSHOT_SCHEMA,
    tools,
    pageRoot: pageRoot(parts.pages),
    contentRoot: contentRoot(tools),
    state: 'COMPLETE',
  } as const;
  const text = canonicalJson(candidate as unknown as JsonValue);
  // Read back from the sealed text, so that no object of the caller's is shared with what was sealed.
  const snapshot = asSnapshot(JSON.parse(text) as JsonValue);
  checkSnapshot(snapshot);
  return { snapshot, bytes: new TextEncoder().encode(text), digest: sha256Bytes(text) };
};
