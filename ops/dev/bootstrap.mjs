// Runs before `npm start` and `npm test` on whatever state the checkout is in, so it uses nothing but Node itself:
// installs the packages when they are missing or not the lockfile's, then builds unless nothing changed.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const say = (line) => process.stderr.write(`${line}\n`);
const seconds = (began) => `${((performance.now() - began) / 1000).toFixed(1)} s`;

const [major, minor] = process.versions.node.split('.').map(Number);
if (!((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22)) {
  say(`sluice needs Node 20.19 or newer (22.12 or newer of 22); this is ${process.version}`);
  process.exit(1);
}
say('sluice: checking packages');
try {
  if (!(await installed())) await install();
  const began = performance.now();
  const { inputsOf, isBuilt } = await import('./build-stamp.mjs');
  if (isBuilt(inputsOf())) say('sluice: built already, nothing changed');
  else {
    // Loaded only now: it loads the bundler.
    const { build } = await import('./build.mjs');
    await build();
    say(`sluice: built in ${seconds(began)}`);
  }
} catch (error) {
  say(`sluice: ${error.message}`);
  process.exit(1);
}

/** True when node_modules holds what the lockfile says, by npm's own record of what it installed. */
async function installed() {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const record = await readFile(join(ROOT, 'node_modules', '.package-lock.json'), 'utf8').catch(() => undefined);
  if (record === undefined) return false;
  const present = JSON.parse(record).packages;
  return Object.entries(lock).every(
    ([path, wanted]) => path === '' || (present[path] === undefined ? wanted.optional === true : present[path].version === wanted.version),
  );
}

async function install() {
  const began = performance.now();
  say('sluice: installing packages with npm ci (about a minute the first time)');
  const npm = process.env.npm_execpath;
  const [command, args] = npm === undefined ? ['npm', []] : /\.[cm]?js$/.test(npm) ? [process.execPath, [npm]] : [npm, []];
  // What npm exported for the script that is running would be taken as settings by the npm started here.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(lifecycle|package|command|config_(global|local_prefix|prefix|omit|include|json|save|ignore_scripts))/.test(name),
    ),
  );
  const tail = [];
  const child = spawn(command, [...args, 'ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => tail.push(String(bytes)));
  const stop = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop);
  const progress = setInterval(() => say(`sluice: still installing, ${seconds(began)}`), 10_000);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearInterval(progress);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, stop);
  if (code !== 0) throw new Error(`npm ci failed:\n${tail.join('').split('\n').slice(-25).join('\n')}`);
  say(`sluice: packages installed in ${seconds(began)}`);
}
