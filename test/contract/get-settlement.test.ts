import { expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';

describeOperation('getSettlement', {
  200: ({ example, send, service, shop }) => {
    it('shows a cashout as its create answered it (contract 4.3)', async () => {
      const { body } = { body: { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' } };
      await example();
      const { data } = await shop.signed('POST', '/merchant/settlements', { body });
      expect((await send({ params: { settlementId: String(data.id) } })).data).toEqual(data);
    });
  },
});
