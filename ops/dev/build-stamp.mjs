// Tells whether what is in dist was made from what the sources are now; nothing but Node, since it runs before everything else.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Everything a bundle may hold comes from these; packages by what the lockfile says of them. */
const FOLDERS = ['api', 'indexer', 'ops', 'shared', 'state-machines'];
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.base.json'];
const KINDS = /\.(ts|tsx|mjs|js|json|yaml|md|css|svg)$/;

/** What is being built: as `SLUICE_COMMIT` says, which an image without .git is given, or else as git does. */
export function readCommit() {
  if (process.env.SLUICE_COMMIT) return process.env.SLUICE_COMMIT;
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return 'unknown';
  }
}

/** SHA-256 of everything that decides what a build makes: the sources' names and contents, the packages, the commit, Node. */
export function inputsOf(root = ROOT) {
  const hash = createHash('sha256').update(`${readCommit()}\n${process.version}\n`);
  for (const path of [...FILES, ...FOLDERS.flatMap((folder) => below(root, folder))]) {
    if (!existsSync(join(root, path))) continue;
    const contents = readFileSync(join(root, path));
    hash.update(`${path} ${contents.length}\n`).update(contents);
  }
  return hash.digest('hex');
}

function below(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : below(root, path);
      return KINDS.test(entry.name) ? [path] : [];
    });
}

/** True when the last build was of these inputs, and all it made is still there as it was made. */
export function isBuilt(inputs, root = ROOT) {
  try {
    const stamp = JSON.parse(readFileSync(join(root, 'dist', '.stamp.json'), 'utf8'));
    return stamp.inputs === inputs && Object.entries(stamp.outputs).every(([path, size]) => statSync(join(root, path)).size === size);
  } catch {
    return false;
  }
}

/** Forgets the last build, before another one begins that may fail. */
export function forgetBuild(root = ROOT) {
  rmSync(join(root, 'dist', '.stamp.json'), { force: true });
}

/** Notes what a build was made from, as `inputs` was before it began, and what it made. */
export function stampBuild(inputs, outputs, root = ROOT) {
  const path = join(root, 'dist', '.stamp.json');
  const sizes = Object.fromEntries(outputs.map((output) => [output, statSync(join(root, output)).size]));
  writeFileSync(`${path}.${process.pid}`, JSON.stringify({ inputs, outputs: sizes }));
  renameSync(`${path}.${process.pid}`, path);
}
