import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { aService, payTo, type Service, type Shop, selectAddress } from './service.ts';

let service: Service;
let plain: Shop;
let tuned: Shop;
let monthly: Shop;
beforeAll(async () => {
  service = await aService();
  plain = await service.aShop();
  tuned = await service.aShop({
    settings: {
      txFeePayer: 'CUSTOMER',
      commissionFeePayer: 'CUSTOMER',
      commissionBps: 137,
      commissionMinUsd: '0.33',
      overAcceptableDiff: '1',
      underAcceptableDiff: '2',
    },
  });
  monthly = await service.aShop({ billing: 'MONTHLY', settings: { commissionBps: 250, acceptableDiffKind: 'PERCENTAGE', underAcceptableDiff: '5' } });
});
afterAll(() => service.stop());

type Json = Record<string, unknown>;

it.each<[string, () => Shop, Json, string, string, string]>([
  ['exactly what is asked', () => plain, {}, 'USDT', '10', 'SUCCESS'],
  ['a little too little', () => tuned, {}, 'USDT', '9.5', 'ACCEPTABLE'],
  ['exactly what is asked, fees on top', () => tuned, { amount: '100' }, 'USDT', '101.87', 'SUCCESS'],
  ['far too much', () => tuned, {}, 'USDT', '123.456789', 'MISMATCH'],
  ['half, where nobody checks', () => plain, { checkAmountDeviation: false }, 'USDC', '5', 'SUCCESS'],
  ['less than the fees', () => tuned, { checkAmountDeviation: false }, 'USDT', '0.4', 'SUCCESS'],
  ['4 percent less, billed monthly', () => monthly, {}, 'USDT', '9.6', 'ACCEPTABLE'],
  ['another coin than offered', () => tuned, { assets: [{ assetId: 'USDT', assetPriceUsd: '1' }] }, 'USDC', '11', 'ACCEPTABLE'],
  ['at a price of the merchant', () => plain, { assets: [{ assetId: 'USDT', assetPriceUsd: '3' }] }, 'USDT', '3.333334', 'SUCCESS'],
  ['a coin of 18 decimals', () => plain, { currencyCode: 'EUR', amount: '33.33' }, 'ETH', '0.014398560000000000', 'SUCCESS'],
  ['dust', () => plain, {}, 'USDT', '0.000001', 'PENDING'],
])('a real deposit does what preview said of it: %s', async (_what, from, over, symbol, amount, expected) => {
  const shop = from();
  const asset = service.world.assets[symbol] as StoredAsset;
  const assets = (over.assets as { assetId: string }[] | undefined)?.map((one) => ({ ...one, assetId: service.world.assets[one.assetId]?.id }));
  const body = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook', ...over, ...(assets && { assets }) };
  const previewed = await shop.call('POST', '/payments/preview', { body: { ...body, whatIf: { assetId: asset.id, amount } } });
  const whatIf = previewed.data.whatIf as Json;
  expect(whatIf.status).toBe(expected);

  const { paymentUid, payment } = await shop.payment(body);
  const offer = payment.offers.find((one) => one.assetId === (whatIf.judgedByAssetId ?? asset.id));
  const address = await selectAddress(service, paymentUid, offer?.id ?? '');
  await service.mine([payTo(address, asset, amount)]);
  await service.mine();

  const { data } = await shop.call('POST', `/payments/${paymentUid}/verify`);
  expect(data.status).toBe(whatIf.status);
  const [credit] = await service.world.database.sql`select net from credits where payment_id = ${paymentUid}`;
  if (expected === 'PENDING') return expect(credit).toBeUndefined();
  expect(data).toMatchObject({ deviationUsd: whatIf.deviationUsd, txFee: whatIf.txFee, commissionFee: whatIf.commissionFee });
  expect(credit?.net).toBe(whatIf.credited);
});
