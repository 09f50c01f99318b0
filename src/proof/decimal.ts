/**
 * Decides whether a JSON number survives being read into a double and written again (V7). Kept apart from
 * the reader because the rule is arithmetic, not syntax.
 */

/** A decimal as its significant digits, without zeros at either end, and the power of ten of the last one. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

/** Up to this many characters without an exponent, a double gives back every decimal (DBL_DIG). */
const ALWAYS_EXACT = 15;
const ZERO = 0x30;

/** Loops instead of regular expressions: `/0+$/` is quadratic, and a hostile literal can fill a page. */
const toDecimal = (literal: string): Decimal => {
  const e = Math.max(literal.indexOf('e'), literal.indexOf('E'));
  const mantissa = literal.slice(literal.startsWith('-') ? 1 : 0, e < 0 ? undefined : e);
  const point = mantissa.indexOf('.');
  const all = point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  let start = 0;
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === ZERO) end--;
  while (start < end && all.charCodeAt(start) === ZERO) start++;
  const fraction = point < 0 ? 0 : mantissa.length - point - 1;
  const power = e < 0 ? 0 : Number(literal.slice(e + 1));
  return { digits: all.slice(start, end), exponent: power - fraction + all.length - end };
};

/**
 * V7: reads one number literal.
 *
 * `exact` means that the shortest decimal that stands for the double has the same value as the literal. So
 * 0.1, 1.0 and 1e2 are exact, although no double *equals* a tenth: what is written again is what was read.
 * 9007199254740993 is not, since it would be written as …992. `-0` counts as exact; canonical JSON writes 0.
 *
 * @param literal a number as RFC 8259 spells it
 * @returns `range` where a double has no finite value for it, or only zero for what is not zero
 */
export const judgeNumber = (literal: string): 'exact' | 'inexact' | 'range' => {
  if (literal.length <= ALWAYS_EXACT && !literal.includes('e') && !literal.includes('E')) return 'exact';
  const value = Number(literal);
  if (!Number.isFinite(value)) return 'range';
  const read = toDecimal(literal);
  if (value === 0) return read.digits === '' ? 'exact' : 'range';
  const written = toDecimal(String(value));
  return read.digits === written.digits && read.exponent === written.exponent ? 'exact' : 'inexact';
};
