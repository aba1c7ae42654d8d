import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeMonths } from '#api/billing/close-months.ts';
import { showExpenses } from '#api/operator/invoices.ts';
import { listInvoicesForOperator } from '#api/store/invoices.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { type Shops, someShops, type TestShop } from '#test/fixtures/shop.ts';

const SETTINGS = { settings: { txFeePayer: 'CUSTOMER', commissionFeePayer: 'CUSTOMER', commissionBps: 100 } };

let shops: Shops;
let monthly: TestShop;
let platform: TestShop;
beforeAll(async () => {
  shops = await someShops();
  monthly = await shops.open({ billing: 'MONTHLY', openAmount: { enabled: true, minAmountUsd: '5', assetIds: null }, ...SETTINGS });
  platform = await shops.open({ billing: 'PLATFORM', openAmount: { enabled: true, minAmountUsd: '5', assetIds: null }, ...SETTINGS });
});
afterAll(() => shops.stop());

const sql = () => shops.world.database.sql;
const expense = async (): Promise<string> =>
  (await sql()<{ balance: string }[]>`select trim_scale(coalesce(sum(balance), 0))::text as balance from ledger_accounts where kind = 'platformExpense'`)[0]
    ?.balance ?? '';

describe('fees that the platform covers (contract 2.1, decisions 11)', () => {
  it.each([
    ['a fixed amount of a monthly-billed gateway', () => monthly, false, 'MONTHLY'],
    ['an open amount of a monthly-billed gateway', () => monthly, true, 'MONTHLY'],
    ['an open amount of a platform-billed gateway', () => platform, true, 'PLATFORM'],
  ] as const)(
    'of %s: the payer sees none, the whole deposit is credited, verify names the payers, and the cost is accrued',
    async (_, shopOf, open, billing) => {
      const shop = shopOf();
      const spentBefore = Number(await expense());
      const payment = open ? await shop.createOpen() : await shop.create({ txFeePayer: 'CUSTOMER', commissionFeePayer: 'MERCHANT' });
      await shop.select(payment, 'USDT');
      const seen = (await shop.read(payment)) as { txFeePayer: string; commissionFeePayer: string; offers: Record<string, unknown>[] };
      expect(seen).toMatchObject({ txFeePayer: 'PLATFORM', commissionFeePayer: 'PLATFORM' });
      expect(seen.offers.find((offer) => offer.assetSymbol === 'USDT')).toMatchObject({ txFee: '0', commissionFee: '0', totalValue: open ? '0' : '100' });
      await shop.receive(payment, 'USDT', '100');
      const verified = await shop.verify(payment);
      expect(verified).toMatchObject({ status: 'SUCCESS', txFeePayer: 'PLATFORM', commissionFeePayer: 'PLATFORM', commissionFee: '1' });
      expect(Number(verified.txFee)).toBeGreaterThan(0);
      const [accrued] = await sql()`select trim_scale(coins)::text as coins, billing from accruals where payment_id = ${payment.id}`;
      expect(accrued).toEqual({ coins: String(Number(verified.txFee) + 1), billing });
      expect(Number(await expense())).toBeCloseTo(spentBefore - Number(verified.txFee) - 1, 6);
      const [credit] = await sql()`select trim_scale(net)::text as net from credits where payment_id = ${payment.id}`;
      expect(credit).toEqual({ net: '100' });
      expect((await listBalances(shop.world.deps, { gateway: shop.gateway })).items[0]?.totalPendingAvailable).toMatch(/00$/);
    },
  );

  it('are invoiced to the gateway of the payment by the arrangement it was created under, whatever the gateway has by now', async () => {
    const payment = await monthly.create();
    await monthly.select(payment, 'USDT');
    await sql()`update gateways set billing = 'PLATFORM' where id = ${monthly.gateway.id}`;
    await monthly.receive(payment, 'USDT', '100');
    expect((await sql()`select billing from accruals where payment_id = ${payment.id}`)[0]).toEqual({ billing: 'MONTHLY' });
    await shops.world.advance(32 * 86_400);
    await closeMonths(shops.world.deps);
    const { items } = await listInvoicesForOperator(sql(), { gatewayId: null, month: null, limit: 10, offset: 0 });
    expect(items.map((invoice) => [invoice.gatewayId, invoice.lineCount])).toEqual([[monthly.gateway.id, 3]]);
    const { data } = await showExpenses(shops.world.deps, { params: {}, query: { billing: 'PLATFORM' }, body: undefined });
    expect((data as { items: object[] }).items).toMatchObject([{ gatewayId: platform.gateway.id, assetSymbol: 'USDT', lineCount: 1 }]);
    const { data: all } = await showExpenses(shops.world.deps, { params: {}, query: { limit: 1 }, body: undefined });
    expect(all).toMatchObject({ items: [{}], pagination: { total: 2, hasMore: true } });
    const total = await sql()`select trim_scale(sum(coins))::text as coins from accruals`;
    expect(total[0]?.coins).toBe((await expense()).replace('-', ''));
  });
});
