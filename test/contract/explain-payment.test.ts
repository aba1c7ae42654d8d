import { expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import type { Explanation } from '#api/payments/explain.ts';
import { redo } from '#test/fixtures/redo.ts';
import { describeOperation } from './describe-operation.ts';
import { payTo, selectAddress } from './service.ts';

describeOperation('explainPayment', {
  200: ({ send, service, shop }) => {
    const explain = async (paymentId: string): Promise<Explanation> => (await send({ params: { paymentId } })).data as unknown as Explanation;

    it('tells a new payment’s prices, and that it waits for a select', async () => {
      const { paymentUid } = await shop.payment({ currencyCode: 'EUR', amount: '9.99' });
      const story = await explain(paymentUid);
      expect(redo(story)).toBe('PENDING');
      expect(story).toMatchObject({ paymentUid, status: 'PENDING', summary: expect.stringContaining('Waits for the payer to select') });
      expect(story.steps.at(-1)).toMatchObject({ step: 'next', rule: 'awaiting_select' });
    });

    it('tells why an underpayment is one, with figures from which the same follows', async () => {
      const { paymentUid, payment } = await shop.payment({ amount: '100', underAcceptableDiff: '0.5', acceptableDiffKind: 'ABSOLUTE' });
      const address = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
      await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '99.49')]);
      await service.mine();
      const story = await explain(paymentUid);
      expect(redo(story)).toBe('MISMATCH');
      expect(story.summary).toBe('PENDING → MISMATCH: 0.51 USD too little is more than the tolerated 0.50 USD.');
      expect(story.steps.find((one) => one.step === 'decision')).toMatchObject({
        rule: 'outside_tolerance',
        figures: { deviationUsd: '-0.51', underUsd: '0.50', overUsd: '0.00' },
      });
      expect((await shop.call('POST', `/payments/${paymentUid}/verify`)).data).toMatchObject({ status: 'MISMATCH', deviationUsd: '-0.51' });
    });
  },
});
