// Bundles the entry points into dist/: our own code in one file each, packages left outside.
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const ENTRIES = {
  api: 'api/main.ts',
  indexer: 'indexer/main.ts',
  cli: 'ops/cli/main.ts',
  start: 'ops/dev/start.ts',
  demo: 'ops/dev/demo.ts',
  'tron-node': 'ops/devnet/tron/main.ts',
};

/** Builds every entry point; well under a second. One that fails leaves no old bundle behind and does not stop the others. */
export async function build() {
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  const results = await Promise.allSettled(Object.entries(ENTRIES).map(([name, path]) => buildOne(name, path)));
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []));
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

async function buildOne(name, path) {
  const output = join(ROOT, 'dist', `${name}.js`);
  try {
    await access(join(ROOT, path));
    const { outputFiles } = await bundle({
      absWorkingDir: ROOT,
      entryPoints: [path],
      outfile: output,
      bundle: true,
      packages: 'external',
      // Our own #imports are resolved here, not at run time: dist/ must run without the sources' layout.
      plugins: [{ name: 'own-imports', setup: (plugin) => plugin.onResolve({ filter: /^#/ }, (args) => ({ path: join(ROOT, args.path.slice(1)) })) }],
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: true,
      write: false,
      logLevel: 'silent',
    });
    for (const file of outputFiles) await replace(file.path, file.contents);
  } catch (error) {
    await rm(output, { force: true });
    throw new Error(`${path} cannot be built: ${error.message}`, { cause: error });
  }
}

/** Another run may be starting this very file: it is swapped in whole, and left alone when nothing changed. */
async function replace(path, contents) {
  const present = await readFile(path).catch(() => undefined);
  if (present?.equals(contents)) return;
  const temporary = join(ROOT, 'dist', `.${basename(path)}.${process.pid}`);
  await writeFile(temporary, contents);
  await rename(temporary, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
