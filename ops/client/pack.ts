// Packs the merchant client as a package of its own that needs nothing else: npm run client.
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import ts from 'typescript';
import { VERSION } from '#shared/platform/version.ts';

const SOURCE = 'ops/client';
/** The only file of ours its types stand on. */
const CONTRACT_TYPES = 'api/contract/types.ts';

/** Writes the package below `folder` (emptied first); answers the path of its archive, for `npm install`. @throws when it does not compile */
export async function packClient(folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  const content = join(folder, 'package');
  await mkdir(content, { recursive: true });
  await build({
    entryPoints: [join(SOURCE, 'index.ts')],
    outfile: join(content, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
  });
  for (const [name, text] of declarations()) await writeFile(join(content, name), text);
  await writeFile(join(content, 'contract.d.ts'), await readFile(CONTRACT_TYPES, 'utf8'));
  await writeFile(join(content, 'README.md'), await readFile(join(SOURCE, 'README.md'), 'utf8'));
  const manifest = {
    name: 'sluice-client',
    version: VERSION,
    description: 'Typed client of the Sluice payment service for merchants.',
    license: 'MIT',
    type: 'module',
    engines: { node: '>=20' },
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
  };
  await writeFile(join(content, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const { stdout } = await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', '..'], { cwd: content });
  return join(folder, stdout.trim());
}

/** Its type declarations by file name, with the contract's types beside them. */
function declarations(): Map<string, string> {
  const settings = ts.getParsedCommandLineOfConfigFile('ops/tsconfig.json', {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined });
  const { composite: _composite, incremental: _incremental, tsBuildInfoFile: _file, ...options } = settings?.options ?? {};
  const program = ts.createProgram([join(SOURCE, 'index.ts')], { ...options, declaration: true, emitDeclarationOnly: true, noEmitOnError: true });
  const written = new Map<string, string>();
  const { emitSkipped, diagnostics } = program.emit(undefined, (path, text) => {
    if (path.includes(`/${SOURCE}/`))
      written.set(basename(path), text.replaceAll('#api/contract/types.ts', './contract.js').replace(/'\.\/([a-z-]+)\.ts'/g, "'./$1.js'"));
  });
  if (emitSkipped)
    throw new Error(
      ts.formatDiagnostics(diagnostics, { getCanonicalFileName: (name) => name, getCurrentDirectory: () => process.cwd(), getNewLine: () => '\n' }),
    );
  return written;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(`${await packClient('dist/client')}\n`);
