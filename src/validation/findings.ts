/**
 * Every code that a contract check can give, with its severity, in one closed table, and the collector that
 * checks write to. What is quoted from a source is escaped here, so that no report carries it raw (V7).
 */
import type { Finding } from '../domain/descriptor.js';

export const FINDINGS = {
  DESCRIPTOR_INVALID: 'fault',
  NAME_MISSING: 'fault',
  NAME_EMPTY: 'fault',
  NAME_TOO_LONG: 'fault',
  NAME_CHARSET: 'fault',
  STRING_NUL: 'fault',
  HIDDEN_TEXT: 'fault',
  ROOT_NOT_OBJECT: 'fault',
  OUTPUT_ROOT_NOT_OBJECT: 'fault',
  SCHEMA_INVALID: 'fault',
  SCHEMA_TOO_LARGE: 'fault',
  SCHEMA_TOO_DEEP: 'fault',
  SCHEMA_TOO_COMPLEX: 'fault',
  UNKNOWN_DIALECT: 'fault',
  UNKNOWN_VOCABULARY: 'fault',
  REF_UNRESOLVED: 'fault',
  REF_REMOTE: 'fault',
  REF_CYCLE: 'fault',
  REF_DYNAMIC: 'fault',
  FORBIDDEN_KEYWORD: 'fault',
  PATTERN_INVALID: 'fault',
  PATTERN_UNSUPPORTED: 'fault',
  PATTERN_UNSAFE: 'fault',
  HEADER_INVALID: 'fault',

  NAME_NOT_PORTABLE: 'lint',
  TEXT_NULL: 'lint',
  MIXED_SCRIPT: 'lint',
  TEXT_SUSPECT: 'lint',
  ANNOTATION_TYPE: 'lint',
  CONTRADICTORY_ANNOTATIONS: 'lint',
  ANNOTATION_SUSPECT: 'lint',
  ANNOTATION_DISAGREES: 'lint',
  DIALECT_ALIAS: 'lint',
  NONSTANDARD_KEYWORD: 'lint',
  OTHER_DIALECT_KEYWORD: 'lint',
  REF_SIBLINGS_DRAFT07: 'lint',
  UNKNOWN_FORMAT: 'lint',
  UNSAFE_NUMBER: 'lint',
  PROVIDER_COMPAT: 'lint',
  HEADER_IGNORED: 'lint',

  // Of the catalog as a whole.
  CONSUMER_LIMIT: 'lint',
  TOOL_REPEATED: 'lint',
  LOOK_ALIKE_NAMES: 'lint',
  SPLIT_TEXT: 'lint',
} as const satisfies Record<string, Finding['severity']>;

export type FindingCode = keyof typeof FINDINGS;

/** More than this many of one severity say no more, and would let a source fill our storage. */
const MAX_PER_SEVERITY = 25;
const MAX_QUOTE = 60;

const NOT_PLAIN = /[^\x20-\x7e]/u;

const escapeCodePoints = (text: string, keep: (char: string) => boolean): string => {
  let out = '';
  for (const char of text) {
    out += keep(char) ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
  }
  return out;
};

/** V7: a source's text for a report: printable ASCII, the rest as `\u{…}`, cut to a readable length. */
export const quote = (text: string): string => {
  const cut = [...text.slice(0, MAX_QUOTE * 2)].slice(0, MAX_QUOTE).join('');
  return `"${escapeCodePoints(cut, (char) => !NOT_PLAIN.test(char))}${cut.length < text.length ? '…' : ''}"`;
};

/** Pointers keep letters of any script, but nothing that cannot be seen or stored. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}\p{M} ]/u;
/** Member names are as long as a source likes, and each finding repeats those above it. */
const MAX_POINTER = 500;
const showPointer = (pointer: string): string => {
  const cut = pointer.length > MAX_POINTER ? `${pointer.slice(0, MAX_POINTER)}…` : pointer;
  return NOT_PLAIN.test(cut) ? escapeCodePoints(cut, (char) => VISIBLE.test(char)) : cut;
};

const inOrder = (a: Finding, b: Finding): number =>
  compareText(a.severity, b.severity) || compareText(a.code, b.code) || compareText(a.pointer, b.pointer);
const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b);

/** Collects findings; the same code at the same pointer counts once. */
export class Report {
  readonly #findings = new Map<string, Finding>();
  readonly #count = { fault: 0, lint: 0 };
  /**
   * What the checks took so far, about a microsecond each: counted, not measured, so that it is the same for the same
   * input. Who shares a thread with others gives it up by this.
   */
  work = 0;

  /** @param pointer RFC 6901, into the tool object */
  add(code: FindingCode, pointer: string, message: string): void {
    const severity = FINDINGS[code];
    const shown = showPointer(pointer);
    const key = `${code} ${shown}`;
    if (this.#findings.has(key)) return;
    this.#count[severity] += 1;
    if (this.#count[severity] > MAX_PER_SEVERITY) return;
    this.#findings.set(key, { code, severity, pointer: shown, message });
  }

  get faults(): number {
    return this.#count.fault;
  }

  /** Faults first, then by code and pointer: equal input gives equal reports, however they came about. */
  list(): readonly Finding[] {
    return [...this.#findings.values()].sort(inOrder);
  }
}
