/**
 * Why a piece of evidence does not hold. The reasons are closed so that a caller can map each to what it means
 * there: a refused candidate, a damaged store, a forged artifact.
 */
export type ProofReason =
  /** The bytes are not those that the digest names. */
  | 'DIGEST_MISMATCH'
  /** The bytes are not strict JSON. */
  | 'NOT_STRICT_JSON'
  /** The bytes are not the canonical spelling of their value. */
  | 'NOT_CANONICAL'
  /** A member is missing, unknown or of the wrong form. */
  | 'WRONG_SHAPE'
  /** The pages are not one unbroken list from START to END. */
  | 'PAGE_CHAIN'
  | 'PAGE_ROOT'
  | 'CONTENT_ROOT'
  /** The tools are not sorted by name, or one name stands twice. */
  | 'TOOL_ORDER'
  /** A tool's id is not made of its namespace, name and contract version. */
  | 'TOOL_ID'
  /** A tool's source text is not a strict JSON object, or names another tool. */
  | 'TOOL_SOURCE'
  | 'RAW_DIGEST'
  | 'DESCRIPTOR_DIGEST'
  | 'SCHEMA_DIGEST'
  /** Status, findings, effect class and side effects of a tool contradict one another. */
  | 'TOOL_VERDICT'
  /** The pages list fewer tools than the snapshot holds. */
  | 'TOOL_COUNT'
  /** An address cannot be digested: not absolute, or with a password in it. */
  | 'ENDPOINT_FORM';

export class ProofError extends Error {
  override readonly name = 'ProofError';
  readonly reason: ProofReason;
  /** RFC 6901 pointer into the artifact, empty for the whole. */
  readonly pointer: string;

  constructor(reason: ProofReason, pointer = '', options?: { cause?: unknown }) {
    super(pointer === '' ? reason : `${reason} at ${pointer}`, options);
    this.reason = reason;
    this.pointer = pointer;
  }
}
