/**
 * Reads an ECMA-262 pattern, the language of JSON Schema, and writes it for a linear-time engine, whose own
 * language differs (`\s`, `.`, `$`, `[[:x:]]`, `\A` mean other things there). What has no linear-time
 * equivalent is refused, never run (V4).
 */
export type PatternFault = 'PATTERN_INVALID' | 'PATTERN_UNSUPPORTED' | 'PATTERN_UNSAFE';

export class PatternRefused extends Error {
  override readonly name = 'PatternRefused';
  readonly code: PatternFault;
  constructor(code: PatternFault, message: string) {
    super(message);
    this.code = code;
  }
}

interface Piece {
  readonly text: string;
  /** About the number of instructions that it compiles to. */
  readonly size: number;
  /** The same, where a set of many ranges counts for more: the engine copies them for each instruction. */
  readonly weight: number;
}

/** What the engine takes, known before it is asked. */
export interface TranslatedPattern {
  readonly text: string;
  readonly size: number;
  /** What compiling takes in time and memory; about a microsecond each. */
  readonly work: number;
}

const SPACE =
  '\\t-\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}';
const NOT_SPACE =
  '\\x{0}-\\x{8}\\x{E}-\\x{1F}!-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{FEFE}\\x{FF00}-\\x{10FFFF}';
const ANY = '[^\\n\\r\\x{2028}\\x{2029}]';
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };
const MAX_GROUPS = 100;
/** The engine's own bound on one repetition; larger ones are written as several. */
const MAX_REPEAT = 1_000;
/** Ranges of a set: the largest categories of Unicode have some 700, and are read anew at each place. */
const RANGES = { property: 640, space: 11, short: 4 };
const PROPERTY_WORK = 80;
/** Of the smallest pattern. */
const PATTERN_WORK = 20;
/** Ranges whose copying costs what another instruction does. */
const RANGES_PER_WEIGHT = 64;

const literal = (codePoint: number): string => {
  const char = String.fromCodePoint(codePoint);
  return /[A-Za-z0-9]/.test(char) ? char : `\\x{${codePoint.toString(16).toUpperCase()}}`;
};

