import { expect, it } from 'vitest';
import type { components } from '#api/contract/types.ts';
import { describeOperation } from './describe-operation.ts';

type Statement = components['schemas']['Statement'];

describeOperation('getStatement', {
  200: ({ service, example, send, anotherShop }) => {
    it('tells what came in, what went out and what is left, and the month under way as such', async () => {
      const shop = await anotherShop();
      await shop.fund('USDT', '10');
      await shop.fund('USDT', '4');
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
      expect((await shop.signed('POST', '/merchant/settlements', { body })).status).toBe(200);
      const params = (await example(shop)).params ?? {};
      const { data } = await send({ from: shop, params });
      const statement = data as unknown as Statement;
      expect(statement).toMatchObject({ month: params.month, isOver: false, from: `${params.month}-01T00:00:00.000Z` });
      expect(statement.asOf < statement.to).toBe(true);
      expect(statement.items).toEqual([
        {
          asset: 'USDT',
          network: 'ethereum',
          opening: '0',
          credits: { count: 2, gross: '14', networkFees: '1', commissions: '0', feesBorne: '0' },
          cashouts: { count: 0, paid: '0', fees: '0' },
          charges: { count: 0, amount: '0' },
          refunds: { count: 0, paid: '0', commissionsReturned: '0' },
          withheldPaid: { count: 0, amount: '0' },
          adjustments: '0',
          closing: '13',
          accounts: { pending: '0', available: '11', heldPending: '0', held: '0', reserved: '2', withheld: '0', refunding: '0', owed: '0' },
        },
      ]);
    });

    it("shows nobody else's, and nothing where nothing happened", async () => {
      const shop = await anotherShop();
      expect((await send({ from: shop, ...(await example(shop)) })).data.items).toEqual([]);
    });
  },
  404: ({ example, send }) => {
    it('says that a month has not begun, or that the gateway did not exist in it, and knows no others', async () => {
      const { params } = await example();
      const year = Number(params?.month?.slice(0, 4));
      const ask = async (month: string) => (await send({ params: { month } })).error.message;
      expect(await ask(`${year + 1}-01`)).toBe(`${year + 1}-01 has not begun, so there is no statement of it.`);
      expect(await ask('9999-12')).toMatch(/has not begun/);
      expect(await ask(`${year - 1}-12`)).toBe(`The gateway did not exist in ${year - 1}-12, so there is no statement of it.`);
      expect(await ask('1000-01')).toMatch(/did not exist/);
      for (const month of ['2026-13', '2026-00', '2026', '2026-1', '0000-01', 'x', "2026-01'"])
        expect((await send({ params: { month: encodeURIComponent(month) } })).status).toBe(404);
    });
  },
});
