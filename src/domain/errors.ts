/**
 * The one closed table of codes that a caller can meet, and the error that carries them. docs/errors.md is
 * generated from it; api/problem.ts maps it to RFC 9457. Nobody matches message text.
 */
import { CODES, type CodeRow } from './errorTable.js';

export { CODES, type Fault } from './errorTable.js';

export type Code = keyof typeof CODES;
// Distributes over a union of codes: keyof of the union itself would leave only the reasons that all have in common.
export type ReasonOf<C extends Code> = C extends Code ? keyof (typeof CODES)[C]['reasons'] & string : never;
/** Every (code, reason) pair of the table. */
export type Refusal = { [C in Code]: { readonly code: C; readonly reason: ReasonOf<C> } }[Code];

/** JSON values that explain an error to its reader. No secrets, no driver text. */
export type Details = Readonly<Record<string, unknown>>;

export class CatalogError<C extends Code = Code> extends Error {
  override readonly name = 'CatalogError';
  readonly code: C;
  readonly reason: ReasonOf<C>;
  readonly details: Details;

  constructor(code: C, reason: ReasonOf<C>, details: Details = {}, options?: { cause?: unknown }) {
    super(`${code}/${reason}: ${(CODES[code].reasons as Record<string, string>)[reason]}`, options);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

/** The row of a code, with its types widened for readers that handle any code. */
export const codeRow = (code: Code): CodeRow => CODES[code];

/** What the caller does next: as the reason says, else as its code does. */
export const nextStep = (code: Code, reason: string): string => {
  const { next, nextOf } = codeRow(code);
  return nextOf !== undefined && Object.hasOwn(nextOf, reason) ? (nextOf[reason] ?? next) : next;
};
