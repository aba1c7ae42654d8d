import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop({ settings: { underAcceptableDiff: '1', acceptableDiffKind: 'PERCENTAGE', commissionBps: 100 } });
});
afterAll(() => service.stop());

const verify = (paymentUid: string) => shop.call('POST', `/payments/${paymentUid}/verify`);
const usdt = (): StoredAsset => service.world.assets.USDT as StoredAsset;

/** An API-mode payment in USDT with its address selected. */
async function selected(amount = '100'): Promise<{ paymentUid: string; address: string }> {
  const { paymentUid, payment } = await shop.payment({ amount });
  const offer = payment.offers.find((one) => one.assetSymbol === 'USDT');
  return { paymentUid, address: await selectAddress(service, paymentUid, offer?.id ?? '') };
}

describe('200', () => {
  it('answers PENDING without figures of a deposit, and does not mark it verified', async () => {
    const { paymentUid } = await shop.payment();
    const { status, data } = await verify(paymentUid);
    expect(status).toBe(200);
    expect(data).toMatchObject({ paymentUid, status: 'PENDING', amount: '10', isVerified: false, verifiedAt: null, deposits: [] });
    for (const field of ['expectedAmount', 'assetSymbol', 'receivedAmount', 'deviationUsd', 'depositPath', 'txHash', 'amlState', 'txFee'])
      expect(data).not.toHaveProperty(field);
  });

  it('carries the figures once paid, marks the payment verified once, and ignores a body (contract 2.7, decisions 9)', async () => {
    const { paymentUid, address } = await selected();
    await service.mine([payTo(address, usdt(), '99.5')]);
    await service.mine();
    const first = await shop.call('POST', `/payments/${paymentUid}/verify`, { raw: 'not even JSON', headers: { 'content-type': 'text/plain' } });
    expect(first.data).toMatchObject({
      status: 'ACCEPTABLE',
      expectedAmount: '100',
      assetSymbol: 'USDT',
      receivedAssetSymbol: 'USDT',
      receivedAssetId: usdt().id,
      receivedAmount: '99.5',
      receivedAmountUsd: '99.50',
      deviationUsd: '-0.50',
      depositPath: 'standard',
      txFee: '0.5',
      commissionFee: '0.995',
      txFeePayer: 'MERCHANT',
      commissionFeePayer: 'MERCHANT',
      network: 'ethereum',
      isVerified: true,
      deposits: [{ asset: 'USDT', amount: '99.5', depositPath: 'standard' }],
    });
    expect(first.data).not.toHaveProperty('amlState');
    const { confirmations: _, ...again } = ((await verify(paymentUid)).data.deposits as Record<string, unknown>[])[0] ?? {};
    expect(first.data.deposits).toMatchObject([again]);
    expect((await verify(paymentUid)).data.verifiedAt).toBe(first.data.verifiedAt);
  });

  it('values a wrong asset in what arrived (contract 3.1)', async () => {
    const { paymentUid, address } = await selected();
    await service.mine([payTo(address, service.world.assets.USDC as StoredAsset, '50')]);
    await service.mine();
    expect((await verify(paymentUid)).data).toMatchObject({
      status: 'MISMATCH',
      assetSymbol: 'USDT',
      receivedAssetSymbol: 'USDC',
      receivedAmount: '50',
      deviationUsd: '-50.00',
    });
  });
});

describe('404', () => {
  it("answers another gateway's payment exactly like one that does not exist (contract 5.3)", async () => {
    const foreign = (await (await service.aShop()).payment()).paymentUid;
    const answers = [await verify(foreign), await verify(randomUUID())];
    expect(answers.map((answer) => answer.status)).toEqual([404, 404]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });
});
