import { beforeAll, expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

interface Page {
  items: { id: string }[];
  pagination: { total: number; limit: number; page: number; hasMore: boolean; nextCursor: string | null };
}
const idsOf = (page: Page): string[] => page.items.map((item) => item.id);

describeOperation('listSettlements', {
  200: ({ service, shop }) => {
    const ids: string[] = [];
    const list = async (query = '', from: Shop = shop): Promise<Page> => (await from.signed('GET', `/merchant/settlements${query}`)).data as unknown as Page;
    beforeAll(async () => {
      await shop.fund('USDT', '100.5');
      for (let made = 0; made < 5; made++) {
        const { data } = await shop.signed('POST', '/merchant/settlements', {
          body: { assetId: service.world.assets.USDT?.id, amount: '5', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
        });
        ids.unshift(String(data.id));
      }
    });

    it("lists the gateway's own, newest first", async () => {
      const page = await list();
      expect(idsOf(page)).toEqual(ids);
      expect(page.pagination).toEqual({ total: 5, limit: 20, page: 1, hasMore: false, nextCursor: null });
      expect(await list('', await service.aShop())).toMatchObject({ items: [], pagination: { total: 0 } });
    });

    it('pages by number and by cursor, which wins', async () => {
      expect(idsOf(await list('?limit=2&page=2'))).toEqual(ids.slice(2, 4));
      const seen: string[] = [];
      let query = '?limit=2';
      for (let page = await list(query); ; page = await list(query)) {
        seen.push(...idsOf(page));
        if (page.pagination.nextCursor === null) break;
        query = `?limit=2&page=7&after=${encodeURIComponent(page.pagination.nextCursor)}`;
      }
      expect(seen).toEqual(ids);
    });

    it('clamps a large limit to 100 and gives a cheap count with limit=1', async () => {
      for (const limit of [101, 1e6, 1e12]) expect((await list(`?limit=${limit}`)).pagination.limit).toBe(100);
      expect(await list('?limit=1')).toMatchObject({ pagination: { total: 5, limit: 1, hasMore: true } });
    });

    it('filters by status', async () => {
      expect((await list('?status=REQUESTED')).pagination.total).toBe(5);
      expect((await list('?status=SETTLED')).items).toEqual([]);
    });

    it('knows each of the seven statuses, and shows a parked one with its live shortfall', async () => {
      const cashout = { enabled: true, allowlist: ['127.0.0.1'], parkingEnabled: true, approvalCapUsd: '5' };
      const mixed = await service.aShop({ screening: { enabled: true, credits: 0 }, cashout });
      const create = async (amount: string, route: string) => {
        const body = { assetId: service.world.assets.USDT?.id, amount, route, address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
        return String((await mixed.signed('POST', '/merchant/settlements', { body })).data.id);
      };
      const [short, waiting, withdrawn] = [await create('4', 'GREEN'), await create('4', 'SMART'), await create('3', 'GREEN')];
      await mixed.signed('POST', `/merchant/settlements/${withdrawn}/cancel`);
      const expected = {
        UNDERFUNDED: [short],
        WAITING_AML_CREDIT: [waiting],
        REJECTED: [withdrawn],
        REQUESTED: [],
        PENDING_APPROVAL: [],
        PROCESSING: [],
        SETTLED: [],
      };
      for (const [status, ids] of Object.entries(expected)) {
        const page = await list(`?status=${status}`, mixed);
        expect([status, idsOf(page), page.pagination.total]).toEqual([status, ids, ids.length]);
      }
      expect((await list('?status=UNDERFUNDED', mixed)).items[0]).toMatchObject({ status: 'UNDERFUNDED', shortfall: '4', shortfallUsd: '4.00' });
    });
  },
  422: ({ send }) => {
    it.each([
      ['status', '?status=DONE'],
      ['status', '?status=requested'],
      ['status', '?status='],
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
      ['status', '?status=SETTLED&status=REQUESTED'],
    ])('names %s in %s', async (field, query) => {
      const { status, error } = await send({ query });
      expect([status, error.code]).toEqual([422, 'validation_error']);
      expect(error.message).toMatch(new RegExp(`^${field}: `));
    });
  },
});
