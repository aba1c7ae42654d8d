/** What is read of vitest's JSON report. */
export interface JsonReport {
  numTotalTests: number;
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  testResults: { name: string; status: string; message?: string; assertionResults: { fullName: string; status: string }[] }[];
}

/** One run as a row of `test/RUNS.md`: when, what, beside what, how long, and each failure by name. */
export function lineOfRun(
  report: JsonReport,
  { commit, began, seconds, load, filters }: { commit: string; began: Date; seconds: number; load: string; filters: readonly string[] },
): string {
  const failures = report.testResults.flatMap(({ name, status, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === 'failed').map(({ fullName }) => fullName);
    // A file that could not even be read has no tests that failed.
    return failed.length === 0 && status === 'failed' ? [name.split('/').slice(-2).join('/')] : failed;
  });
  const cells = [
    began.toISOString().slice(0, 16).replace('T', ' '),
    commit,
    filters.length === 0 ? 'all' : filters.join(' '),
    load,
    (seconds / 60).toFixed(1),
    report.numPassedTests,
    failures.length,
    failures.map((name) => name.replaceAll('|', '/')).join('; ') || '-',
  ];
  return `| ${cells.join(' | ')} |`;
}
