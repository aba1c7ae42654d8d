import { expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { describeOperation } from './describe-operation.ts';
import { payTo, selectAddress } from './service.ts';

const SETTINGS = { settings: { underAcceptableDiff: '1', acceptableDiffKind: 'PERCENTAGE', commissionBps: 100 } };

// What each field means in each status, line by line of contract 2.7, is in integration/payment-views.test.ts.
describeOperation(
  'verifyPayment',
  {
    200: ({ send, service, shop }) => {
      const verify = (paymentId: string) => send({ params: { paymentId } });
      const usdt = (): StoredAsset => service.world.assets.USDT as StoredAsset;
      /** An API-mode payment in USDT with its address selected. */
      async function selected(amount = '100'): Promise<{ paymentUid: string; address: string }> {
        const { paymentUid, payment } = await shop.payment({ amount });
        const offer = payment.offers.find((one) => one.assetSymbol === 'USDT');
        return { paymentUid, address: await selectAddress(service, paymentUid, offer?.id ?? '') };
      }

      it('answers PENDING without figures of a deposit, and does not mark it verified', async () => {
        const { paymentUid } = await shop.payment({ webhookParams: { order: 7 } });
        const { data } = await verify(paymentUid);
        expect(data).toMatchObject({
          paymentUid,
          status: 'PENDING',
          amount: '10',
          isVerified: false,
          verifiedAt: null,
          deposits: [],
          webhookParams: { order: 7 },
        });
        for (const field of ['expectedAmount', 'assetSymbol', 'receivedAmount', 'deviationUsd', 'depositPath', 'txHash', 'amlState', 'txFee'])
          expect(data).not.toHaveProperty(field);
      });

      it('echoes params as they were sent, to the last digit, whatever their keys are called (contract 2.1)', async () => {
        const params = '{"zeta":12345678901234567890,"__proto__":{"b":1.50,"a":[1e3]},"constructor":"x"}';
        const raw = `{"currencyCode":"USD","amount":"10","callbackUrl":"https://shop.example/thanks","callbackParams":${params}, "webhookParams": ${params.replaceAll(',', ', ')}}`;
        const { data } = await shop.call('POST', '/payments', { raw });
        const paymentUid = String(data.paymentUid);
        const echoed = `"callbackParams":${params},"webhookParams":${params}`;
        expect((await verify(paymentUid)).text).toContain(echoed);
        expect((await shop.call('GET', '/payments')).text).toContain(echoed);
      });

      it('carries the figures once paid, marks the payment verified once, and ignores a body (contract 2.7, decisions 9)', async () => {
        const { paymentUid, address } = await selected();
        await service.mine([payTo(address, usdt(), '99.5')]);
        await service.mine();
        const first = await send({ params: { paymentId: paymentUid }, raw: 'not even JSON', headers: { 'content-type': 'text/plain' } });
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
          deposits: [{ asset: 'USDT', amount: '99.5', state: 'credited', depositPath: 'standard' }],
        });
        expect(first.data).not.toHaveProperty('amlState');
        const again = (await verify(paymentUid)).data;
        expect(again).toEqual(first.data);
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

      it('verifies a payment once, however many ask at the same time', async () => {
        const { paymentUid, address } = await selected();
        await service.mine([payTo(address, usdt(), '100')]);
        await service.mine();
        const answers = await Promise.all(Array.from({ length: 20 }, () => verify(paymentUid)));
        expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      });
    },
  },
  { gateway: SETTINGS },
);
