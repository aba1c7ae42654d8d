import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { WHOLE_FILES } from '#test/faults/table.ts';

// `npm run faults`: every automated row of the fault matrix (reliability 4) over many seeds; one JSON object on stdout, exit
// code 0 only when all were survived.

/** What the matrix asks for. */
const SEEDS = 20;
const FILE = 'test/integration/faults.test.ts';
interface Assertion {
  ancestorTitles: string[];
  title: string;
  status: string;
  failureMessages?: string[];
}

interface RowResult {
  row: string;
  name: string;
  survived: number;
  tried: number;
  seeds: number[];
  failures: { seed: number; reason: string }[];
}

// `--seeds 3` plays fewer, `--row F28` one row only.
const { values: asked } = parseArgs({ options: { seeds: { type: 'string' }, row: { type: 'string' } } });
const seeds = Number(asked.seeds ?? SEEDS);
const whole = Object.entries(WHOLE_FILES).flatMap(([row, { files }]) => (asked.row === undefined || asked.row === row ? files : []));
const played = asked.row === undefined || !(asked.row in WHOLE_FILES) ? [FILE, ...whole] : whole;
const only = asked.row === undefined || asked.row in WHOLE_FILES ? [] : ['-t', `^${asked.row} `];
const directory = await mkdtemp(join(tmpdir(), 'sluice-faults-'));
const file = join(directory, 'results.json');
// Progress goes to stderr: stdout is the result.
const child = spawn('node_modules/.bin/vitest', ['run', ...played, ...only, '--reporter=dot', '--reporter=json', `--outputFile.json=${file}`], {
  stdio: ['ignore', 2, 2],
  // The full counts of what a row does, such as a thousand deposits, belong to the full matrix.
  env: { SLUICE_TEST_COUNTS: 'full', ...process.env, SLUICE_FAULT_SEEDS: String(seeds) },
});
const code = await new Promise<number>((resolve) => child.on('exit', (exit) => resolve(exit ?? 1)));
const rows = rowsOf(await readFile(file, 'utf8').catch(() => '{}'));
await rm(directory, { recursive: true, force: true });
const survived = rows.reduce((sum, row) => sum + row.survived, 0);
const tried = rows.reduce((sum, row) => sum + row.tried, 0);
const all = code === 0 && tried > 0 && survived === tried;
process.stdout.write(`${JSON.stringify({ survived: all, score: { survived, tried }, rows }, null, 2)}\n`);
process.exit(all ? 0 : 1);

/** Adds the runs of each row up, by its number. */
function rowsOf(text: string): RowResult[] {
  const { testResults = [] } = JSON.parse(text) as { testResults?: { name: string; assertionResults: Assertion[] }[] };
  const byRow = new Map<string, RowResult>();
  const count = (row: string, name: string, seed: number, { status, failureMessages }: Assertion): void => {
    const result = byRow.get(row) ?? { row, name, survived: 0, tried: 0, seeds: [], failures: [] };
    byRow.set(row, result);
    result.tried += 1;
    result.seeds.push(seed);
    if (status === 'passed') result.survived += 1;
    else result.failures.push({ seed, reason: (failureMessages?.[0] ?? status).split('\n')[0] ?? status });
  };
  for (const { name: path, assertionResults } of testResults) {
    const whole = Object.entries(WHOLE_FILES).find(([, { files }]) => files.some((one) => path.endsWith(one)));
    for (const assertion of assertionResults) {
      // Not asked for by `--row`.
      if (assertion.status === 'skipped' && only.length > 0) continue;
      if (whole !== undefined) {
        count(whole[0], whole[1].name, (byRow.get(whole[0])?.tried ?? 0) + 1, assertion);
        continue;
      }
      const [, row, name] = /^(F\d+) (.*)$/.exec(assertion.ancestorTitles.at(-1) ?? '') ?? [];
      const seed = Number(/^seed (\d+)$/.exec(assertion.title)?.[1]);
      if (row !== undefined && name !== undefined && !Number.isNaN(seed)) count(row, name, seed, assertion);
    }
  }
  return [...byRow.values()].sort((a, b) => Number(a.row.slice(1)) - Number(b.row.slice(1)));
}
