/** The rows of benchmarks: a form that later runs compare with, and limits that can be broken. */
import { expect, test } from 'vitest';
import { isWithin, rowLine } from '../../../bench/rows.js';

const row = { bench: 'discovery.scale.10000', measure: 'events', unit: 'events', value: 39, baseline: 80 };

test('a row is one line of JSON with value, baseline and their ratio', () => {
  expect(rowLine(row)).toBe(
    '{"bench":"discovery.scale.10000","measure":"events","unit":"events","value":39,"baseline":80,"ratio":0.488}',
  );
  expect(JSON.parse(rowLine({ ...row, baseline: null }))).toMatchObject({ baseline: null, ratio: null });
});

test('a value that reaches its limit breaks it', () => {
  expect(isWithin({ ...row, value: 79 })).toBe(true);
  expect(isWithin({ ...row, value: 80 })).toBe(false);
  expect(isWithin({ ...row, value: 1e9, baseline: null })).toBe(true);
  expect(isWithin({ ...row, value: Number.NaN })).toBe(false);
});
