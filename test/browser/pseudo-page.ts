import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Catalogue } from '#api/page/catalogue.ts';
import { pseudoCatalogue, readCatalogues } from '#test/fixtures/catalogues.ts';

/** The built page in a folder of its own with a language more, whose texts are two fifths longer than English ones. */
export async function pseudoPage(): Promise<{ folder: string; tag: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pseudo-'));
  const tag = 'en-XA';
  await cp('dist/checkout', folder, { recursive: true });
  await writeFile(join(folder, 'locales', `${tag}.json`), JSON.stringify(pseudoCatalogue(readCatalogues().get('en') as Catalogue)));
  return { folder, tag, remove: () => rm(folder, { recursive: true, force: true }) };
}
