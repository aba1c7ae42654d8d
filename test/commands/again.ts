import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonReport, lineOfRun } from './line-of-run.ts';

/** How many loops compute for nothing beside a loaded run. */
const BUSY_LOOPS = 4;
const REPORT = 'test/RUNS.md';

const words = process.argv.slice(2);
const [loaded, full] = [words.includes('--loaded'), words.includes('--full')];
const [times = '1', ...filters] = words.filter((word) => !word.startsWith('--'));
// Files that are named are run whichever command runs them.
const set = full || filters.length > 0 ? {} : { SLUICE_TESTS: 'short' };
if (!/^[1-9][0-9]*$/.test(times)) throw new Error('how often? npm run test:again -- 3, 3 --loaded, 3 --full, and files after that');

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const folder = mkdtempSync(join(tmpdir(), 'sluice-again-'));
let failed = 0;
for (let run = 1; run <= Number(times); run++) {
  const loops = loaded ? Array.from({ length: BUSY_LOOPS }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })) : [];
  const began = new Date();
  try {
    const outputFile = join(folder, `${run}.json`);
    const vitest = spawn('node_modules/.bin/vitest', ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${outputFile}`, ...filters], {
      stdio: 'inherit',
      env: { ...process.env, ...set },
    });
    await new Promise((resolve, reject) => vitest.once('exit', resolve).once('error', reject));
    const report = JSON.parse(readFileSync(outputFile, 'utf8')) as JsonReport;
    failed += report.numFailedTests + report.numFailedTestSuites;
    const line = lineOfRun(report, {
      commit,
      began,
      seconds: (Date.now() - began.getTime()) / 1_000,
      load: loaded ? `${BUSY_LOOPS} busy loops` : 'quiet',
      filters: filters.length > 0 ? filters : [full ? 'all' : 'npm test'],
    });
    appendFileSync(REPORT, `${line}\n`);
    process.stdout.write(`${line}\n`);
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
}
rmSync(folder, { recursive: true });
process.exitCode = failed > 0 ? 1 : 0;
