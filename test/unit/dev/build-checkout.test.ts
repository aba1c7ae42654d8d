import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildCheckout } from '#ops/dev/build-checkout.mjs';

const SOURCES: Record<string, string> = {
  'browser/main.tsx': 'const greet = (name: string): string => "Hello " + name; document.title = greet("you");',
  'styles.css': 'main { color: light-dark(#000, #fff); }',
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'locales/en.json': '{"language.name":"English"}',
};

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-build-'));
  for (const [path, text] of Object.entries(SOURCES)) await write(join('api/checkout/page', path), text);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

const build = (): Promise<void> => buildCheckout({ root, plugins: [], replace: (path, contents) => writeFile(path, contents) });
const built = (path: string): string => join(root, 'dist/checkout', path);
const manifest = async (): Promise<{ script: string; style: string }> => JSON.parse(await readFile(built('manifest.json'), 'utf8'));

describe('the checkout in dist', () => {
  it('is named after its content, so that it may be kept for ever', async () => {
    await build();
    const first = await manifest();
    expect(first.script).toMatch(/^checkout-[0-9a-f]{12}\.js$/);
    expect(first.style).toMatch(/^checkout-[0-9a-f]{12}\.css$/);
    await build();
    expect(await manifest()).toEqual(first);
    await write('api/checkout/page/styles.css', 'main { color: red; }');
    await build();
    const second = await manifest();
    expect([second.script === first.script, second.style === first.style]).toEqual([true, false]);
  });

  it('is compressed beside itself, catalogues and icon with it', async () => {
    await build();
    for (const name of Object.values(await manifest())) {
      const plain = await readFile(built(`assets/${name}`));
      expect(brotliDecompressSync(await readFile(built(`assets/${name}.br`)))).toEqual(plain);
      expect(gunzipSync(await readFile(built(`assets/${name}.gz`)))).toEqual(plain);
    }
    expect(await readFile(built('locales/en.json'), 'utf8')).toBe(SOURCES['locales/en.json']);
    expect(await readFile(built('assets/favicon.svg'), 'utf8')).toBe(SOURCES['favicon.svg']);
  });

  it('forgets a language that is gone, and assets of earlier builds, but for one that may be under way', async () => {
    await write('dist/checkout/locales/xx.json', '{}');
    await write('dist/checkout/assets/checkout-0123456789ab.js', '1');
    await write('dist/checkout/assets/checkout-ba9876543210.js', '2');
    await utimes(built('assets/checkout-0123456789ab.js'), 0, 0);
    await build();
    expect(await readdir(built('locales'))).toEqual(['en.json']);
    const names = await readdir(built('assets'));
    expect(names).not.toContain('checkout-0123456789ab.js');
    expect(names).toContain('checkout-ba9876543210.js');
    // What is current stays, however old it is.
    for (const name of names) await utimes(built(`assets/${name}`), 0, 0);
    await build();
    expect(await readdir(built('assets'))).toEqual(expect.arrayContaining(Object.values(await manifest())));
  });

  it('has no manifest when it does not build, so that nothing old is served for it', async () => {
    await build();
    await write('api/checkout/page/browser/main.tsx', 'import "./gone.ts";');
    await expect(build()).rejects.toThrow(/the checkout page cannot be built: .*gone/s);
    await expect(manifest()).rejects.toThrow('ENOENT');
  });
});
