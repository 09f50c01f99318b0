/**
 * What the strict reader refuses, with the place, so that an operator can show it to a server's author.
 */
export type StrictJsonReason =
  | 'INVALID_UTF8'
  | 'MALFORMED'
  | 'DUPLICATE_KEY'
  | 'LONE_SURROGATE'
  | 'NUMBER_RANGE'
  | 'TOO_DEEP'
  | 'TOO_LARGE'
  | 'TOO_MANY_VALUES'
  | 'TOO_MANY_NAMES'
  | 'TOO_MANY_INEXACT';

/** Carries a place and never the text at it: that may be a secret or a control sequence. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError';
  readonly reason: StrictJsonReason;
  /** RFC 6901 pointer to the innermost value that was being read; very long member names are cut. */
  readonly pointer: string;
  /** Into the text, in UTF-16 code units; into the bytes for INVALID_UTF8 and TOO_LARGE. */
  readonly offset: number;

  constructor(reason: StrictJsonReason, pointer: string, offset: number) {
    super(`${reason} at offset ${offset}`);
    this.reason = reason;
    this.pointer = pointer;
    this.offset = offset;
  }
}
