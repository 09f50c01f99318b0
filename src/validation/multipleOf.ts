/**
 * `multipleOf` in decimal, as a schema's author means it: 0.3 is a multiple of 0.1, and 1e-20 none of 1.
 * Dividing doubles gets the first wrong, and dividing with a tolerance the second.
 */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const toDecimal = (value: number): Decimal => {
  const [mantissa = '0', power = '0'] = String(Math.abs(value)).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(power) - fraction.length };
};

/** @param divisor greater than zero, as the meta-schema says */
export const isMultipleOf = (value: number, divisor: number): boolean => {
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const a = toDecimal(value);
  const b = toDecimal(divisor);
  const shift = Math.min(a.exponent, b.exponent);
  return (
    (a.digits * 10n ** BigInt(a.exponent - shift)) % (b.digits * 10n ** BigInt(b.exponent - shift)) === 0n
  );
};
