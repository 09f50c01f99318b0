/**
 * Verifies a sealed snapshot from its bytes alone, as a second party would: nothing is taken from a database,
 * and nothing that can be computed again is believed.
 */
import type { Digest } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import type { ToolCatalogSnapshot } from '../domain/snapshot.js';
import { canonicalJson } from './canonical.js';
import { checkTool } from './checkTool.js';
import { compareNames, contentRoot } from './contentRoot.js';
import { sha256Bytes } from './digest.js';
import { findChainFault, pageRoot } from './pageChain.js';
import { ProofError } from './proofError.js';
import { asSnapshot } from './snapshotShape.js';
import { readStrict } from './strictJson.js';

/** The artifact's own nesting; the sources in it are strings. */
const SNAPSHOT_DEPTH = 16;

/**
 * S1, S5: checks bytes against the digest before reading them, then form, page chain, both roots, and each
 * tool against its source text.
 * @param bytes the artifact as it was sealed
 * @param expected the digest that pointer, receipt or lease name
 * @throws ProofError with the first reason that does not hold
 * @public
 */
export const verifySnapshot = (bytes: Uint8Array, expected: Digest): ToolCatalogSnapshot => {
  if (sha256Bytes(bytes) !== expected) throw new ProofError('DIGEST_MISMATCH');
  const { value, text } = readArtifact(bytes);
  if (canonicalJson(value) !== text) throw new ProofError('NOT_CANONICAL');
  const snapshot = asSnapshot(value);
  for (const _ of checkSnapshot(snapshot));
  return snapshot;
};

const readArtifact = (bytes: Uint8Array): { value: JsonValue; text: string } => {
  try {
    return readStrict(bytes, { maxDepth: SNAPSHOT_DEPTH });
  } catch (cause) {
    throw new ProofError('NOT_STRICT_JSON', '', { cause });
  }
};

/**
 * What must hold between the members of a snapshot of the right form. Sealing checks it as well, so that
 * nothing is sealed that would not verify. A generator, so that who runs it can let others run in between: it yields the
 * characters of each source text that it has read.
 * @throws ProofError
 */
export function* checkSnapshot(snapshot: ToolCatalogSnapshot): Generator<number, void, void> {
  const { pages, tools } = snapshot;
  const brokenPage = findChainFault(pages);
  if (brokenPage !== null) throw new ProofError('PAGE_CHAIN', `/pages/${brokenPage}`);
  if (pageRoot(pages) !== snapshot.pageRoot) throw new ProofError('PAGE_ROOT', '/pageRoot');
  let previous: string | undefined;
  for (const [index, tool] of tools.entries()) {
    const pointer = `/tools/${index}`;
    if (previous !== undefined && compareNames(previous, tool.name) >= 0) {
      throw new ProofError('TOOL_ORDER', pointer);
    }
    previous = tool.name;
    checkTool(tool, snapshot.protocol, pointer);
    yield tool.source.length;
  }
  if (contentRoot(tools) !== snapshot.contentRoot) throw new ProofError('CONTENT_ROOT', '/contentRoot');
  // Pages may repeat a tool word for word, so they can list more.
  const listed = pages.reduce((sum, page) => sum + page.tools, 0);
  if (listed < tools.length) throw new ProofError('TOOL_COUNT', '/tools');
}