/** The engine knows general categories by their short names only. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Letter: 'L',
    Uppercase_Letter: 'Lu',
    Lowercase_Letter: 'Ll',
    Titlecase_Letter: 'Lt',
    Modifier_Letter: 'Lm',
    Other_Letter: 'Lo',
    Mark: 'M',
    Number: 'N',
    Decimal_Number: 'Nd',
    digit: 'Nd',
    Letter_Number: 'Nl',
    Other_Number: 'No',
    Punctuation: 'P',
    punct: 'P',
    Symbol: 'S',
    Separator: 'Z',
    Space_Separator: 'Zs',
    Other: 'C',
    Control: 'Cc',
    Format: 'Cf',
  }),
);

const property = (letter: string, name: string): string => {
  const known = name.replace(/^(?:Script|sc|General_Category|gc)=/, '');
  const value = CATEGORIES.get(known) ?? known;
  if (/[^A-Za-z_]/.test(value)) throw new PatternRefused('PATTERN_UNSUPPORTED', `\\${letter}{${value}}`);
  return `\\${letter}{${value}}`;
};

const one = (text: string): Piece => ({ text, size: 1, weight: 1 });

class Translator {
  readonly #chars: readonly string[];
  readonly #unicode: boolean;
  readonly #maxSize: number;
  #at = 0;
  #groups = 0;
  #ranges = 0;
  #properties = 0;

  constructor(source: string, unicode: boolean, maxSize: number) {
    this.#chars = [...source];
    this.#unicode = unicode;
    this.#maxSize = maxSize;
  }

  translate(): TranslatedPattern {
    const { text, size, weight } = this.#disjunction();
    if (this.#at < this.#chars.length) throw new PatternRefused('PATTERN_INVALID', 'unbalanced parenthesis');
    const read = PATTERN_WORK + this.#chars.length + this.#properties * PROPERTY_WORK;
    return { text, size, work: Math.ceil(read + weight) };
  }

  #peek(offset = 0): string {
    return this.#chars[this.#at + offset] ?? '';
  }

  #disjunction(): Piece {
    let text = '';
    let [size, weight] = [0, 0];
    while (this.#at < this.#chars.length && this.#peek() !== ')') {
      const piece = this.#peek() === '|' ? one(this.#take()) : this.#term();
      text += piece.text;
      size += piece.size;
      weight += piece.weight;
      if (size > this.#maxSize) {
        throw new PatternRefused('PATTERN_UNSAFE', 'its repetitions multiply to too large an automaton');
      }
    }
    return { text, size, weight };
  }

  #take(count = 1): string {
    const taken = this.#chars.slice(this.#at, this.#at + count).join('');
    this.#at += count;
    return taken;
  }

  #term(): Piece {
    const atom = this.#atom();
    const mark = this.#peek();
    if (mark === '*' || mark === '+' || mark === '?') {
      this.#take();
      return this.#lazily({ text: `${atom.text}${mark}`, size: atom.size + 1, weight: atom.weight + 1 });
    }
    const counted = mark === '{' ? this.#count() : null;
    return counted === null ? atom : this.#lazily(this.#repeat(atom, counted.min, counted.max));
  }

  /** Whether a match is lazy changes which text matches, not whether any does. */
  #lazily(piece: Piece): Piece {
    if (this.#peek() === '?') this.#take();
    return piece;
  }

  #count(): { min: number; max: number | null } | null {
    const match = /^\{(\d{1,9})(?:(,)(\d{0,9}))?\}/.exec(this.#chars.slice(this.#at, this.#at + 24).join(''));
    if (match === null) return null;
    this.#at += match[0].length;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === '' ? null : Number(match[3]);
    return { min, max };
  }

  #repeat(atom: Piece, min: number, max: number | null): Piece {
    const times = Math.max(min, max ?? min + 1, 1);
    const size = atom.size * times + 1;
    const weight = atom.weight * times + 1;
    if (size > this.#maxSize) {
      throw new PatternRefused('PATTERN_UNSAFE', `a repetition of ${times} makes too large an automaton`);
    }
    const unit = `(?:${atom.text})`;
    let text = '';
    let need = min;
    for (; need > MAX_REPEAT; need -= MAX_REPEAT) text += `${unit}{${MAX_REPEAT}}`;
    if (max === null) return { text: `(?:${text}${unit}{${need},})`, size, weight };
    let optional = max - min;
    if (need + optional <= MAX_REPEAT)
      return { text: `(?:${text}${unit}{${need},${need + optional}})`, size, weight };
    text += `${unit}{${need}}`;
    for (; optional > 0; optional -= MAX_REPEAT) text += `${unit}{0,${Math.min(optional, MAX_REPEAT)}}`;
    return { text: `(?:${text})`, size, weight };
  }

  #atom(): Piece {
    const char = this.#take();
    if (char === '(') return this.#group();
    if (char === '[') return this.#set(() => this.#class());
    if (char === '\\') return this.#set(() => this.#escape(false));
    if (char === '^') return one('\\A');
    if (char === '$') return one('\\z');
    if (char === '.') return one(ANY);
    return one(literal(char.codePointAt(0) ?? 0));
  }

  /** One instruction, weighed by the ranges that reading it counted. */
  #set(read: () => string): Piece {
    this.#ranges = 0;
    const text = read();
    return { text, size: 1, weight: 1 + this.#ranges / RANGES_PER_WEIGHT };
  }

  #group(): Piece {
    this.#groups += 1;
    if (this.#groups > MAX_GROUPS)
      throw new PatternRefused('PATTERN_UNSAFE', `more than ${MAX_GROUPS} groups`);
    if (this.#peek() === '?') {
      if (/^\?<?[=!]/.test(this.#chars.slice(this.#at, this.#at + 3).join(''))) {
        throw new PatternRefused('PATTERN_UNSUPPORTED', 'lookaround has no linear-time form here');
      }
      if (this.#peek(1) === ':') this.#take(2);
      else if (this.#peek(1) === '<') while (this.#take() !== '>') if (this.#peek() === '') break;
      if (this.#peek() === '?') throw new PatternRefused('PATTERN_UNSUPPORTED', 'an unknown kind of group');
    }
    const inner = this.#disjunction();
    if (this.#take() !== ')') throw new PatternRefused('PATTERN_INVALID', 'unbalanced parenthesis');
    return { text: `(?:${inner.text})`, size: inner.size + 1, weight: inner.weight + 1 };
  }

  #class(): string {
    const negated = this.#peek() === '^';
    if (negated) this.#take();
    let text = '';
    while (this.#peek() !== ']') {
      if (this.#at >= this.#chars.length) throw new PatternRefused('PATTERN_INVALID', 'unbalanced bracket');
      const from = this.#classAtom();
      const range = this.#peek() === '-' && this.#peek(1) !== ']' && this.#peek(1) !== '';
      if (!range || typeof from === 'string') {
        text += typeof from === 'string' ? from : literal(from);
        continue;
      }
      this.#take();
      const to = this.#classAtom();
      // Annex B: a range whose end is a class, as in [a-\d], is three things side by side.
      text += typeof to === 'string' ? `${literal(from)}\\-${to}` : `${literal(from)}-${literal(to)}`;
    }
    this.#take();
    if (text === '') return negated ? '[\\x{0}-\\x{10FFFF}]' : '[^\\x{0}-\\x{10FFFF}]';
    return `[${negated ? '^' : ''}${text}]`;
  }

  /** @returns a code point, or the text of a set */
  #classAtom(): number | string {
    this.#ranges += 1;
    const char = this.#take();
    if (char !== '\\') return char.codePointAt(0) ?? 0;
    const escaped = this.#peek();
    if (escaped === 'b') {
      this.#take();
      return 8;
    }
    if (/[dDwWsSpP]/.test(escaped)) return this.#escape(true);
    return this.#codePoint();
  }

  /** An escape that stands for a set or an assertion, else that of one character. */
  #escape(inClass: boolean): string {
    const char = this.#peek();
    if (/[dDwW]/.test(char) || (!inClass && /[bB]/.test(char))) {
      this.#ranges += RANGES.short;
      return `\\${this.#take()}`;
    }
    if (char === 's' || char === 'S') {
      this.#ranges += RANGES.space;
      this.#take();
      const set = char === 's' ? SPACE : NOT_SPACE;
      return inClass ? set : `[${set}]`;
    }
    if (char === 'p' || char === 'P') {
      const name = /^[pP]\{([^}]{1,60})\}/.exec(this.#chars.slice(this.#at, this.#at + 64).join(''));
      if (!this.#unicode || name === null) throw new PatternRefused('PATTERN_UNSUPPORTED', 'a doubtful \\p');
      this.#at += name[0].length;
      this.#ranges += RANGES.property;
      this.#properties += 1;
      return property(char, name[1] ?? '');
    }
    return literal(this.#codePoint());
  }

  /** @returns the code point of an escape whose backslash is taken */
  #codePoint(): number {
    const char = this.#take();
    const rest = this.#chars.slice(this.#at, this.#at + 12).join('');
    if (/[1-9k]/.test(char) || (char === '0' && /^\d/.test(rest))) {
      throw new PatternRefused('PATTERN_UNSUPPORTED', 'back references have no linear-time form');
    }
    const control = CONTROLS[char];
    if (control !== undefined) return control;
    if (char === 'x' || char === 'u') return this.#hex(char, rest);
    if (char === 'c' && /^[A-Za-z]/.test(rest)) return (this.#take().codePointAt(0) ?? 0) % 32;
    if (char === 'c' || char === '') throw new PatternRefused('PATTERN_UNSUPPORTED', 'a doubtful escape');
    return char.codePointAt(0) ?? 0;
  }

  #hex(kind: string, rest: string): number {
    const pair = /^([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(rest);
    const match =
      kind === 'x'
        ? /^([0-9a-fA-F]{2})/.exec(rest)
        : (pair ??
          /^([0-9a-fA-F]{4})/.exec(rest) ??
          (this.#unicode ? /^\{([0-9a-fA-F]{1,6})\}/.exec(rest) : null));
    if (match === null) throw new PatternRefused('PATTERN_UNSUPPORTED', 'a doubtful escape');
    this.#at += match[0].length;
    const high = Number.parseInt(match[1] ?? '', 16);
    if (kind === 'u' && pair !== null) {
      return (high - 0xd800) * 0x400 + (Number.parseInt(pair[2] ?? '', 16) - 0xdc00) + 0x10000;
    }
    return high;
  }
}

const parses = (source: string, flags: string): boolean => {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
};

export const MAX_PATTERN_LENGTH = 4_096;

/**
 * V4: writes an ECMA-262 pattern in the language of the linear-time engine.
 * @param maxSize instructions that the result may compile to
 * @throws PatternRefused where it is no pattern, needs backtracking, or is too large
 */
export const translatePattern = (source: string, maxSize: number): TranslatedPattern => {
  if (source.length > MAX_PATTERN_LENGTH)
    throw new PatternRefused('PATTERN_UNSAFE', `longer than ${MAX_PATTERN_LENGTH} characters`);
  // JSON Schema asks for the u flag; much of the field writes [\w-.], which only the older grammar takes.
  const unicode = parses(source, 'u');
  if (!unicode && !parses(source, '')) throw new PatternRefused('PATTERN_INVALID', 'no ECMA-262 pattern');
  return new Translator(source, unicode, maxSize).translate();
};
