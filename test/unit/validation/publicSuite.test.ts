/** A1: arguments are judged as the public JSON Schema suite says, but for the exceptions that are named. */
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/validation/dialects.js';
import { type Difference, runSuite } from './publicSuite.js';
import { SUITE_EXCEPTIONS } from './publicSuiteExceptions.js';

describe.each<[Dialect, number]>([
  ['2020-12', 1_461],
  ['draft-07', 1_045],
])('%s', (dialect, size) => {
  it('V2 agrees with the public suite, and needs each exception that it names', () => {
    const expected = new Map<string, Difference>();
    for (const { difference, names } of SUITE_EXCEPTIONS) {
      for (const name of names[dialect] ?? []) expected.set(name, difference);
    }
    const { tests, differences } = runSuite(dialect);
    expect(tests).toBe(size);
    expect(Object.fromEntries(differences)).toEqual(Object.fromEntries(expected));
    // Some thousand small schemas are compiled.
  }, 120_000);
});

it('A6 nothing is accepted that the suite refuses, but for annotations', () => {
  const laxer = SUITE_EXCEPTIONS.filter(({ difference }) => difference === 'laxer');
  expect(laxer.flatMap(({ names }) => Object.values(names).flat())).toSatisfy((names: readonly string[]) =>
    names.every((name) => name.startsWith('optional/content: ')),
  );
});
