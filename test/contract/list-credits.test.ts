import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { components } from '#api/contract/types.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

type Credit = components['schemas']['Credit'];
interface Page {
  items: Credit[];
  pagination: { limit: number; hasMore: boolean; nextCursor: string | null };
}
const cursorOf = (text: string): string => Buffer.from(text).toString('base64url');

describeOperation('listCredits', {
  200: ({ service, send, anotherShop }) => {
    const list = async (from: Shop, query = ''): Promise<Page> => (await send({ from, query })).data as unknown as Page;

    it('tells what each payment credited, what was taken of it, and what is left after a cashout drew from the first', async () => {
      const shop = await anotherShop();
      await shop.fund('USDT', '10');
      await shop.fund('USDC', '4');
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
      expect((await shop.signed('POST', '/merchant/settlements', { body })).status).toBe(200);
      const { items, pagination } = await list(shop);
      const payments = ((await shop.call('GET', '/payments')).data.items as { paymentUid: string }[]).map(({ paymentUid }) => paymentUid);
      expect(items).toMatchObject([
        { asset: 'USDC', gross: '4', net: '3.5', remaining: '3.5', pool: 'green', taken: null, maturedAt: expect.any(String) },
        { asset: 'USDT', network: 'ethereum', gross: '10', net: '9.5', remaining: '7.5' },
      ]);
      expect(items.map(({ paymentUid }) => paymentUid)).toEqual(payments);
      for (const { gross, networkFee, commission, net } of items) expect(Number(gross) - Number(networkFee) - Number(commission)).toBe(Number(net));
      expect(pagination).toEqual({ limit: 20, hasMore: false, nextCursor: null });
    });

    it('pages by a cursor without leaving out or repeating one, even those of one moment', async () => {
      const shop = await anotherShop();
      for (let count = 0; count < 4; count++) await shop.fund('USDT', '10');
      await service.world.database.sql`update credits set credited_at = '2026-01-01T00:00:00.123456Z' where gateway_id = ${shop.id}`;
      const whole = (await list(shop)).items;
      expect(whole).toHaveLength(4);
      const seen: Credit[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const page: Page = await list(shop, `?limit=1${after === undefined ? '' : `&after=${after}`}`);
        seen.push(...page.items);
        after = page.pagination.nextCursor;
      }
      expect(seen).toEqual(whole);
    });

    it("shows nobody else's", async () => {
      expect((await list(await anotherShop())).items).toEqual([]);
    });
  },
  422: ({ send, anotherShop }) => {
    it("refuses another gateway's cursor, and any other that it never gave, in the same words", async () => {
      const theirs = await anotherShop();
      for (let count = 0; count < 2; count++) await theirs.fund('USDT', '10');
      const { nextCursor } = ((await send({ from: theirs, query: '?limit=1' })).data as unknown as Page).pagination;
      expect(nextCursor).toEqual(expect.any(String));
      const texts = new Set<string>();
      for (const cursor of [nextCursor, cursorOf(randomUUID()), cursorOf('1'), cursorOf("' or 1=1"), 'x', '%00']) {
        const answer = await send({ query: `?after=${cursor}` });
        expect(answer.status).toBe(422);
        if (cursor !== '%00') texts.add(answer.text);
      }
      expect(texts.size).toBe(1);
    });

    it('names a limit below 1', async () => {
      expect((await send({ query: '?limit=0' })).error.message).toMatch(/^limit: /);
    });
  },
});
