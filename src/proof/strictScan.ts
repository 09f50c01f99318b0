/**
 * One pass over JSON text that sees what `JSON.parse` hides: repeated keys, lone surrogates, numbers that do
 * not survive, depth, and where a value stood. Own code because the scanners that were measured are either
 * slow (momoa: 15 times `JSON.parse`) or can be made to take 50 times the page in memory (jsonc-parser).
 */
import { judgeNumber } from './decimal.js';
import { formatPointer, parsePointer } from './jsonPointer.js';
import { type Refuse, skipNumber, skipSpace, skipString } from './jsonTokens.js';
import { StrictJsonError, type StrictJsonReason } from './strictJsonError.js';

/** Half-open range of UTF-16 code units: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A number that would be written back with another value (V7). */
export interface InexactNumber {
  readonly pointer: string;
  /** As the source spells it; cut after 100 characters. */
  readonly text: string;
}

export interface ScanWishes {
  /** Deepest nesting of arrays and objects; a lone value has depth 0. */
  readonly maxDepth: number;
  /** Most values of any kind. A value costs far more memory and time than the bytes that spell it. */
  readonly maxValues: number;
  /** Most different member names: each is one that an engine keeps, and a shape of its own for the objects that have it. */
  readonly maxNames: number;
  /** Most characters of all arrays and objects together, an inner one counted again in each that holds it. */
  readonly maxNested: number;
  readonly elementsOf: string | undefined;
  readonly spanOf: readonly string[];
}

export interface ScanResult {
  readonly elements: readonly Span[];
  readonly spans: Readonly<Record<string, Span>>;
  readonly inexactNumbers: readonly InexactNumber[];
}

/** More than any honest page holds; each keeps a pointer, so their number is bounded. */
const MAX_INEXACT = 10_000;
const MAX_SHOWN = 100;
/** Of a pointer: 128 levels of long names, 10,000 times, would be a hundred times the page. */
const MAX_POINTER = 1_000;

/** One open array or object. Re-used for the next one at the same depth. */
interface Level {
  isArray: boolean;
  start: number;
  key: string;
  index: number;
  keys: Set<string>;
  spanName: string | undefined;
  collects: boolean;
}

const newLevel = (): Level => ({
  isArray: false,
  start: 0,
  key: '',
  index: 0,
  keys: new Set(),
  spanName: undefined,
  collects: false,
});

const shorten = (token: string): string =>
  token.length > MAX_SHOWN ? `${token.slice(0, MAX_SHOWN)}…` : token;
const shownPointer = (path: readonly (string | number)[]): string => {
  const pointer = formatPointer(path.map((token) => shorten(String(token))));
  return pointer.length > MAX_POINTER ? `${pointer.slice(0, MAX_POINTER)}…` : pointer;
};

/**
 * V7: refuses what two JSON readers could read in two ways.
 * @throws StrictJsonError
 */
