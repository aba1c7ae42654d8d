import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBackup } from '#ops/backup/create.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { TEST_INTENT_KEY, TEST_SECRETS, TEST_SEED } from '#test/harness/world.ts';

let service: Service;
let shop: Shop;
let totp: string;
let folder: string;
let stolen: string;
beforeAll(async () => {
  [service, folder] = await Promise.all([aService(), mkdtemp(join(tmpdir(), 'sluice-stolen-'))]);
  shop = await service.aShop();
  await shop.fund('USDT', '10');
  const headers = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
  totp = ((await service.ask('POST', `/operator/v1/gateways/${shop.id}/totp`, { headers })).data as { secret: string }).secret;
  await createBackup(service.world.database.url, folder);
  const files = await readdir(folder);
  const texts = await Promise.all(files.map(async (name) => [name, await readFile(join(folder, name))] as const));
  stolen = texts.map(([name, bytes]) => (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')).join('\n');
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

describe('whoever has a stolen backup', () => {
  it('reads whose payments there were, and what was paid', () => {
    expect(stolen).toContain('Acme Books');
    expect(stolen).toContain(shop.id);
  });

  it('has no key, secret, token or seed of anybody, in no spelling', () => {
    const secrets = { ...TEST_SECRETS, intent: TEST_INTENT_KEY, seed: TEST_SEED, apiKey: shop.apiKey, cashout: shop.cashoutSecret, totp };
    const spellings = (text: string): string[] => [text, Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64').replace(/=+$/, '')];
    const found = Object.entries(secrets).filter(([, secret]) => spellings(secret).some((one) => stolen.includes(one)));
    expect(found.map(([name]) => name)).toEqual([]);
    expect(stolen.length).toBeGreaterThan(10_000);
  });
});
