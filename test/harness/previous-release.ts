import { execFile, spawn } from 'node:child_process';
import { access, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
/** Commit of the release before this one: a line of its own, so that a release script can write it. */
const RECORD = 'ops/previous-release';
const FOLDER = join('.sluice', 'test', 'previous-release');

/** A release that was built from this repository's history. */
export interface Release {
  commit: string;
  /** Where its dist/, shared/schema and contract lie: the folder its processes are started in. */
  directory: string;
  schemaDirectory: string;
}

/** The release before this one, built from history with the packages of this one, which keeps what only that one needs (`swagger-ui-dist`, `@bitcoinerlab/secp256k1`); null where the history is not there (an archive, a shallow clone). */
export async function previousRelease(): Promise<Release | null> {
  const commit = (await readFile(RECORD, 'utf8')).trim();
  const directory = join(process.cwd(), FOLDER, commit);
  const release = { commit, directory, schemaDirectory: join(directory, 'shared/schema') };
  if (await exists(join(directory, 'dist/api.js'))) return release;
  if (!(await isKnown(commit))) return null;
  const unfinished = `${directory}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await unpack(commit, unfinished);
    await symlink(join(process.cwd(), 'node_modules'), join(unfinished, 'node_modules'));
    await execute(process.execPath, ['ops/dev/build.mjs'], { cwd: unfinished });
    await rename(unfinished, directory);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return release;
}

async function isKnown(commit: string): Promise<boolean> {
  return execute('git', ['cat-file', '-e', `${commit}^{commit}`]).then(
    () => true,
    () => false,
  );
}

async function unpack(commit: string, folder: string): Promise<void> {
  const archive = spawn('git', ['archive', commit], { stdio: ['ignore', 'pipe', 'inherit'] });
  const untar = spawn('tar', ['-x', '-C', folder], { stdio: [archive.stdout, 'ignore', 'inherit'] });
  const codes = await Promise.all([archive, untar].map((one) => new Promise<number>((resolve) => one.on('exit', (code) => resolve(code ?? 1)))));
  if (codes.some((code) => code !== 0)) throw new Error(`${commit} cannot be unpacked`);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
