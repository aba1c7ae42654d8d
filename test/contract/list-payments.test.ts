import { beforeAll, expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

interface Page {
  items: Record<string, unknown>[];
  pagination: { total: number; limit: number; page: number; hasMore: boolean; nextCursor: string | null };
}
const idsOf = (page: Page): unknown[] => page.items.map((item) => item.paymentUid);

describeOperation('listPayments', {
  200: ({ send, service, shop }) => {
    const ids: string[] = [];
    const list = async (query = '', from: Shop = shop): Promise<Page> => (await send({ query, from })).data as unknown as Page;
    beforeAll(async () => {
      for (let made = 0; made < 5; made++) ids.unshift((await shop.payment({ amount: `${made + 1}` })).paymentUid);
    });

    it("lists the gateway's own, newest first (decisions 8)", async () => {
      const page = await list();
      expect(idsOf(page)).toEqual(ids);
      expect(page.pagination).toEqual({ total: 5, limit: 20, page: 1, hasMore: false, nextCursor: null });
      expect(await list('', await service.aShop())).toMatchObject({ items: [], pagination: { total: 0 } });
    });

    it('shows each as it was made, with what the merchant stored with it (contract 2.1)', async () => {
      const other = await service.aShop();
      const [callbackParams, webhookParams] = [{ order: 'A-1', nested: { a: [1] } }, { row: 7 }];
      const paylinkId = '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44';
      const body = {
        currencyCode: 'eur',
        amount: '10.50',
        callbackUrl: 'https://shop.example/x',
        callbackParams,
        webhookParams,
        type: 'PAYLINK',
        paylinkId,
        isSandbox: true,
      };
      const { data } = await other.call('POST', '/payments', { body });
      const { items } = await list('', other);
      expect(items).toEqual([
        {
          paymentUid: data.paymentUid,
          status: 'PENDING',
          checkoutMode: 'HOSTED',
          type: 'PAYLINK',
          paylinkId,
          amount: '10.50',
          amountUsd: '11.34',
          currencyCode: 'EUR',
          createdAt: expect.stringMatching(/Z$/),
          expiresAt: expect.stringMatching(/Z$/),
          resolvedAt: null,
          isVerified: false,
          verifiedAt: null,
          isSandbox: true,
          openAmount: false,
          callbackParams,
          webhookParams,
        },
      ]);
    });

    it('pages by number and by cursor, which wins and reads as page 1', async () => {
      expect(idsOf(await list('?limit=2&page=2'))).toEqual(ids.slice(2, 4));
      expect(await list('?limit=2&page=9')).toMatchObject({ items: [], pagination: { total: 5, page: 9, hasMore: false, nextCursor: null } });
      const seen: unknown[] = [];
      let query = '?limit=2';
      for (let page = await list(query); ; page = await list(query)) {
        seen.push(...idsOf(page));
        expect(page.pagination.page).toBe(1);
        if (page.pagination.nextCursor === null) break;
        query = `?limit=2&page=7&after=${encodeURIComponent(page.pagination.nextCursor)}`;
      }
      expect(seen).toEqual(ids);
    });

    it('neither skips nor repeats one behind a cursor while new ones arrive, even those of the same microsecond', async () => {
      const busy = await service.aShop();
      const made: string[] = [];
      for (let count = 0; count < 6; count++) made.push((await busy.payment()).paymentUid);
      await service.world.database.sql`update payments set created_at = '2026-01-01T00:00:00.123456Z' where gateway_id = ${busy.id}`;
      const seen: unknown[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const page = await list(`?limit=2${after === undefined ? '' : `&after=${after}`}`, busy);
        seen.push(...idsOf(page));
        await busy.payment();
        after = page.pagination.nextCursor;
      }
      expect(seen.toSorted()).toEqual(made.toSorted());
    });

    it('clamps a large limit to 100 and gives a cheap count with limit=1', async () => {
      for (const limit of [101, 1e6, 1e12]) expect((await list(`?limit=${limit}`)).pagination.limit).toBe(100);
      expect(await list('?limit=1')).toMatchObject({ pagination: { total: 5, limit: 1, hasMore: true } });
    });

    it('filters by status and by time of creation: from is included, to is not', async () => {
      const dated = await service.aShop();
      // Without a webhook address, so that one may be called expired without having announced it.
      const make = async () =>
        String((await dated.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '1', callbackUrl: 'https://shop.example/x' } })).data.paymentUid);
      const [first, second] = [await make(), await make()];
      const { sql } = service.world.database;
      await sql`update payments set created_at = '2026-03-01T10:00:00Z' where id = ${first}`;
      await sql`update payments set created_at = '2026-03-02T10:00:00Z', status = 'EXPIRED', resolved_at = '2026-03-02T11:00:00Z' where id = ${second}`;
      const found = async (query: string): Promise<unknown[]> => idsOf(await list(query, dated));
      expect(await found('?status=EXPIRED')).toEqual([second]);
      expect(await found('?status=SUCCESS')).toEqual([]);
      expect(await found('?createdFrom=2026-03-02T10:00:00Z')).toEqual([second]);
      expect(await found('?createdTo=2026-03-02T10:00:00Z')).toEqual([first]);
      expect(await found('?createdFrom=2026-03-01T11:00:00%2B01:00&createdTo=2026-03-02T10:00:00.001Z')).toEqual([second, first]);
      expect(await found('?createdFrom=0000-01-01T00:00:00Z&createdTo=9999-12-31T23:59:59-23:59')).toEqual([second, first]);
      expect(await found('?createdFrom=2026-03-03T00:00:00Z&createdTo=2026-03-01T00:00:00Z')).toEqual([]);
      expect(await found('?status=PENDING&createdFrom=2026-03-02T00:00:00Z')).toEqual([]);
      expect((await list('?status=EXPIRED', dated)).items[0]).toMatchObject({ status: 'EXPIRED', resolvedAt: '2026-03-02T11:00:00.000Z' });
    });
  },

  422: ({ send, anotherShop }) => {
    it.each([
      ['status', '?status=DONE'],
      ['status', '?status=pending'],
      ['status', '?status='],
      ['status', '?status=SUCCESS&status=PENDING'],
      ['createdFrom', '?createdFrom=yesterday'],
      ['createdFrom', '?createdFrom=2026-11-21'],
      ['createdFrom', '?createdFrom=2026-02-30T00:00:00Z'],
      ['createdFrom', '?createdFrom=2026-11-21T10:00:00+01:00'],
      ['createdTo', '?createdTo='],
      ['createdTo', '?createdTo=1795255200'],
      ['limit', '?limit=0'],
      ['limit', '?limit=-1'],
      ['limit', '?limit=ten'],
      ['limit', '?limit=1.5'],
      ['limit', '?limit='],
      ['page', '?page=0'],
      ['page', '?page=99999999999999999999'],
      ['after', '?after=nonsense'],
      ['after', '?after='],
      ['after', '?after=AAAAAAAAAAAAAAAAAAAAAA'],
    ])('names %s in %s', async (field, query) => {
      const { status, error } = await send({ query });
      expect([status, error.code]).toEqual([422, 'validation_error']);
      expect(error.message).toMatch(new RegExp(`^${field}: `));
    });

    it("refuses another gateway's cursor like one that nobody was given", async () => {
      const other = await anotherShop();
      for (let made = 0; made < 2; made++) await other.payment();
      const theirs = (await send({ query: '?limit=1', from: other })).data as unknown as Page;
      const answers = [await send({ query: `?after=${theirs.pagination.nextCursor}` }), await send({ query: '?after=AAAAAAAAAAAAAAAAAAAAAA' })];
      expect(answers.map(({ status }) => status)).toEqual([422, 422]);
      expect(answers[0]?.text).toBe(answers[1]?.text);
    });
  },
});
