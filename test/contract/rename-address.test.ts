import { expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';

describeOperation('renameAddress', {
  200: ({ service, send, anotherShop }) => {
    it('changes the label in the book and says who did, while the cashout keeps the one it shows', async () => {
      const shop = await anotherShop();
      await shop.fund('USDT', '10');
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', label: 'Payroll' };
      const cashout = (await shop.signed('POST', '/merchant/settlements', { body })).data;
      const shown = async () => (await shop.signed('GET', `/merchant/settlements/${cashout.id}`)).text;
      const before = await shown();
      const [entry] = (await shop.signed('GET', '/address-book')).data.items as { addressId: string }[];
      const answer = await send({ from: shop, params: { addressId: String(entry?.addressId) }, body: { label: 'Treasury of the board' } });
      expect(answer.data).toMatchObject({ ...entry, label: 'Treasury of the board', changedAt: expect.any(String), changedBy: shop.apiKey.split('_')[1] });
      expect(await shown()).toBe(before);
    });
  },
  404: ({ example, send, shop }) => {
    it('knows no hidden one', async () => {
      const known = await example();
      expect((await shop.signed('DELETE', `/address-book/${known.params?.addressId}`)).status).toBe(200);
      expect((await send(known)).status).toBe(404);
    });
  },
  422: ({ example, send }) => {
    it('names a label that is none', async () => {
      const known = await example();
      for (const label of ['', ' x', 'x'.repeat(101), 'a\u2066b', null]) expect((await send({ ...known, body: { label } })).error.message).toContain('label');
    });
  },
});
