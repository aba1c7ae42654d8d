import { readFile, writeFile } from 'node:fs/promises';
import { buildIfChanged } from '#ops/dev/build.mjs';
import type { Bench, Found, Size } from './bench.ts';
import { BENCHES } from './benches.ts';
import { cpuSince, machine, readCpu } from './machine.ts';
import { openStage } from './stage.ts';
import { type Report, tableOf } from './table.ts';

// `npm run bench -- [name…] [--tiny] [--out file]`: every bench, or those named; JSON on stdout, progress on stderr.
// `npm run bench -- --table file`: runs nothing, and prints what a report says as the table of ops/docs/benchmarks.md.

const args = process.argv.slice(2);
const [, reportFile] = args[0] === '--table' ? args : [];
if (reportFile !== undefined) {
  process.stdout.write(tableOf(JSON.parse(await readFile(reportFile, 'utf8')) as Report));
  process.exit(0);
}
const outAt = args.indexOf('--out');
const out = outAt < 0 ? undefined : args[outAt + 1];
const size: Size = args.includes('--tiny') ? 'tiny' : 'full';
const names = args.filter((arg, at) => !arg.startsWith('--') && (outAt < 0 || at !== outAt + 1));
const unknown = names.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(
    `no bench named ${unknown.join(', ')}; there are:\n${Object.entries(BENCHES)
      .map(([name, { what }]) => `  ${name}: ${what}`)
      .join('\n')}\n`,
  );
  process.exit(2);
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
await buildIfChanged();
const results: Record<string, Found & { seconds: number; steal: number }> = {};
for (const [name, bench] of Object.entries<Bench>(BENCHES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  say(`${name}: ${bench.what}`);
  const stage = await openStage({ durable: true, say });
  const [started, cpu] = [performance.now(), readCpu()];
  try {
    const found = await bench.run(stage, size);
    results[name] = { ...found, seconds: Math.round((performance.now() - started) / 1_000), steal: Number(cpuSince(cpu).steal.toFixed(4)) };
  } finally {
    await stage.stop();
  }
}
const report = `${JSON.stringify({ machine: machine(), size, results }, null, 2)}\n`;
if (out === undefined) process.stdout.write(report);
else await writeFile(out, report);
const failed = Object.entries(results).flatMap(([name, { proofs }]) =>
  Object.entries(proofs)
    .filter(([, proof]) => proof === false)
    .map(([proof]) => `${name}: ${proof}`),
);
if (failed.length > 0) {
  say(`these proofs failed, so their figures do not count: ${failed.join('; ')}`);
  process.exitCode = 1;
}