export const scanStrict = (text: string, wishes: ScanWishes): ScanResult => {
  const levels: Level[] = [];
  const elements: Span[] = [];
  const spans: Record<string, Span> = {};
  const inexactNumbers: InexactNumber[] = [];
  const watched = new Set(wishes.spanOf);
  if (wishes.elementsOf !== undefined) watched.add(wishes.elementsOf);
  const watchDepth = Math.max(-1, ...[...watched].map((pointer) => parsePointer(pointer).length));
  let depth = 0;
  let values = 0;
  let nested = 0;
  const names = new Set<string>();
  const countsNames = Number.isFinite(wishes.maxNames);

  const path = (): (string | number)[] =>
    levels.slice(0, depth).map((level) => (level.isArray ? level.index : level.key));
  const refuse = (reason: StrictJsonReason, offset: number): StrictJsonError =>
    new StrictJsonError(reason, shownPointer(path()), offset);
  const refuseToken: Refuse = refuse;

  /** The watched pointer that the value about to begin has, if any. */
  const watchedName = (): string | undefined => {
    if (depth > watchDepth) return undefined;
    const pointer = formatPointer(path());
    return watched.has(pointer) ? pointer : undefined;
  };
  const close = (name: string | undefined, start: number, end: number): void => {
    if (name !== undefined) spans[name] = { start, end };
    if (depth > 0 && levels[depth - 1]?.collects) elements.push({ start, end });
  };
  const open = (isArray: boolean, start: number, spanName: string | undefined): Level => {
    if (depth >= wishes.maxDepth) throw refuse('TOO_DEEP', start);
    const collects = isArray && spanName !== undefined && spanName === wishes.elementsOf;
    const level = levels[depth] ?? newLevel();
    if (level.keys.size > 0) level.keys.clear();
    level.isArray = isArray;
    level.start = start;
    level.key = '';
    level.index = 0;
    level.spanName = spanName;
    level.collects = collects;
    levels[depth++] = level;
    return level;
  };
  /** Reads `"key":` and returns the offset of its value. */
  const readKey = (level: Level, from: number): number => {
    if (text[from] !== '"') throw refuse('MALFORMED', from);
    const { end, escaped } = skipString(text, from, refuseToken);
    // Two spellings of one key are one key, so escapes are undone before the comparison.
    level.key = escaped ? (JSON.parse(text.slice(from, end)) as string) : text.slice(from + 1, end - 1);
    if (level.keys.has(level.key)) throw refuse('DUPLICATE_KEY', from);
    level.keys.add(level.key);
    if (countsNames && names.add(level.key).size > wishes.maxNames) throw refuse('TOO_MANY_NAMES', from);
    const colon = skipSpace(text, end);
    if (text[colon] !== ':') throw refuse('MALFORMED', colon);
    return skipSpace(text, colon + 1);
  };
  const readNumber = (from: number): number => {
    const end = skipNumber(text, from, refuseToken);
    const literal = text.slice(from, end);
    const verdict = judgeNumber(literal);
    if (verdict === 'range') throw refuse('NUMBER_RANGE', from);
    if (verdict === 'inexact') {
      if (inexactNumbers.length >= MAX_INEXACT) throw refuse('TOO_MANY_INEXACT', from);
      inexactNumbers.push({ pointer: shownPointer(path()), text: shorten(literal) });
    }
    return end;
  };
  const readPlain = (from: number): number => {
    const c = text[from];
    if (c === '"') return skipString(text, from, refuseToken).end;
    if (c === 't' && text.startsWith('true', from)) return from + 4;
    if (c === 'f' && text.startsWith('false', from)) return from + 5;
    if (c === 'n' && text.startsWith('null', from)) return from + 4;
    if (c === '-' || (c !== undefined && c >= '0' && c <= '9')) return readNumber(from);
    throw refuse('MALFORMED', from);
  };

  let at = skipSpace(text, 0);
  for (;;) {
    // A value begins at `at`.
    if (++values > wishes.maxValues) throw refuse('TOO_MANY_VALUES', at);
    const name = watchedName();
    const c = text[at];
    if (c === '{' || c === '[') {
      const level = open(c === '[', at, name);
      at = skipSpace(text, at + 1);
      if (text[at] !== (level.isArray ? ']' : '}')) {
        if (!level.isArray) at = readKey(level, at);
        continue;
      }
    } else {
      const end = readPlain(at);
      close(name, at, end);
      at = skipSpace(text, end);
    }
    // A value has ended, or an empty container is about to: go on to the next value, closing what closes.
    for (;;) {
      const level = levels[depth - 1];
      if (depth === 0 || level === undefined) {
        if (at !== text.length) throw refuse('MALFORMED', at);
        return { elements, spans, inexactNumbers };
      }
      if (text[at] === ',') {
        at = skipSpace(text, at + 1);
        if (level.isArray) level.index++;
        else at = readKey(level, at);
        break;
      }
      if (text[at] !== (level.isArray ? ']' : '}')) throw refuse('MALFORMED', at);
      nested += at + 1 - level.start;
      if (nested > wishes.maxNested) throw refuse('TOO_DEEP', level.start);
      depth--;
      close(level.spanName, level.start, at + 1);
      at = skipSpace(text, at + 1);
    }
  }
};
