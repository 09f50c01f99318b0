/**
 * Finds secrets in text that a source sent, in every spelling that an echo can give them, and blots them out. A part
 * of a secret counts too: what was cut before it came here must not survive at the border of the cut.
 */
const REDACTED = '[redacted]';
/** A shorter value would blot out ordinary text and protect nothing. */
const SHORTEST = 4;
/** Of a longer secret every part of this length is blotted out. */
const PART = 12;
/** A page is refused for a secret of at least this length. */
const SHORTEST_IN_PAGE = 8;

/** Percent-encoding; backslashes as in JSON, in JavaScript and before a quote; character references; RFC 6901. */
const SPELLING =
  /%(?:25)*([0-9a-f]{2})|\\+u\{0{0,8}([0-9a-f]{1,6})\}|\\+u([0-9a-f]{4})|\\+x([0-9a-f]{2})|&#0{0,8}(\d{1,7});|&#x0{0,8}([0-9a-f]{1,6});|\\+|~([01])/gi;
/** An escape may itself have been escaped. */
const ROUNDS = 3;

/** A text with its spellings undone, in lower case, and for each character where it stood in the original. */
interface Plain {
  readonly text: string;
  /** One more than characters: where the text ends. */
  readonly starts: readonly number[];
}

const lower = (character: string): string => {
  const small = character.toLowerCase();
  return small.length === character.length ? small : character;
};

/** What one spelling stands for; nothing for a backslash that only protects what follows it. */
const characterOf = (match: RegExpExecArray): string => {
  const [, percent, braced, unit, byte, decimal, hexReference, pointer] = match;
  if (pointer !== undefined) return pointer === '0' ? '~' : '/';
  const digits = percent ?? braced ?? unit ?? byte ?? hexReference;
  const code = digits === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(digits, 16);
  return code <= 0xffff ? lower(String.fromCharCode(code)) : '';
};

const undo = ({ text, starts }: Plain): Plain => {
  const parts: string[] = [];
  const places: number[] = [];
  const keep = (from: number, to: number): void => {
    parts.push(text.slice(from, to));
    for (let at = from; at < to; at++) places.push(starts[at] ?? 0);
  };
  let done = 0;
  for (const match of text.matchAll(SPELLING)) {
    keep(done, match.index);
    done = match.index + match[0].length;
    const character = characterOf(match);
    if (character === '') continue;
    parts.push(character);
    places.push(starts[match.index] ?? 0);
  }
  keep(done, text.length);
  return { text: parts.join(''), starts: [...places, starts[text.length] ?? 0] };
};

/** The text in lower case, and after each round of undoing: a spelling may also be there by chance. */
const readings = (original: string): readonly Plain[] => {
  let last: Plain = {
    text: [...original].map(lower).join(''),
    starts: Array.from({ length: original.length + 1 }, (_, at) => at),
  };
  const all = [last];
  for (let round = 0; round < ROUNDS; round++) {
    const next = undo(last);
    if (next.text === last.text) break;
    all.push(next);
    last = next;
  }
  return all;
};

const latin1 = (bytes: Iterable<number>): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

/** Base64 of a text that stands after 0, 1 or 2 other bytes, without the characters that neighbours change. */
const base64Forms = (bytes: Uint8Array): string[] =>
  [0, 1, 2].map((before) => {
    const text = btoa(latin1([...new Uint8Array(before), ...bytes])).replace(/=+$/, '');
    const settled = Math.floor(((before + bytes.length) * 8) / 6);
    return text.slice(Math.ceil((before * 8) / 6), settled);
  });

const hex = (bytes: Uint8Array): readonly string[] =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));

/** As in a URL (RFC 3986): unreserved characters as they are. */
const percentForm = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return /[\w.~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');

/** The secret as it is, as its bytes read one by one, percent-encoded, and in base64, base64url and hex. */
const formsOf = (secret: string): readonly string[] => {
  const bytes = new TextEncoder().encode(secret);
  const base64 = base64Forms(bytes).filter((form) => form.length >= SHORTEST_IN_PAGE);
  return [
    secret,
    ...(bytes.length === secret.length ? [] : [latin1(bytes)]),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
    percentForm(bytes),
    hex(bytes).join(''),
  ];
};

/** What is looked for, by its length: whole secrets that are short, parts of those that are long. */
const needlesOf = (secrets: readonly string[]): ReadonlyMap<number, ReadonlySet<string>> => {
  const needles = new Map<number, Set<string>>();
  for (const secret of secrets.filter(({ length }) => length >= SHORTEST)) {
    for (const form of formsOf(secret)) {
      for (const { text } of readings(form)) {
        const length = Math.min(text.length, PART);
        if (length < SHORTEST) continue;
        const known = needles.get(length) ?? new Set();
        for (let at = 0; at + length <= text.length; at++) known.add(text.slice(at, at + length));
        needles.set(length, known);
      }
    }
  }
  return needles;
};

/** @returns the text with each secret, and each long part of one, as `[redacted]` */
export type Blot = (text: string) => string;

/** @param secrets those shorter than 4 characters are left alone */
export const blotter = (secrets: readonly string[]): Blot => {
  const needles = needlesOf(secrets);
  if (needles.size === 0) return (text) => text;
  return (original) => {
    const secret = new Uint8Array(original.length);
    for (const { text, starts } of readings(original)) {
      for (let at = 0; at < text.length; at++) {
        for (const [length, known] of needles) {
          if (known.has(text.slice(at, at + length))) secret.fill(1, starts[at], starts[at + length]);
        }
      }
    }
    let clean = '';
    let done = 0;
    for (let from = secret.indexOf(1); from !== -1; from = secret.indexOf(1, done)) {
      const to = secret.indexOf(0, from);
      clean += original.slice(done, from) + REDACTED;
      done = to === -1 ? original.length : to;
    }
    return clean + original.slice(done);
  };
};

/**
 * S6: tells whether a text repeats a secret. A page that does is not stored: its names, cursors and revision would carry
 * the secret into rows and histories, where nothing can be blotted out.
 * @param secrets those shorter than 8 characters are left alone: they stand in ordinary lists by chance
 */
export const secretFinder = (secrets: readonly string[]): ((text: string) => boolean) => {
  const needles = secrets.filter(({ length }) => length >= SHORTEST_IN_PAGE).flatMap(formsOf);
  return (text) => text.length >= SHORTEST_IN_PAGE && needles.some((needle) => text.includes(needle));
};
