/** The last line of `npm test` has to be true whatever happened. */
import { describe, expect, test } from 'vitest';
import { countTests, type Report, summaryLine } from '../../../scripts/countTests.js';

const report = (over: Partial<Report> = {}): Report => ({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ name: 'a.test.ts', status: 'passed', assertionResults: [{ status: 'passed' }] }],
  ...over,
});
const line = (over: Partial<Report> | undefined, exitCode: number): string =>
  summaryLine(countTests(over && report(over), exitCode));

describe('counting a test run', () => {
  test('all passed', () => expect(line({}, 0)).toBe('3 passed, 0 failed'));
  test('skipped ones are named', () =>
    expect(line({ numPendingTests: 1, numTodoTests: 1 }, 0)).toBe('3 passed, 0 failed, 2 skipped'));
  test('a failed test counts once', () => {
    const testResults = [{ name: 'a', status: 'failed', assertionResults: [{ status: 'failed' }] }];
    expect(line({ numFailedTests: 1, testResults }, 1)).toBe('3 passed, 1 failed');
  });
  test('a file that does not load is a failure', () => {
    const testResults = [{ name: 'a', status: 'failed', assertionResults: [] }];
    expect(line({ testResults }, 1)).toBe('3 passed, 1 failed');
  });
  test('an error outside any test is a failure', () => expect(line({}, 1)).toBe('3 passed, 1 failed'));
  test('no report is a failure', () => expect(line(undefined, 0)).toBe('0 passed, 1 failed'));
  test('nothing ran is a failure', () => expect(line({ numPassedTests: 0 }, 0)).toBe('0 passed, 1 failed'));
});
