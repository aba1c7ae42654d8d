import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dataDirectory, type DevFile, instanceDirectory, readDevFile, writeDevFile } from '#ops/dev/dev-file.ts';
import { packageRoot } from '#shared/platform/package-root.ts';

it('dev.json survives being written by several at once, whole and with nothing left over', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-dev-'));
  const path = join(folder, 'dev.json');
  await Promise.all(Array.from({ length: 20 }, (_, runnerPid) => writeDevFile(path, { runnerPid } as DevFile)));
  expect((await readDevFile(folder))?.runnerPid).toBeTypeOf('number');
  expect(await readdir(folder)).toEqual(['dev.json']);
  await rm(folder, { recursive: true });
});

it('the data folder is the package’s unless SLUICE_DATA_DIR names another, an empty one being none, wherever the command is given', () => {
  expect(dataDirectory({}, '/srv/sluice')).toBe('/srv/sluice/.sluice');
  expect(dataDirectory({ SLUICE_DATA_DIR: '' }, '/srv/sluice')).toBe('/srv/sluice/.sluice');
  expect(dataDirectory({ SLUICE_DATA_DIR: 'other' }, '/srv/sluice')).toBe('/srv/sluice/other');
  expect(dataDirectory({ SLUICE_DATA_DIR: '/data' }, '/srv/sluice')).toBe('/data');
});

it('the command line speaks to the instance of the folder it is used in, else to the package’s, and to a named one before both', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-dev-'));
  expect(instanceDirectory({}, folder)).toBe(join(packageRoot(), '.sluice'));
  await mkdir(join(folder, '.sluice'));
  await writeDevFile(join(folder, '.sluice', 'dev.json'), {} as DevFile);
  expect(instanceDirectory({ SLUICE_DATA_DIR: '' }, folder)).toBe(join(folder, '.sluice'));
  expect(instanceDirectory({ SLUICE_DATA_DIR: '/data' }, folder)).toBe('/data');
  await rm(folder, { recursive: true });
});
