// Bundles what browsers get of the hosted checkout into dist/checkout, and of the console into dist/console: one script, one style sheet, named after their content
// and compressed once for all, with the catalogues and a manifest that says what is called how.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';

const PAGE = 'api/checkout/page';
const CONSOLE = 'api/console/page';
const DOCS = 'api/docs/page';
/** Folders of dist, with what is bundled into each. */
const PLACES = {
  checkout: { entries: { script: `${PAGE}/browser/main.tsx`, style: `${PAGE}/styles.css` }, locales: `${PAGE}/locales` },
  console: { entries: { script: `${CONSOLE}/browser/main.ts`, style: `${CONSOLE}/styles.css` }, locales: `${CONSOLE}/locales` },
  'docs-page': {
    entries: { script: `${DOCS}/browser/main.ts`, search: `${DOCS}/browser/search.ts`, try: `${DOCS}/browser/try.ts`, style: `${DOCS}/styles.css` },
    locales: null,
  },
};
/** Browsers that get a working script; older ones are served by the forms of the page. */
const TARGET = ['chrome109', 'edge109', 'firefox115', 'safari16'];
/** Another build may be writing what its own manifest will name; an api reads its assets when it starts. */
const KEEP_MS = 60_000;

/**
 * Builds dist/checkout: `assets/checkout-<hash>.{js,css}` each with `.br` and `.gz` beside it, `locales/<tag>.json`,
 * `assets/favicon.svg`, and last `manifest.json` = `{ script, style }`, the names of the current assets.
 */
export async function buildCheckout({ root, plugins, replace }) {
  await buildPages({ root, plugins, replace, place: 'checkout' });
}

/** The same for the console, into dist/console. */
export async function buildConsole({ root, plugins, replace }) {
  await buildPages({ root, plugins, replace, place: 'console' });
}

/** The same for the documentation; what searches is a program of its own, loaded when somebody is about to. */
export async function buildDocs({ root, plugins, replace }) {
  await buildPages({ root, plugins, replace, place: 'docs-page' });
}

async function buildPages({ root, plugins, replace, place }) {
  const home = join(root, 'dist', place);
  const assets = join(home, 'assets');
  await mkdir(assets, { recursive: true });
  try {
    const manifest = {};
    for (const [kind, entry] of Object.entries(PLACES[place].entries)) {
      const { name, text } = await bundled({ root, place, kind, entry, plugins });
      for (const [suffix, contents] of compressed(text)) await replace(join(assets, name + suffix), contents);
      manifest[kind] = name;
    }
    const { locales } = PLACES[place];
    if (locales !== null) await copyLocales(join(root, locales), join(home, 'locales'), replace);
    await replace(join(assets, 'favicon.svg'), await readFile(join(root, PAGE, 'favicon.svg')));
    await replace(join(home, 'manifest.json'), Buffer.from(JSON.stringify(manifest)));
    await removeOld(assets, ['favicon.svg', ...Object.values(manifest)]);
  } catch (error) {
    await rm(join(home, 'manifest.json'), { force: true });
    throw new Error(`the ${place} page cannot be built: ${error.message}`, { cause: error });
  }
}

async function bundled({ root, place, kind, entry, plugins }) {
  const { outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: join(root, 'dist', place, 'assets'),
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  const text = Buffer.from(file.contents);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const called = kind === 'script' || kind === 'style' ? place : kind;
  return { name: `${called}-${hash}${file.path.endsWith('.css') ? '.css' : '.js'}`, text };
}

/** The file as it is, and as browsers take it; compressed here at leisure instead of for every payer. */
function compressed(text) {
  const brotli = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length } });
  return [
    ['', text],
    ['.br', brotli],
    ['.gz', gzipSync(text, { level: 9 })],
  ];
}

async function copyLocales(from, to, replace) {
  await mkdir(to, { recursive: true });
  const names = (await readdir(from)).filter((name) => name.endsWith('.json'));
  for (const name of names) await replace(join(to, name), await readFile(join(from, name)));
  for (const name of await readdir(to)) if (!names.includes(name)) await rm(join(to, name), { force: true });
}

async function removeOld(assets, current) {
  for (const name of await readdir(assets)) {
    if (current.some((one) => name.startsWith(one))) continue;
    const path = join(assets, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > KEEP_MS) await rm(path, { force: true });
  }
}
