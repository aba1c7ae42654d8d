import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { components } from '#api/contract/types.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

type Address = components['schemas']['BookAddress'];
interface Page {
  items: Address[];
  pagination: { limit: number; hasMore: boolean; nextCursor: string | null };
}
const TREASURY = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const keyIdOf = (shop: Shop): string => String(shop.apiKey.split('_')[1]);

describeOperation('listAddresses', {
  200: ({ service, send, anotherShop }) => {
    const list = async (from: Shop, query = ''): Promise<Page> => (await send({ from, query })).data as unknown as Page;

    it('tells what cashouts brought and what was entered by hand, by whom, and nothing as sent that has not arrived', async () => {
      const shop = await anotherShop();
      await shop.fund('USDT', '10');
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: TREASURY, label: 'Payroll' };
      expect((await shop.signed('POST', '/merchant/settlements', { body })).status).toBe(200);
      const entry = { label: 'Bank', network: 'ethereum', address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' };
      expect((await shop.signed('POST', '/address-book', { body: entry })).status).toBe(201);
      const unused = { hiddenAt: null, changedAt: null, changedBy: null, firstUsedAt: null, lastUsedAt: null, sent: [] };
      expect((await list(shop)).items).toMatchObject([
        { ...entry, ...unused, tag: 'BOOK', createdBy: keyIdOf(shop) },
        { ...unused, label: 'Payroll', address: TREASURY, tag: 'API', createdBy: null },
      ]);
    });

    it('pages by a cursor without leaving out or repeating one, and goes on behind one that was hidden since', async () => {
      const shop = await anotherShop();
      for (let count = 0; count < 4; count++) {
        const body = { label: `Number ${count}`, network: 'ethereum', address: `0x${String(count + 1).repeat(40)}` };
        expect((await shop.signed('POST', '/address-book', { body })).status).toBe(201);
      }
      const whole = (await list(shop)).items;
      expect(whole.map(({ label }) => label)).toEqual(['Number 3', 'Number 2', 'Number 1', 'Number 0']);
      const first = await list(shop, '?limit=2');
      expect((await shop.signed('DELETE', `/address-book/${whole[1]?.addressId}`)).status).toBe(200);
      expect((await list(shop, `?limit=2&after=${first.pagination.nextCursor}`)).items).toEqual(whole.slice(2));
      expect((await list(shop)).items).toEqual([whole[0], whole[2], whole[3]]);
    });

    it("shows nobody else's", async () => {
      expect((await list(await anotherShop())).items).toEqual([]);
    });
  },
  422: ({ send, anotherShop }) => {
    it("refuses another gateway's cursor, and any other that it never gave, in the same words", async () => {
      const theirs = await anotherShop();
      const made = await theirs.signed('POST', '/address-book', { body: { label: 'Theirs', network: 'ethereum', address: TREASURY } });
      const texts = new Set<string>();
      for (const id of [String(made.data.addressId), randomUUID(), '1', "' or 1=1"]) {
        const answer = await send({ query: `?after=${Buffer.from(id).toString('base64url')}` });
        expect(answer.status).toBe(422);
        texts.add(answer.text);
      }
      expect(texts.size).toBe(1);
      expect((await send({ query: '?limit=0' })).error.message).toMatch(/^limit: /);
    });
  },
});
