import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findChromium } from '#ops/dev/services/chromium.ts';

let folder: string;
const path = process.env.PATH;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-chromium-'));
  await symlink('/bin/sh', join(folder, 'sh'));
  process.env.PATH = folder;
});
afterEach(async () => {
  process.env.PATH = path;
  await rm(folder, { recursive: true, force: true });
});

const program = (name: string, script: string): Promise<void> => writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
const find = (): Promise<string | null> => findChromium(() => undefined);

// A Mac has its browsers elsewhere, too.
describe.skipIf(process.platform === 'darwin')('a Chromium to test with', () => {
  it('is the one on PATH, or none where nothing can install one', async () => {
    expect(await find()).toBeNull();
    await program('google-chrome', 'echo "Google Chrome 150"');
    expect(await find()).toBe(join(folder, 'google-chrome'));
    await program('chromium', 'echo "Chromium 156"');
    expect(await find()).toBe(join(folder, 'chromium'));
  });

  it('is the one without windows where there are both', async () => {
    await program('chromium', 'echo "Chromium 156"');
    await program('chromium-headless-shell', 'echo "Chromium 156"');
    expect(await find()).toBe(join(folder, 'chromium-headless-shell'));
  });

  it('is not what merely has its name', async () => {
    await program('chromium-browser', 'echo "requires the snap to be installed" >&2; exit 10');
    expect(await find()).toBeNull();
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is installed by root where apt-get is, without windows where the release has that, and none when that fails',
    async () => {
      for (const name of ['chromium', 'chromium-headless-shell']) {
        const make = `printf '#!/bin/sh\\n' > ${join(folder, name)}; /bin/chmod 755 ${join(folder, name)}`;
        await program('apt-get', `case "$*" in *"install --no-install-recommends ${name}") ${make};; *install*) exit 100;; esac`);
        expect(await find()).toBe(join(folder, name));
        await rm(join(folder, name));
      }
      await program('apt-get', 'exit 100');
      expect(await find()).toBeNull();
    },
  );
});
