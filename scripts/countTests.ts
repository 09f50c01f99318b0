/** What a run of vitest amounts to: its report and its exit code have to agree that all is well. */

/** The part of vitest's JSON report that is counted. */
export interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What is counted as failed without being a failed test. */
  readonly notes: readonly string[];
}

/**
 * @param report undefined where vitest wrote none
 * @param exitCode vitest's own
 */
export const countTests = (report: Report | undefined, exitCode: number): Counts => {
  if (!report)
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      notes: [`vitest ended with code ${exitCode} and without a report`],
    };
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  // A file that does not load, or whose hook fails, has the status without a failed test to count.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const notes = broken.map((file) => `${file.name} failed outside its tests`);
  let failed = report.numFailedTests + broken.length;
  if (failed === 0 && exitCode !== 0) {
    notes.push(`vitest ended with code ${exitCode} although no test failed: see the errors above`);
    failed = 1;
  }
  if (failed === 0 && passed === 0) {
    notes.push('no test ran');
    failed = 1;
  }
  return { passed, failed, skipped, notes };
};

export const summaryLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
