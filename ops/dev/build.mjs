// Bundles the entry points into dist/: one file each, with the packages that it needs.
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { parse } from 'yaml';
import { buildCheckout, buildConsole, buildDocs } from './build-checkout.mjs';
import { forgetBuild, inputsOf, isBuilt, readCommit, stampBuild } from './build-stamp.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Read only where a collector of traces is configured. */
const TRACING = ['@opentelemetry/sdk-trace-node', '@opentelemetry/exporter-trace-otlp-http', '@opentelemetry/resources'];
/** Packages that read files of their own at run time, or are so large and so seldom needed that they are read when they are. */
const OUTSIDE = ['pino', 'shiki', 'tiny-secp256k1', 'tronweb', ...TRACING];

const ENTRIES = {
  api: 'api/main.ts',
  'docs-worker': 'api/docs/drawing-worker.ts',
  indexer: 'indexer/main.ts',
  cli: 'ops/cli/main.ts',
  start: 'ops/dev/start.ts',
  demo: 'ops/dev/demo.ts',
  'tron-node': 'ops/devnet/tron/main.ts',
  'bitcoin-node': 'ops/devnet/bitcoin/main.ts',
};

/** Contract files that the api serves by: as JSON they are read in a hundredth of the time. */
const CONTRACTS = ['openapi', 'operator', 'checkout'];

/** What the api serves at /docs, by folder of dist. */
const DOCS = { docs: 'ops/docs', 'docs/runbooks': 'ops/runbooks', 'docs/pictures': 'ops/docs/pictures' };

/** Builds unless the last build was of the same inputs and all it made is there; true when something was built. */
export async function buildIfChanged() {
  if (isBuilt(inputsOf())) return false;
  await build();
  return true;
}

/** Builds every entry point and the hosted page; about a second. One that fails leaves no old bundle behind and does not stop the others. */
export async function build() {
  const inputs = inputsOf();
  forgetBuild();
  await mkdir(join(ROOT, 'dist', 'contract'), { recursive: true });
  const entries = Object.entries(ENTRIES).map(([name, path]) => buildOne(name, path));
  const results = await Promise.allSettled([
    ...entries,
    ...CONTRACTS.map(buildContract),
    buildCheckout({ root: ROOT, plugins: [OWN_IMPORTS], replace }),
    buildConsole({ root: ROOT, plugins: [OWN_IMPORTS], replace }),
    buildDocs({ root: ROOT, plugins: [OWN_IMPORTS], replace }),
    ...Object.entries(DOCS).map(([name, from]) => copyDocs(name, from)),
  ]);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []));
  if (failures.length > 0) throw new Error(failures.join('\n'));
  stampBuild(inputs, await outputs());
}

/** What a build makes, below the package's folder; type declarations are the type checker's. */
async function outputs() {
  const listed = await readdir(join(ROOT, 'dist'), { recursive: true, withFileTypes: true });
  return listed
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .flatMap((entry) => {
      const path = relative(ROOT, join(entry.parentPath, entry.name));
      return /^dist\/([^/]+$|(contract|docs|docs-page|checkout|console)\/)/.test(path) ? [path] : [];
    });
}

