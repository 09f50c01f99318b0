/**
 * Checks one tool of a snapshot against the source's own text that stands beside it (S2, S5): everything that
 * Genlock says of the text and that can be computed again is.
 */
import { toolId } from '../domain/ids.js';
import { isJsonObject, type JsonObject, member } from '../domain/json.js';
import type { Protocol, SchemaReference, SnapshotTool } from '../domain/snapshot.js';
import { digestJson, sha256Bytes } from './digest.js';
import { ProofError, type ProofReason } from './proofError.js';
import { readStrict } from './strictJson.js';

/** Generous: a reader's own limit is lower, and a sealed snapshot must stay verifiable if that is raised. */
const SOURCE_DEPTH = 1_000;

/**
 * S2, S5. What is not computed again: dialect and vocabularies, which the contract checks resolved, and the
 * operator's effect class. An OpenAPI tool is derived from its operation, so that only the digests of the
 * operation's text are.
 * @throws ProofError TOOL_ID, TOOL_VERDICT, TOOL_SOURCE, RAW_DIGEST, DESCRIPTOR_DIGEST, SCHEMA_DIGEST
 */
export const checkTool = (tool: SnapshotTool, protocol: Protocol, pointer: string): void => {
  const fail = (reason: ProofReason, member: string): ProofError =>
    new ProofError(reason, `${pointer}/${member}`);
  if (tool.id !== toolId(tool.namespace, tool.name, tool.contractVersion)) throw fail('TOOL_ID', 'id');
  const isQuarantined = tool.verdict.status === 'QUARANTINED';
  const hasFault = tool.verdict.findings.some((finding) => finding.severity === 'fault');
  if (isQuarantined !== hasFault) throw fail('TOOL_VERDICT', 'verdict');
  if (tool.inputSchema === null && !isQuarantined) throw fail('TOOL_VERDICT', 'inputSchema');
  if (tool.effectClass !== 'READ' && !tool.mayHaveSideEffects)
    throw fail('TOOL_VERDICT', 'mayHaveSideEffects');

  if (sha256Bytes(tool.source) !== tool.raw) throw fail('RAW_DIGEST', 'raw');
  const descriptor = readSource(tool, pointer);
  if (digestJson(descriptor) !== tool.descriptor) throw fail('DESCRIPTOR_DIGEST', 'descriptor');
  if (!protocol.startsWith('mcp-')) return;
  if (member(descriptor, 'name') !== tool.name) throw fail('TOOL_SOURCE', 'name');
  for (const name of ['inputSchema', 'outputSchema'] as const) {
    if (!schemaHolds(member(descriptor, name), tool[name], isQuarantined)) throw fail('SCHEMA_DIGEST', name);
  }
};

const readSource = (tool: SnapshotTool, pointer: string): JsonObject => {
  const refuse = (cause?: unknown): ProofError =>
    new ProofError('TOOL_SOURCE', `${pointer}/source`, { cause });
  try {
    const { value } = readStrict(new TextEncoder().encode(tool.source), { maxDepth: SOURCE_DEPTH });
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw refuse(error);
  }
  throw refuse();
};

/** A quarantined tool may leave out the reference of a schema that could not be resolved. */
const schemaHolds = (
  schema: JsonObject[string] | undefined,
  reference: SchemaReference | null,
  isQuarantined: boolean,
): boolean => {
  if (reference === null) return schema === undefined || isQuarantined;
  return schema !== undefined && digestJson(schema) === reference.digest;
};
