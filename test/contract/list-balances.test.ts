import { expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';

const balances = '/merchant/settlements/balances';

describeOperation('listBalances', {
  200: ({ service }) => {
    it('has no items when nothing is settle-able (contract 2.9)', async () => {
      expect((await (await service.aShop()).signed('GET', balances)).data).toEqual({ items: [] });
    });

    it("shows what matured and what is maturing, and nobody else's", async () => {
      const [shop, other] = [await service.aShop({ settings: { maturitySeconds: 0 } }), await service.aShop({ settings: { maturitySeconds: 3600 } })];
      await shop.fund('USDT', '10');
      await other.fund('USDC', '4');
      const [mine, theirs] = [(await shop.signed('GET', balances)).data.items, (await other.signed('GET', balances)).data.items];
      expect(mine).toMatchObject([
        {
          symbol: 'USDT',
          networkName: 'ethereum',
          totalAvailable: '9.5',
          totalAvailableUsd: '9.50',
          payments: 1,
          totalPendingAvailable: '0',
          totalReceived: '10',
          totalTxFee: '0.5',
          totalQuarantinedAvailable: '0',
          quarantinedPayments: 0,
          nextMaturityAt: null,
        },
      ]);
      expect(theirs).toMatchObject([
        { symbol: 'USDC', totalAvailable: '0', payments: 0, totalPendingAvailable: '3.5', pendingPayments: 1, totalPendingReceived: '4' },
      ]);
      expect((theirs as { nextMaturityAt: string }[])[0]?.nextMaturityAt).toMatch(/Z$/);
    });
  },
});
