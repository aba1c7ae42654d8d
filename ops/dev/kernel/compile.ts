import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { main } from 'assemblyscript/asc';

/** Compiles what shared/chains/kernel.ts runs; the same compiler gives the same bytes on every machine. */
export async function compileKernel(): Promise<{ wasm: string }> {
  return compileSource(new URL('../../../shared/chains/kernel/index.as', import.meta.url), PAGES);
}

/** Compiles a file of AssemblyScript with those that it imports, as the kernel is compiled; `pages` of 64 KiB are its memory. WebAssembly in base64. */
export async function compileSource(source: URL, pages: number): Promise<{ wasm: string }> {
  let wasm: Uint8Array | undefined;
  const entry = basename(source.pathname, '.as');
  const { error, stderr } = await main(
    [`${entry}.ts`, '--outFile', 'kernel.wasm', '-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--initialMemory', String(pages)],
    {
      // Sources have an ending of their own: the language looks like TypeScript and is none.
      readFile: (name) => readSource(new URL(name.replace(/\.ts$/, '.as'), source)),
      writeFile(_name, contents) {
        if (typeof contents !== 'string') wasm = contents;
      },
      listFiles: () => [],
    },
  );
  const said = stderr.toString();
  if (error !== null || wasm === undefined || said !== '') throw new Error(`${entry} does not compile: ${said}`, { cause: error });
  return { wasm: Buffer.from(wasm).toString('base64') };
}

/** Pages of 64 KiB: as many as memory.as divides. */
const PAGES = 176;

function readSource(file: URL): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
