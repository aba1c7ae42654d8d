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

    it('lists the credits of a payment, a state, an asset, a network and a time, and no others', async () => {
      const shop = await anotherShop();
      for (const asset of ['USDT', 'USDC', 'USDT', 'USDC', 'USDT'] as const) await shop.fund(asset, '10');
      const body = { assetId: service.world.assets.USDC?.id, amount: '9.5', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
      expect((await shop.signed('POST', '/merchant/settlements', { body })).status).toBe(200);
      const whole = (await list(shop)).items;
      expect(whole.map(({ state }) => state)).toEqual(['available', 'available', 'available', 'drawn', 'available']);
      const fourth = whole[3] as Credit;
      const expected: [string, (credit: Credit) => boolean][] = [
        ['state=available', ({ state }) => state === 'available'],
        ['state=drawn', ({ state }) => state === 'drawn'],
        ['state=held', () => false],
        ['asset=USDC', ({ asset }) => asset === 'USDC'],
        ['asset=USDT&state=drawn', () => false],
        ['network=ethereum', () => true],
        ['network=nowhere', () => false],
        [`payment=${fourth.paymentUid}`, ({ paymentUid }) => paymentUid === fourth.paymentUid],
        [`payment=${randomUUID()}`, () => false],
        [`from=${fourth.creditedAt}`, ({ creditedAt }) => creditedAt >= fourth.creditedAt],
        ['to=2020-01-01T00:00:00Z', () => false],
      ];
      for (const [query, fits] of expected) expect([query, (await list(shop, `?${query}`)).items]).toEqual([query, whole.filter(fits)]);
      expect((await list(await anotherShop(), `?payment=${fourth.paymentUid}`)).items).toEqual([]);
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

    it('names a limit below 1, and a filter that is none', async () => {
      for (const [field, value] of [
        ['limit', '0'],
        ['payment', 'x'],
        ['state', 'gone'],
        ['asset', 'a%20b'],
        ['network', '%00'],
        ['from', 'yesterday'],
        ['to', '1'],
      ])
        expect((await send({ query: `?${field}=${value}` })).error.message).toMatch(new RegExp(`^${field}: `));
    });
  },
});
