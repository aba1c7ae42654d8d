import { describe, expect, it } from 'vitest';
import { type JsonReport, lineOfRun } from '#test/commands/line-of-run.ts';

const about = { commit: 'abc1234', began: new Date('2026-11-23T05:00:59Z'), seconds: 90, load: 'quiet', filters: [] };
const report = (testResults: JsonReport['testResults']): JsonReport => ({
  numTotalTests: 3,
  numPassedTests: 2,
  numFailedTests: 1,
  numFailedTestSuites: 1,
  testResults,
});

describe('the row of a run', () => {
  it('names every test that failed, and a file that could not be read', () => {
    const results = [
      {
        name: '/x/test/unit/a.test.ts',
        status: 'failed',
        assertionResults: [
          { fullName: 'a | b', status: 'failed' },
          { fullName: 'c', status: 'passed' },
        ],
      },
      { name: '/x/test/unit/broken.test.ts', status: 'failed', assertionResults: [] },
    ];
    expect(lineOfRun(report(results), about)).toBe('| 2026-11-23 05:00 | abc1234 | all | quiet | 1.5 | 2 | 2 | a / b; unit/broken.test.ts |');
  });

  it('says which files a run was about, when not all', () => {
    expect(lineOfRun({ ...report([]), numFailedTestSuites: 0 }, { ...about, filters: ['test/unit'] })).toContain('| test/unit | quiet |');
  });
});
