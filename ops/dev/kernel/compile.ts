import { readFileSync } from 'node:fs';
import { main } from 'assemblyscript/asc';

const SOURCES = new URL('../../../shared/chains/kernel/', import.meta.url);

/** Compiles what shared/chains/kernel.ts runs; the same compiler gives the same bytes on every machine. */
export async function compileKernel(): Promise<{ wasm: string }> {
  let wasm: Uint8Array | undefined;
  const { error, stderr } = await main(
    ['index.ts', '--outFile', 'kernel.wasm', '-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--initialMemory', String(PAGES)],
    {
      // Sources have an ending of their own: the language looks like TypeScript and is none.
      readFile: (name) => readSource(name.replace(/\.ts$/, '.as')),
      writeFile(_name, contents) {
        if (typeof contents !== 'string') wasm = contents;
      },
      listFiles: () => [],
    },
  );
  const said = stderr.toString();
  if (error !== null || wasm === undefined || said !== '') throw new Error(`the kernel does not compile: ${said}`, { cause: error });
  return { wasm: Buffer.from(wasm).toString('base64') };
}

/** Pages of 64 KiB: as many as memory.as divides. */
const PAGES = 176;

function readSource(name: string): string | null {
  try {
    return readFileSync(new URL(name, SOURCES), 'utf8');
  } catch {
    return null;
  }
}
