/** The rows of benchmarks: a form that later runs compare with, and limits that can be broken. */
import { expect, test } from 'vitest';
import { isWithin, rowLine } from '../../../bench/rows.js';

const row = {
  bench: 'discovery.scale.10000',
  measure: 'events',
  unit: 'events',
  value: 39,
  baseline: 80,
  limit: 1,
};

test('a row is one line of JSON with value, baseline and their ratio', () => {
  expect(rowLine(row)).toBe(
    '{"bench":"discovery.scale.10000","measure":"events","unit":"events","value":39,"baseline":80,"ratio":0.488,"limit":1}',
  );
  expect(JSON.parse(rowLine({ ...row, baseline: null }))).toMatchObject({ baseline: null, ratio: null });
});

test('a ratio above its limit breaks what was promised', () => {
  expect(isWithin({ ...row, value: 80 })).toBe(true);
  expect(isWithin({ ...row, value: 81 })).toBe(false);
  expect(isWithin({ ...row, value: 100, limit: 1.3 })).toBe(true);
  expect(isWithin({ ...row, value: 105, limit: 1.3 })).toBe(false);
  expect(isWithin({ ...row, value: 1e9, baseline: null })).toBe(true);
  expect(isWithin({ ...row, value: Number.NaN })).toBe(false);
});

test('a row without a limit only tells', () => {
  const { limit: _, ...told } = row;
  expect(isWithin({ ...told, value: 1e9 })).toBe(true);
  expect(JSON.parse(rowLine(told))).toMatchObject({ limit: null });
});
