import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type DevFile, readDevFile, writeDevFile } from '#ops/dev/dev-file.ts';

it('dev.json survives being written by several at once, whole and with nothing left over', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-dev-'));
  const path = join(folder, 'dev.json');
  await Promise.all(Array.from({ length: 20 }, (_, runnerPid) => writeDevFile(path, { runnerPid } as DevFile)));
  expect((await readDevFile(folder))?.runnerPid).toBeTypeOf('number');
  expect(await readdir(folder)).toEqual(['dev.json']);
  await rm(folder, { recursive: true });
});
