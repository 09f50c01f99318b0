/**
 * V4: the one place where patterns of a source are compiled and run: on re2js, whose time is linear in the
 * text. Kept by pattern, since a catalog repeats the same few; a pattern alone decides the answer.
 */
import { RE2JS } from 're2js';
import { DEFAULT_CONTRACT_LIMITS } from './limits.js';
import {
  MAX_PATTERN_LENGTH,
  PatternRefused,
  type TranslatedPattern,
  translatePattern,
} from './patternSyntax.js';

export interface LinearPattern {
  test(text: string): boolean;
  /** The pattern: ajv tells patterns apart by this. */
  toString(): string;
}

/** What is known of a pattern before it is compiled, which may take long. */
export interface MeasuredPattern {
  /** Instructions: a match costs at most about this many steps for each character. */
  readonly size: number;
  /** What compiling takes; about a microsecond each. */
  readonly work: number;
  /** @throws PatternRefused PATTERN_UNSUPPORTED */
  compile(): LinearPattern;
}

/** Patterns, and the work of all of them: an automaton takes memory in proportion. */
const MAX_KEPT = 2_000;
const MAX_KEPT_WORK = 100_000;
const kept = new Map<string, MeasuredPattern | PatternRefused>();
let keptWork = 0;

const workOf = (entry: MeasuredPattern | PatternRefused | undefined): number =>
  entry === undefined || entry instanceof PatternRefused ? 0 : entry.work;

const keep = (key: string, entry: MeasuredPattern | PatternRefused): void => {
  kept.set(key, entry);
  keptWork += workOf(entry);
  for (const [oldest, dropped] of kept) {
    if (kept.size <= MAX_KEPT && keptWork <= MAX_KEPT_WORK) return;
    kept.delete(oldest);
    keptWork -= workOf(dropped);
  }
};

const build = (source: string, text: string): LinearPattern | PatternRefused => {
  try {
    const engine = RE2JS.compile(text);
    return { test: (value) => engine.test(value), toString: () => source };
  } catch {
    return new PatternRefused('PATTERN_UNSUPPORTED', 'the linear-time engine has no such construct');
  }
};

const measured = (source: string, { text, size, work }: TranslatedPattern): MeasuredPattern => {
  let built: LinearPattern | PatternRefused | undefined;
  return {
    size,
    work,
    compile: () => {
      built ??= build(source, text);
      if (built instanceof PatternRefused) throw built;
      return built;
    },
  };
};

/**
 * Reads a pattern and compiles nothing.
 * @param maxSize highest number of instructions
 * @throws PatternRefused with the code of the finding
 */
export const measurePattern = (
  source: string,
  maxSize: number = DEFAULT_CONTRACT_LIMITS.patternSize,
): MeasuredPattern => {
  const key = `${maxSize} ${source}`;
  let entry = kept.get(key);
  if (entry === undefined) {
    try {
      entry = measured(source, translatePattern(source, maxSize));
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      entry = error;
    }
    if (source.length <= MAX_PATTERN_LENGTH) keep(key, entry);
  }
  if (entry instanceof PatternRefused) throw entry;
  return entry;
};

/** @throws PatternRefused with the code of the finding */
export const compilePattern = (source: string): LinearPattern => measurePattern(source).compile();

/** After a match was cut off by a deadline its automaton may be half built: all are made anew. */
export const forgetPatterns = (): void => {
  kept.clear();
  keptWork = 0;
};
