import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { forgetBuild, inputsOf, isBuilt, stampBuild } from '#ops/dev/build-stamp.mjs';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-stamp-'));
  for (const folder of ['api', 'indexer', 'ops', 'shared', 'state-machines', 'dist']) await mkdir(join(root, folder));
  await writeFile(join(root, 'api', 'main.ts'), 'export const one = 1;');
  await writeFile(join(root, 'package-lock.json'), '{}');
  await writeFile(join(root, 'dist', 'api.js'), 'const one = 1;');
  stampBuild(inputsOf(root), ['dist/api.js'], root);
});
afterEach(() => rm(root, { recursive: true }));

it('nothing is to be built while sources, packages and what was made are the same', () => {
  expect(isBuilt(inputsOf(root), root)).toBe(true);
});

const CHANGES: Record<string, () => Promise<void>> = {
  'a source changed': () => writeFile(join(root, 'api', 'main.ts'), 'export const one = 2;'),
  'a source is new': () => writeFile(join(root, 'shared', 'new.ts'), ''),
  'a source is gone': () => rm(join(root, 'api', 'main.ts')),
  'other packages are wanted': () => writeFile(join(root, 'package-lock.json'), '{"a":1}'),
  'what was made is gone': () => rm(join(root, 'dist', 'api.js')),
  'what was made was cut off': () => writeFile(join(root, 'dist', 'api.js'), 'const'),
  'a build began and did not end': async () => forgetBuild(root),
};

it.each(Object.keys(CHANGES))('a build is due when %s', async (change) => {
  await CHANGES[change]?.();
  expect(isBuilt(inputsOf(root), root)).toBe(false);
});
