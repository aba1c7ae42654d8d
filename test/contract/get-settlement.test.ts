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

    it('shows of a parked one what its pool lacks now, which its create did not (contract 2.8)', async () => {
      const parks = await service.aShop({ cashout: { enabled: true, allowlist: ['127.0.0.1'], parkingEnabled: true } });
      const body = { assetId: service.world.assets.USDT?.id, amount: '20', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
      const { status, data } = await parks.signed('POST', '/merchant/settlements', { body });
      expect(status).toBe(202);
      const known = { params: { settlementId: String(data.id) }, from: parks };
      expect((await send(known)).data).toEqual({ ...data, shortfall: '20', shortfallUsd: '20.00' });
      await parks.fund('USDT', '10.5');
      expect((await send(known)).data).toEqual({ ...data, shortfall: '10', shortfallUsd: '10.00' });
    });
  },
});