/** Our own #imports are resolved here, not at run time: dist/ must run without the sources' layout. */
const OWN_IMPORTS = {
  name: 'own-imports',
  setup: (plugin) =>
    plugin.onResolve({ filter: /^#/ }, ({ path, importer }) => (importer.includes('/node_modules/') ? undefined : { path: join(ROOT, path.slice(1)) })),
};

/** Parts of packages that nothing here calls, by their file, and what stands in for each: a fifth of what every start of an api would read. */
const LEFT_OUT = {
  // The command line of its own, with all that it takes to be one.
  'umzug/lib/cli.js': 'exports.UmzugCLI = class {};',
  // Queues in Postgres instead of Redis.
  'bullmq/dist/cjs/postgres/index.js': '',
  // Chinese, Japanese and Korean encodings other than UTF-8, which no request may have.
  'iconv-lite/encodings/dbcs-data.js': 'module.exports = {};',
};

const WITHOUT_WHAT_IS_NOT_CALLED = {
  name: 'without-what-is-not-called',
  setup: (plugin) =>
    plugin.onLoad({ filter: /\/node_modules\/(umzug|bullmq|iconv-lite)\/.*\.js$/ }, ({ path }) => {
      const contents = LEFT_OUT[path.replace(/^.*\/node_modules\//, '')];
      return contents === undefined ? undefined : { loader: 'js', contents };
    }),
};

/** Stack traces name the file of a package and no line of it: its mappings would be most of what a start has to read. */
const UNMAPPED_PACKAGES = {
  name: 'unmapped-packages',
  setup: (plugin) =>
    plugin.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => {
      const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: 'AAAA' });
      const text = await readFile(path, 'utf8');
      return { loader: 'js', contents: `${text}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}` };
    }),
};

/** Most of the time of a start would be spent on finding and reading a thousand files of packages. */
const WITH_PACKAGES = {
  external: OUTSIDE,
  plugins: [OWN_IMPORTS, WITHOUT_WHAT_IS_NOT_CALLED, UNMAPPED_PACKAGES],
  // Packages written for CommonJS ask for Node's own modules by require, which a module does not have.
  banner: { js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);" },
};

const COMMIT = readCommit();

/** Takes one file of ours where another one is imported, but by itself; `instead` has both below the root. */
const withInstead = (instead) => ({
  name: 'instead',
  setup: (plugin) =>
    plugin.onResolve({ filter: /^[#.]/ }, ({ path, importer, resolveDir }) => {
      const other = instead[relative(ROOT, path.startsWith('#') ? join(ROOT, path.slice(1)) : join(resolveDir, path))];
      return other === undefined || importer === join(ROOT, other) ? undefined : { path: join(ROOT, other) };
    }),
});

/**
 * Makes one program of the sources below `path`, in `output`, as those in dist are made; for who measures what they are made of, and what is done in a file of ours, with
 * another one `instead` of it.
 */
export async function bundleProgram(path, output, instead = {}) {
  const { outputFiles } = await bundle({
    absWorkingDir: ROOT,
    entryPoints: [path],
    outfile: output,
    bundle: true,
    ...WITH_PACKAGES,
    plugins: [withInstead(instead), ...WITH_PACKAGES.plugins],
    format: 'esm',
    platform: 'node',
    target: 'node20',
    define: { SLUICE_BUILD_COMMIT: JSON.stringify(COMMIT) },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: true,
    // Half of a start is reading text: spaces and comments are a third of it. Names stay, and lines stay short, since Node prints one with an error.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    // Node reads a map when the program starts and keeps it; the text of every source would be nine tenths of it. Names and lines are not in there.
    sourcesContent: false,
    write: false,
    logLevel: 'silent',
  });
  await mkdir(dirname(output), { recursive: true });
  for (const file of outputFiles) await replace(file.path, file.contents);
}

async function buildOne(name, path) {
  const output = join(ROOT, 'dist', `${name}.js`);
  try {
    await access(join(ROOT, path));
    await bundleProgram(path, output);
  } catch (error) {
    await rm(output, { force: true });
    throw new Error(`${path} cannot be built: ${error.message}`, { cause: error });
  }
}

async function buildContract(name) {
  const output = join(ROOT, 'dist', 'contract', `${name}.json`);
  try {
    await replace(output, Buffer.from(JSON.stringify(parse(await readFile(join(ROOT, 'api', 'contract', `${name}.yaml`), 'utf8')))));
  } catch (error) {
    await rm(output, { force: true });
    throw new Error(`${name}.yaml cannot be built: ${error.message}`, { cause: error });
  }
}

async function copyDocs(name, from) {
  const folder = join(ROOT, 'dist', name);
  await mkdir(folder, { recursive: true });
  const files = (await readdir(join(ROOT, from))).filter((file) => /\.(md|png)$/.test(file));
  for (const file of files) await replace(join(folder, file), await readFile(join(ROOT, from, file)));
  for (const file of await readdir(folder)) if (/^[^.].*\.(md|png)$/.test(file) && !files.includes(file)) await rm(join(folder, file), { force: true });
}

/** Another run may be starting this very file: it is swapped in whole, and left alone when nothing changed. */
async function replace(path, contents) {
  const present = await readFile(path).catch(() => undefined);
  if (present?.equals(contents)) return;
  const temporary = join(ROOT, 'dist', `.${relative(join(ROOT, 'dist'), path).replaceAll('/', '-')}.${process.pid}`);
  await writeFile(temporary, contents);
  await rename(temporary, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
