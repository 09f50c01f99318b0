/**
 * V4: the one place where patterns of a source are compiled and run: on re2js, whose time is linear in the
 * text. Kept by pattern, since a catalog repeats the same few; a pattern alone decides the answer.
 */
import { RE2JS } from 're2js';
import { DEFAULT_CONTRACT_LIMITS } from './limits.js';
import { PatternRefused, translatePattern } from './patternSyntax.js';

export interface LinearPattern {
  /** Instructions: a match costs at most about this many steps for each character. */
  readonly size: number;
  test(text: string): boolean;
  /** The pattern: ajv tells patterns apart by this. */
  toString(): string;
}

/** Patterns, and instructions of all of them: an automaton takes memory in proportion. */
const MAX_KEPT = 2_000;
const MAX_KEPT_SIZE = 200_000;
const kept = new Map<string, LinearPattern | PatternRefused>();
let keptSize = 0;

const sizeOf = (entry: LinearPattern | PatternRefused | undefined): number =>
  entry === undefined || entry instanceof PatternRefused ? 0 : entry.size;

const keep = (key: string, entry: LinearPattern | PatternRefused): void => {
  kept.set(key, entry);
  keptSize += sizeOf(entry);
  for (const [oldest, dropped] of kept) {
    if (kept.size <= MAX_KEPT && keptSize <= MAX_KEPT_SIZE) return;
    kept.delete(oldest);
    keptSize -= sizeOf(dropped);
  }
};

const build = (source: string, maxSize: number): LinearPattern => {
  const { text, size } = translatePattern(source, maxSize);
  try {
    const engine = RE2JS.compile(text);
    return { size, test: (value) => engine.test(value), toString: () => source };
  } catch {
    throw new PatternRefused('PATTERN_UNSUPPORTED', 'the linear-time engine has no such construct');
  }
};

/**
 * @param maxSize highest number of instructions
 * @throws PatternRefused with the code of the finding
 */
export const compilePattern = (
  source: string,
  maxSize: number = DEFAULT_CONTRACT_LIMITS.patternSize,
): LinearPattern => {
  const key = `${maxSize} ${source}`;
  let entry = kept.get(key);
  if (entry === undefined) {
    try {
      entry = build(source, maxSize);
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      entry = error;
    }
    keep(key, entry);
  }
  if (entry instanceof PatternRefused) throw entry;
  return entry;
};

/** After a match was cut off by a deadline its automaton may be half built: all are made anew. */
export const forgetPatterns = (): void => {
  kept.clear();
  keptSize = 0;
};
