/**
 * V7: letters that look like others. Whatever is found is reported and nothing is decided by it: which letters a
 * font makes alike is no fact that a tool could be refused for.
 */

/** Cyrillic, Greek, Armenian and Cherokee letters by code point, each with the Latin one that it looks like. */
const TABLE = `
  0430a 0435e 043eo 0440p 0441c 0443y 0445x 0456i 0458j 0455s 04bbh 0501d 051bq 051dw 0410A 0412B 0415E
  04173 0406I 0408J 041aK 041cM 041dH 041eO 0420P 0421C 0422T 0423Y 0425X 0405S 050cG 03b1a 03b9i 03bak
  03bdv 03bfo 03c1p 03c5u 0391A 0392B 0395E 0396Z 0397H 0399I 039aK 039cM 039dN 039fO 03a1P 03a4T 03a5Y
  03a7X 0585o 057du 0578n 0570h 0581g 0566q 053cL 0555O 054dU 13aaA 13f4B 13dfC 13acE 13bbH 13abJ 13e6K
  13deL 13b7M 13e2P 13a2T 13d9V 13d4W 13c3Z
`;
const LATIN_OF: ReadonlyMap<string, string> = new Map(
  TABLE.trim()
    .split(/\s+/)
    .map((pair) => [String.fromCodePoint(Number.parseInt(pair.slice(0, 4), 16)), pair.slice(4)]),
);
const LOOKS_LATIN = new RegExp(`[${[...LATIN_OF.keys()].join('')}]`, 'u');
const WORD = /[\p{L}\p{M}]+/gu;
const LATIN = /\p{Script=Latin}/u;

/** @returns the first word that holds both Latin letters and letters of another script that look like Latin ones */
export const mixedWord = (text: string): string | null => {
  if (!LOOKS_LATIN.test(text)) return null;
  return (text.match(WORD) ?? []).find((word) => LATIN.test(word) && LOOKS_LATIN.test(word)) ?? null;
};

/**
 * What a name looks like at a glance: two names of one shape are easily taken for one another.
 * Case and kind of separator count for nothing; `I`, `1` and `l` are one, so are `0` and `o`, `rn` and `m`.
 */
export const shapeOf = (name: string): string =>
  [...name.normalize('NFKC')]
    .map((char) => LATIN_OF.get(char) ?? char)
    .join('')
    .replaceAll(/[I1|]/g, 'l')
    .toLowerCase()
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll(/[._ /-]/g, '_');
