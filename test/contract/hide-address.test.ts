import { expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';

describeOperation('hideAddress', {
  200: ({ example, send, service, anotherShop }) => {
    it('hides an entry, is the same when it is asked for again', async () => {
      const shop = await anotherShop();
      const known = { from: shop, ...(await example(shop)) };
      const [first, again] = [await send(known), await send(known)];
      expect([first.status, first.data]).toMatchObject([
        200,
        { addressId: known.params?.addressId, hiddenAt: expect.any(String), changedBy: shop.apiKey.split('_')[1] },
      ]);
      expect(again.data).toEqual(first.data);
      expect((await shop.signed('GET', '/address-book')).data.items).toEqual([]);
    });

    it('hides nothing of another gateway', async () => {
      const theirs = await example(await anotherShop());
      expect((await send(theirs)).status).toBe(404);
      expect(await service.world.database.sql`select hidden_at from address_book where id = ${theirs.params?.addressId ?? ''}`).toEqual([{ hiddenAt: null }]);
    });
  },
});
