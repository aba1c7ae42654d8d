import { spawn } from 'node:child_process';

// `npm run simulate -- --seed N --steps M`: one simulation with services of its own, told step by step.

const given = new Map<string, string>();
for (let at = 2; at + 1 < process.argv.length; at += 2) given.set(process.argv[at] as string, process.argv[at + 1] as string);
const seed = given.get('--seed') ?? String(Date.now() % 1_000_000_000);
const steps = given.get('--steps') ?? '100';
for (const [name, value] of [
  ['--seed', seed],
  ['--steps', steps],
]) {
  if (/^[1-9]\d{0,9}$/.test(value as string)) continue;
  process.stderr.write(`${name} must be a whole number above zero, not ${value}\n`);
  process.exit(2);
}
process.stdout.write(`npm run simulate -- --seed ${seed} --steps ${steps}\n`);
const child = spawn('node_modules/.bin/vitest', ['run', 'test/integration/simulation.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, SLUICE_SIMULATION: `${seed}:${steps}` },
});
child.on('exit', (code) => process.exit(code ?? 1));
