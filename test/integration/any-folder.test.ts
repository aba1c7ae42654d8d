import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunningApi } from '#test/harness/deployables.ts';
import { aWorld, type World } from '#test/harness/world.ts';

const execute = promisify(execFile);

/** Whoever starts a program says where it is, and nothing of where to start it: systemd starts it in /. */
describe('programs that are started in a folder which is not theirs', () => {
  let world: World;
  let api: RunningApi;
  let elsewhere: string;
  beforeAll(async () => {
    elsewhere = join(inject('services').directory, `elsewhere-${randomUUID()}`);
    await mkdir(elsewhere);
    world = await aWorld();
    // Without the harness's word for where the schema is.
    const options = { startedIn: elsewhere, env: { SLUICE_SCHEMA_DIR: undefined } };
    api = await world.startApi(options);
    await world.startIndexer(options);
  });
  afterAll(() => world?.stop());

  it('serve contract, documentation and the hosted page from beside themselves', async () => {
    const { origin } = new URL(api.baseUrl);
    for (const url of [`${origin}/openapi.json`, `${origin}/docs/quickstart`, `${api.checkoutOrigin}/favicon.svg`])
      expect([url, (await fetch(url)).status]).toEqual([url, 200]);
  });

  it('answer a shop', async () => {
    const shop = await world.aGateway(api);
    expect((await shop.call('GET', '/assets')).status).toBe(200);
  });

  it('compare the schema of a database from the command line', async () => {
    const cli = [resolve('ops/cli/sluice.mjs'), 'db', 'migrate', '--json'];
    const { stdout } = await execute(process.execPath, cli, {
      cwd: elsewhere,
      env: { PATH: process.env.PATH, DATABASE_OWNER_URL: world.environment.DATABASE_URL },
    });
    expect(JSON.parse(stdout)).toBeDefined();
  });
});
