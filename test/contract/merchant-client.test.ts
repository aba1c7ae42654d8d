import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Calls, createClient, selectAddress } from '#ops/client/index.ts';
import { makeNextPart } from '#api/exports/make-exports.ts';
import { OPERATIONS } from '#ops/client/operations.ts';
import { packClient } from '#ops/client/pack.ts';
import { CLIENT_OPERATIONS, generateOperations } from '#ops/generate-types.ts';
import { aService, type Service, type Shop } from './service.ts';

/** Where a cashout goes: nobody of ours. */
const STRANGER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describe('the merchant client', () => {
  let service: Service;
  let shop: Shop;
  let sluice: Calls;
  beforeAll(async () => {
    service = await aService();
    shop = await service.aShop({}, ['report:export']);
    sluice = createClient({ baseUrl: `${service.origin}/api/v1`, apiKey: shop.apiKey, cashoutSigningSecret: shop.cashoutSecret });
  });
  afterAll(() => service.stop());

  it('has the operations of the contract file (npm run generate)', async () => {
    expect(await readFile(CLIENT_OPERATIONS.file, 'utf8')).toBe(await generateOperations());
    expect(Object.keys(sluice).sort()).toEqual(Object.keys(OPERATIONS).sort());
  });

  it('creates, selects, plays and verifies a payment', async () => {
    const { paymentUid, payment } = await sluice.createPayment({
      body: { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'https://shop.example/hook', isSandbox: true },
    });
    const offer = payment?.offers.find(({ assetSymbol }) => assetSymbol === 'USDT');
    expect(await selectAddress(sluice, { paymentId: paymentUid, offerId: String(offer?.id) })).toMatchObject({ depositAddress: `sandbox-${paymentUid}` });
    await sluice.simulateSandboxPayment({ paymentId: paymentUid, body: { scenario: 'success' } });
    expect(await sluice.getPublicPayment({ paymentId: paymentUid, statusOnly: true })).toMatchObject({ status: 'SUCCESS' });
    expect(await sluice.verifyPayment({ paymentId: paymentUid })).toMatchObject({ status: 'SUCCESS', amount: '10', isVerified: true });
    expect((await sluice.listPayments({ status: 'SUCCESS', limit: 1 })).items).toMatchObject([{ paymentUid }]);
  });

  it('cashes out once however often it asks under one key', async () => {
    await shop.fund('USDT', '20');
    const body = { assetId: String(service.world.assets.USDT?.id), amount: '5', address: STRANGER, label: 'Büro 1' };
    const [first, again] = [
      await sluice.createSettlement({ body, idempotencyKey: 'payout-1' }),
      await sluice.createSettlement({ body, idempotencyKey: 'payout-1' }),
    ];
    expect(again).toEqual(first);
    expect(await sluice.getSettlement({ settlementId: first.id })).toMatchObject({ amount: '5' });
    expect((await sluice.listSettlements()).pagination.total).toBe(1);
    expect((await sluice.listBalances()).items).toHaveLength(1);
  });

  it('answers the file of an export as it is, in either format', async () => {
    const { paymentUid } = await sluice.createPayment({ body: { currencyCode: 'USD', amount: '3', callbackUrl: 'https://shop.example/thanks' } });
    const files: Record<string, string> = {};
    for (const format of ['csv', 'jsonl'] as const) {
      const { exportId } = await sluice.createExport({ body: { kind: 'payments', format, columns: ['paymentUid', 'amount'] } });
      while (await makeNextPart(service.worker));
      files[format] = await sluice.getExportFile({ exportId });
    }
    expect(files.csv?.split('\r\n').slice(0, 2)).toEqual(['paymentUid,amount', `${paymentUid},3`]);
    expect(JSON.parse(files.jsonl?.split('\n')[0] ?? '')).toEqual({ paymentUid, amount: '3' });
  });

  it('passes a refusal on with its code', async () => {
    const assetId = String(service.world.assets.USDT?.id);
    await expect(sluice.createSettlement({ body: { assetId, amount: '5000', address: STRANGER } })).rejects.toMatchObject({
      status: 409,
      code: 'insufficient_balance',
    });
  });

  it('is a package that type-checks in a strict project and runs without any other', async () => {
    const folder = join(inject('services').directory, 'client');
    await packClient(folder);
    const modules = join(folder, 'shop', 'node_modules');
    await mkdir(modules, { recursive: true });
    await symlink(join(folder, 'package'), join(modules, 'sluice-client'));
    const shopFile = join(folder, 'shop', 'shop.mts');
    await writeFile(
      shopFile,
      `import { createClient } from 'sluice-client';
const sluice = createClient({ baseUrl: '${service.origin}/api/v1', apiKey: '${shop.apiKey}' });
const { items } = await sluice.listAssets();
// @ts-expect-error a payment's id is needed
if (items.length === 0) await sluice.verifyPayment({});
const symbols: string[] = items.map(({ symbol }) => symbol);
process.stdout.write(symbols.join());
`,
    );
    const tsc = join(process.cwd(), 'node_modules/.bin/tsc');
    const types = join(process.cwd(), 'node_modules/@types');
    const run = promisify(execFile);
    await run(
      tsc,
      [
        '--ignoreConfig',
        '--strict',
        '--exactOptionalPropertyTypes',
        '--module',
        'nodenext',
        '--target',
        'es2023',
        '--typeRoots',
        types,
        '--types',
        'node',
        'shop.mts',
      ],
      {
        cwd: dirname(shopFile),
      },
    );
    const { stdout } = await run(process.execPath, ['--preserve-symlinks', 'shop.mjs'], { cwd: dirname(shopFile), env: {} });
    expect(stdout).toContain('USDT');
  });
});
