import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { POLICY } from '#shared/core/policy.ts';
import { describeOperation } from './describe-operation.ts';
import { payTo, selectAddress, type Service, type Shop } from './service.ts';

interface Page {
  items: Record<string, unknown>[];
  pagination: { total: number; limit: number; page: number; hasMore: boolean; nextCursor: string | null; atLeast?: true };
}
const idsOf = (page: Page): unknown[] => page.items.map((item) => item.paymentUid);

/** Has a payment paid in full in USDT; answers where to, and what verify tells of it. */
async function pay(
  service: Service,
  shop: Shop,
  body: Record<string, unknown> = {},
): Promise<{ id: string; address: string; verified: Record<string, unknown> }> {
  const { paymentUid: id, payment } = await shop.payment({ amount: '10', ...body });
  const offer = payment.offers.find(({ assetSymbol }) => assetSymbol === 'USDT') as { id: string; totalValue?: string };
  const address = await selectAddress(service, id, offer.id);
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, String(offer.totalValue))]);
  await service.mine();
  return { id, address, verified: (await shop.call('POST', `/payments/${id}/verify`)).data };
}

describeOperation('listPayments', {
  200: ({ send, service, shop }) => {
    const ids: string[] = [];
    /** Says that payments were made at another time, and counts them on that day. */
    const madeAt = (paymentIds: readonly string[], at: string) => service.world.database.sql`
      with before as (select id, gateway_id, sandbox, (created_at at time zone 'UTC')::date as day from payments where id = any(${[...paymentIds]}::uuid[])),
        moved as (update payments p set created_at = ${at}::timestamptz from before b where p.id = b.id),
        days as (select gateway_id, sandbox, day, -1 as count from before
          union all select gateway_id, sandbox, (${at}::timestamptz at time zone 'UTC')::date, 1 from before)
      insert into day_changes (gateway_id, sandbox, day, made_on, what, count) select gateway_id, sandbox, day, day, 'created', count from days`;
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
      await madeAt(made, '2026-01-01T00:00:00.123456Z');
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
      await madeAt([first], '2026-03-01T10:00:00Z');
      await madeAt([second], '2026-03-02T10:00:00Z');
      await service.world.database.sql`update payments set status = 'EXPIRED', resolved_at = '2026-03-02T11:00:00Z' where id = ${second}`;
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

    it('tells of each that was paid what was received and what was taken of it, as verify does', async () => {
      const busy = await service.aShop();
      const { id, verified } = await pay(service, busy);
      const [row] = (await list('', busy)).items;
      expect(row).toMatchObject({ paymentUid: id, status: 'SUCCESS', isVerified: true, receivedAssetSymbol: 'USDT' });
      for (const field of ['receivedAmount', 'receivedAmountUsd', 'network', 'txHash', 'depositPath', 'txFee', 'commissionFee'])
        expect([field, row?.[field]]).toEqual([field, verified[field]]);
      const record = (await busy.call('GET', `/payments/${id}`)).data as { credits: { net: string }[] };
      expect(row?.net).toBe(record.credits[0]?.net);
    });

    it('filters by what was received, by verified, sandbox, path, screening and amount, and by all of them at once', async () => {
      const busy = await service.aShop();
      const { id, verified } = await pay(service, busy, { amount: '12.34' });
      const sandbox = (await busy.payment({ amount: '20', isSandbox: true })).paymentUid;
      const open = (await busy.payment({ amount: '99.99' })).paymentUid;
      const found = async (query: string): Promise<unknown[]> => {
        const page = await list(query, busy);
        expect(page.pagination).toMatchObject({ total: page.items.length, hasMore: false });
        expect(page.pagination.atLeast).toBeUndefined();
        return idsOf(page);
      };
      const network = String(verified.network);
      expect(await found('?asset=USDT')).toEqual([id]);
      expect(await found(`?asset=USDT&network=${network}`)).toEqual([id]);
      expect(await found('?network=nowhere')).toEqual([]);
      expect(await found('?asset=BTC')).toEqual([]);
      expect(await found('?sandbox=true')).toEqual([sandbox]);
      expect(await found('?sandbox=false')).toEqual([open, id]);
      expect(await found('?verified=true')).toEqual([id]);
      expect(await found('?verified=false')).toEqual([open, sandbox]);
      expect(await found('?path=standard')).toEqual([id]);
      expect(await found('?path=late_capture')).toEqual([]);
      expect(await found('?amlState=HELD')).toEqual([]);
      expect(await found('?amountUsdFrom=12.34&amountUsdTo=20')).toEqual([sandbox, id]);
      expect(await found('?amountUsdFrom=12.35')).toEqual([open, sandbox]);
      expect(await found('?amountUsdTo=12.339')).toEqual([]);
      expect(await found(`?asset=USDT&network=${network}&sandbox=false&verified=true&path=standard&amountUsdFrom=1&status=SUCCESS&q=${id}`)).toEqual([id]);
      expect(await found(`?q=${id}&sandbox=true`)).toEqual([]);
      await service.world.database.sql`update payments set aml_state = 'RELEASED' where id = ${id}`;
      expect(await found('?amlState=RELEASED')).toEqual([id]);
      await service.world.database.sql`update payments set aml_state = null where id = ${id}`;
    });

    it('finds a payment by its id, its transaction, its address and a value stored with it, however they are spelt', async () => {
      const busy = await service.aShop();
      const params = { order: 'Ä-1001 %_', row: 7, nested: { order: 'inner' }, flag: true, part: 1.5, huge: 1e300 };
      const { id, address, verified } = await pay(service, busy, { webhookParams: params });
      await busy.payment({ webhookParams: { order: 'another', row: 70 } });
      const found = async (q: string): Promise<unknown[]> => idsOf(await list(`?q=${encodeURIComponent(q)}`, busy));
      const hash = String(verified.txHash);
      for (const q of [id, id.toUpperCase(), hash, `0x${hash.slice(2).toUpperCase()}`, address, address.toLowerCase(), 'Ä-1001 %_', '7'])
        expect([q, await found(q)]).toEqual([q, [id]]);
      for (const q of ['Ä-1001 ', 'ä-1001 %_', '%', '_', 'inner', 'true', 'order', '1.5', 'Ä-1001', id.slice(0, 35)])
        expect([q, await found(q)]).toEqual([q, []]);
    });

    it('finds a simulated payment by its simulated transaction', async () => {
      const busy = await service.aShop();
      const { paymentUid } = await busy.payment({ isSandbox: true });
      await service.ask('POST', `/api/v1/public/payments/${paymentUid}/sandbox/simulate`, { body: { scenario: 'success' } });
      const [row] = (await list('', busy)).items;
      expect(row).toMatchObject({ isSandbox: true, txHash: expect.stringMatching(/^sandbox-/), net: expect.any(String) });
      expect(idsOf(await list(`?q=${row?.txHash}`, busy))).toEqual([paymentUid]);
    });

    it('pages among payments that share a value, by number and by cursor', async () => {
      const busy = await service.aShop();
      const made: unknown[] = [];
      for (let count = 0; count < 5; count++) made.unshift((await busy.payment({ webhookParams: { customer: 'C-1' } })).paymentUid);
      expect(idsOf(await list('?q=C-1&limit=2&page=2', busy))).toEqual(made.slice(2, 4));
      const seen: unknown[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const page: Page = await list(`?q=C-1&limit=2${after === undefined ? '' : `&after=${after}`}`, busy);
        expect(page.pagination.total).toBe(5);
        seen.push(...idsOf(page));
        after = page.pagination.nextCursor;
      }
      expect(seen).toEqual(made);
    });

    it("answers another gateway's ids, hashes, addresses and values like unknown ones, to the byte", async () => {
      const [mine, theirs] = [await service.aShop(), await service.aShop()];
      await mine.payment();
      const { id, address, verified } = await pay(service, theirs, { webhookParams: { order: 'T-1' } });
      const texts = new Set<string>();
      for (const q of [id, String(verified.txHash), address, 'T-1', randomUUID(), `0x${'1'.repeat(64)}`, `0x${'1'.repeat(40)}`, 'unknown'])
        texts.add((await send({ query: `?q=${q}`, from: mine })).text);
      expect(texts.size).toBe(1);
    });

    it('takes whatever is looked for as a text that is nowhere: wildcards, quotes, other scripts', async () => {
      for (const q of ['%25', "'%20or%20'1'='1", '%E2%80%AE', '%F0%9F%92%B8', '%D8%A7%D9%84', '%5C', '%7B%7D', 'null', '%EF%BF%BF', '%C2%A0'.repeat(20)])
        expect([q, (await send({ query: `?q=${q}` })).text]).toEqual([
          q,
          expect.stringContaining('"pagination":{"total":0,"limit":20,"page":1,"hasMore":false,"nextCursor":null}'),
        ]);
    });

    it('looks through so many payments for a page and no more, and goes on behind them', async () => {
      const busy = await service.aShop();
      const rare = (await busy.payment({ isSandbox: true })).paymentUid;
      const common = (await busy.payment()).paymentUid;
      const { sql } = service.world.database;
      await madeAt([rare], new Date(Date.now() - 86_400_000).toISOString());
      // In parts: a starved machine would not write all of them within the time of one statement.
      for (let missing = POLICY.listLookedThrough - 1; missing > 0; missing -= 500) {
        await sql`insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).*
          from payments p, generate_series(1, ${Math.min(missing, 500)}) where p.id = ${common}`;
      }
      const first = await list('?sandbox=true', busy);
      expect(first).toMatchObject({ items: [], pagination: { total: 0, atLeast: true, hasMore: true, nextCursor: expect.any(String) } });
      const second = await list(`?sandbox=true&after=${first.pagination.nextCursor}`, busy);
      expect(second).toMatchObject({ items: [{ paymentUid: rare }], pagination: { total: 0, atLeast: true, hasMore: false, nextCursor: null } });
      expect((await list('', busy)).pagination).toMatchObject({ total: POLICY.listLookedThrough + 1 });
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
      ['q', '?q='],
      ['q', `?q=${'x'.repeat(256)}`],
      ['q', `?q=${'%25'.repeat(3_400)}`],
      ['q', '?q=a&q=b'],
      ['q', '?q=%00'],
      ['q', '?q=A-1001%00'],
      ['asset', '?asset='],
      ['asset', '?asset=%00'],
      ['asset', '?asset=US%20DT'],
      ['network', '?network=%E2%80%AE'],
      ['sandbox', '?sandbox=maybe'],
      ['verified', '?verified='],
      ['path', '?path=STANDARD'],
      ['amlState', '?amlState=held'],
      ['amountUsdFrom', '?amountUsdFrom=-1'],
      ['amountUsdFrom', '?amountUsdFrom=1e5'],
      ['amountUsdTo', `?amountUsdTo=${'9'.repeat(58)}`],
      ['after', '?after=nonsense'],
      ['after', '?sandbox=true&after=AAAAAAAAAAAAAAAAAAAAAA'],
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
      for (const filter of ['', '&sandbox=false', '&q=x']) {
        const after = (cursor: unknown) => send({ query: `?after=${cursor}${filter}` });
        const answers = [await after(theirs.pagination.nextCursor), await after('AAAAAAAAAAAAAAAAAAAAAA')];
        expect(answers.map(({ status }) => status)).toEqual([422, 422]);
        expect(answers[0]?.text).toBe(answers[1]?.text);
      }
    });
  },
});
