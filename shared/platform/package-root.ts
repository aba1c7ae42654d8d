import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder this package lies in, wherever the process was started: that of the nearest package.json above this file, which in a
 * build is a part of dist/*.js.
 */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new Error(`there is no package.json above ${fileURLToPath(import.meta.url)}`);
  }
}
