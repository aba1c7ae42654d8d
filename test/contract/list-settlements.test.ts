import { beforeAll, expect, it } from 'vitest';
import { TEST_SECRETS } from '#test/harness/world.ts';
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

    it('tells when each was made, what it was worth, when it may go, and when and why it was rejected', async () => {
      const cashout = { enabled: true, allowlist: ['127.0.0.1'], parkingEnabled: true, approvalCapUsd: '5' };
      const mixed = await service.aShop({ cashout });
      await mixed.fund('USDT', '30');
      const create = async (amount: string) => {
        const body = { assetId: service.world.assets.USDT?.id, amount, address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
        return (await mixed.signed('POST', '/merchant/settlements', { body })).data as { id: string; createdAt: string };
      };
      const [small, large, short] = [await create('2'), await create('6'), await create('50')];
      await mixed.signed('POST', `/merchant/settlements/${short.id}/cancel`);
      const { headers } = { headers: { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` } };
      await service.ask('POST', `/operator/v1/settlements/${small.id}/reject`, { headers, body: { reason: 'internal words' } });
      const [cancelled, held, rejected] = (await list('', mixed)).items as unknown as Record<string, unknown>[];
      const time = expect.stringMatching(/Z$/);
      expect(cancelled).toMatchObject({ id: short.id, createdAt: short.createdAt, amountUsd: '50.00', rejectedAt: time, rejectReason: 'CANCELLED' });
      expect(held).toMatchObject({ id: large.id, createdAt: large.createdAt, amountUsd: '6.00', holdReason: 'approval_cap' });
      expect(rejected).toMatchObject({
        id: small.id,
        createdAt: small.createdAt,
        amountUsd: '2.00',
        dispatchAt: time,
        rejectedAt: time,
        rejectReason: 'OPERATOR',
      });
      expect(JSON.stringify(rejected)).not.toContain('internal words');
      for (const field of ['dispatchAt', 'rejectedAt', 'rejectReason', 'settledAt']) expect(held).not.toHaveProperty(field);
      for (const field of ['holdReason', 'settledAt', 'dispatchAt']) expect(cancelled).not.toHaveProperty(field);
    });

    it('filters by time of creation and of settlement, by asset and network, and by all of them with a status', async () => {
      const network = 'ethereum';
      const { sql } = service.world.database;
      const [first, second] = [ids[4], ids[3]] as [string, string];
      await sql`update settlements set created_at = '2026-03-01T10:00:00Z' where id = ${first}`;
      await sql`update settlements set created_at = '2026-03-02T10:00:00Z', settled_at = '2026-03-03T10:00:00Z' where id = ${second}`;
      const found = async (query: string): Promise<string[]> => {
        const page = await list(query);
        expect(page.pagination).toMatchObject({ total: page.items.length, hasMore: false, nextCursor: null });
        return idsOf(page);
      };
      expect(await found('?createdTo=2026-03-02T10:00:00Z')).toEqual([first]);
      expect(await found('?createdFrom=2026-03-02T10:00:00Z&createdTo=2026-04-01T00:00:00Z')).toEqual([second]);
      expect(await found('?settledFrom=2026-03-03T10:00:00Z')).toEqual([second]);
      expect(await found('?settledTo=2026-03-03T10:00:00Z')).toEqual([]);
      expect(await found('?asset=USDT')).toEqual(ids);
      expect(await found('?asset=BTC')).toEqual([]);
      expect(await found(`?network=${network}&asset=USDT&status=REQUESTED&createdFrom=2026-03-02T00:00:00Z&settledTo=2026-05-01T00:00:00Z`)).toEqual([second]);
      expect(await found('?network=nowhere')).toEqual([]);
      expect((await list('?asset=USDT&limit=2')).pagination).toMatchObject({ total: 5, hasMore: true });
      await sql`update settlements set settled_at = null where id = ${second}`;
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
      ['createdFrom', '?createdFrom=yesterday'],
      ['createdTo', '?createdTo='],
      ['settledFrom', '?settledFrom=2026-02-30T00:00:00Z'],
      ['settledTo', '?settledTo=1795255200'],
      ['asset', '?asset=%00'],
      ['network', '?network='],
      ['after', '?asset=USDT&after=AAAAAAAAAAAAAAAAAAAAAA'],
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
