import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps, Gateway } from '#api/deps.ts';
import { accrueUnpriced } from '#api/billing/book-settlement-fee.ts';
import { runAudit } from '#api/audit/run-audit.ts';
import { closeMonths } from '#api/billing/close-months.ts';
import { showInvoices } from '#api/operator/invoices.ts';
import { type SettlementFeeView, settlementFeeView } from '#api/operator/settlement-fee.ts';
import { estimateFee } from '#api/settlements/estimate-fee.ts';
import { listUnpricedCashouts } from '#api/store/charges.ts';
import { deletePrice } from '#api/store/prices.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { coinsToUsd, formatAmount, parseTrusted } from '#shared/core/money.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury, type TreasuryFamily } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';

/** Where a fee in coins is quoted in tokens. */
type TokenFamily = Exclude<TreasuryFamily, 'bitcoin'>;

/** What differs between families: the native coin, its price, and somebody who has never been paid. */
const FAMILIES: Record<TokenFamily, { coin: string; priceUsd: string; stranger: string }> = {
  evm: { coin: 'ETH', priceUsd: '2000', stranger: '0x00000000000000000000000000000000cafe0077' },
  tron: { coin: 'TRX', priceUsd: '0.25', stranger: 'T9yD14Nj9j7xAB4dbGeiX9his4uQnsb8rJ' },
};

describe.each(Object.keys(FAMILIES) as TokenFamily[])('the network fee of a cashout (%s)', (family) => {
  const { coin, priceUsd, stranger } = FAMILIES[family];
  let treasury: Treasury<CommonChain>;
  let shop: Gateway;
  let monthly: Gateway;
  beforeAll(async () => {
    treasury = await aTreasuryOf(family);
    shop = await treasury.world.aGateway();
    monthly = await treasury.world.aGateway({ billing: 'MONTHLY' });
    await treasury.world.setPrice(coin, priceUsd);
    await treasury.earn(shop, 'USDT', '200');
    await treasury.earn(monthly, 'USDT', '200');
    await treasury.earn(monthly, coin, '20');
  });
  afterAll(async () => {
    try {
      await assertBooksEqualChain(treasury);
      await treasury.audit();
    } finally {
      await treasury.stop();
    }
  });

  const sql = () => treasury.world.database.sql;
  const estimate = (symbol: string, over: { amount?: string; address?: string } = {}, gateway = shop, deps = treasury.deps) =>
    estimateFee(deps, { gateway, body: { assetId: treasury.assets[symbol]?.id as string, amount: '10', address: treasury.merchant, ...over } });
  const feeOf = async (id: string): Promise<SettlementFeeView> => (await settlementFeeView(sql(), id)) as SettlementFeeView;
  const accrualOf = async (id: string) =>
    (
      await sql()`
        select a.symbol, trim_scale(r.coins)::text as coins, trim_scale(r.price_usd)::text as price, trim_scale(r.usd)::text as usd, r.billing
        from accruals r join assets a on a.id = r.asset_id where r.settlement_id = ${id}`
    )[0];
  const refused = (call: Promise<unknown>) =>
    call.then(
      () => 'quoted',
      (error: { code: string; status: number }) => [error.status, error.code],
    );

  /** Sends a cashout and stops before a block holds it. */
  const send = async (symbol: string, amount: string): Promise<string> => {
    const { id } = await treasury.cashOut(monthly, symbol, amount);
    for (let round = 0; round < 20; round++) {
      await sql()`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      const [row] = await sql()<{ status: string }[]>`select status from settlements where id = ${id}`;
      if (row?.status === 'PROCESSING') return id;
      await treasury.mine();
    }
    throw new Error(`${id} was not sent`);
  };

  /** Deps whose node cannot be reached. */
  const dark = (): Deps => {
    const [name, chain] = [...treasury.deps.chains][0] as [string, NonNullable<ReturnType<Deps['chains']['get']>>];
    const down = async (): Promise<never> => {
      throw new ChainUnavailable('no endpoint answers');
    };
    return { ...treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, estimate: down } }]]) };
  };

  it('is quoted with a negative net where the amount does not cover it, and for free to a monthly-billed gateway even with the node down', async () => {
    for (const symbol of ['USDT', coin]) {
      const small = await estimate(symbol, { amount: '0.000001' });
      expect([small.sufficient, small.netAmount.startsWith('-')]).toEqual([false, true]);
      expect(parseTrusted(small.netAmount) + parseTrusted(small.feeLocked)).toBe(parseTrusted('0.000001'));
    }
    expect(await estimate('USDT', {}, monthly, dark())).toMatchObject({ feeLocked: '0', netAmount: '10', sufficient: true });
    expect(parseTrusted((await estimate(coin, {}, monthly)).feeLocked)).toBeGreaterThan(0n);
    expect(await sql()`select 1 from settlements`).toHaveLength(0);
    expect(await sql()`select 1 from address_book`).toHaveLength(0);
  });

  it('cannot be quoted while the node or a price cannot be had: 503, and nothing is created', async () => {
    for (const symbol of ['USDT', coin]) expect(await refused(estimate(symbol, {}, shop, dark()))).toEqual([503, 'fee_estimation_unavailable']);
    for (const missing of ['USDT', coin]) {
      await treasury.deps.db.transaction((tx) => deletePrice(tx, missing));
      expect([missing, await refused(estimate('USDT'))]).toEqual([missing, [503, 'fee_estimation_unavailable']]);
      await treasury.world.setPrice(missing, missing === coin ? priceUsd : '1');
    }
    expect(await sql()`select 1 from settlements`).toHaveLength(0);
  });

  it('that was locked is compared with what the transaction really cost, for the operator', async () => {
    const settled = await treasury.cashOut(shop, 'USDT', '50');
    expect(await settlementFeeView(sql(), settled.id)).toBeNull();
    await treasury.settleAll();
    const [payout] = await sql()<{ raw: string }[]>`select raw_fee::text as raw from payouts where settlement_id = ${settled.id} and purpose = 'settlement'`;
    const actual = formatAmount((BigInt(payout?.raw ?? '0') * 10n ** 18n) / 10n ** BigInt(treasury.assets[coin]?.decimals ?? 18));
    const fee = await feeOf(settled.id);
    const actualUsd = coinsToUsd(parseTrusted(actual), parseTrusted(priceUsd), 'half-up');
    expect(fee).toMatchObject({
      payer: 'MERCHANT',
      lockedAsset: 'USDT',
      locked: settled.feeLocked,
      lockedUsd: settled.feeLocked,
      nativeAsset: coin,
      actualNative: actual,
      actualUsd: formatAmount(actualUsd),
      differenceUsd: formatAmount(parseTrusted(settled.feeLocked) - actualUsd),
    });
    expect(parseTrusted(actual)).toBeGreaterThan(0n);
    expect(fee.prices.map((price) => [price.symbol, price.usd, price.ageSeconds])).toEqual([
      ['USDT', '1', 0],
      [coin, priceUsd, 0],
    ]);
    expect(await accrualOf(settled.id)).toBeUndefined();
  });

  it('of a token is free to a monthly-billed gateway, and its actual cost is accrued at the price when it settles, as an expense of the platform', async () => {
    const free = await treasury.cashOut(monthly, 'USDT', '40');
    expect(free).toMatchObject({ feeLocked: '0', netAmount: '40' });
    await treasury.world.setPrice(coin, '3');
    await treasury.settleAll();
    await treasury.world.setPrice(coin, priceUsd);
    const fee = await feeOf(free.id);
    expect(fee).toMatchObject({ payer: 'PLATFORM', locked: '0', lockedNative: '0', differenceNative: `-${fee.actualNative}` });
    const usd = formatAmount(coinsToUsd(parseTrusted(fee.actualNative), parseTrusted('3'), 'half-up'));
    expect(await accrualOf(free.id)).toEqual({ symbol: coin, coins: fee.actualNative, price: '3', usd, billing: 'MONTHLY' });
    const [row] = await sql()<{ received: string }[]>`select trim_scale(received_amount)::text as received from settlements where id = ${free.id}`;
    expect(row?.received).toBe('40');
  });

  it('of a native coin is paid by a monthly-billed gateway like by any other', async () => {
    const settled = await treasury.cashOut(monthly, coin, '5');
    expect(parseTrusted(settled.feeLocked)).toBeGreaterThan(0n);
    await treasury.settleAll();
    expect(await feeOf(settled.id)).toMatchObject({ payer: 'MERCHANT', lockedNative: settled.feeLocked, locked: settled.feeLocked });
    expect(await accrualOf(settled.id)).toBeUndefined();
  });

  it('is accrued at the last price there is when none is fresh, with its age, and at the first one when there never was any', async () => {
    const old = await send('USDT', '10');
    await sql()`update prices set source = 'a,b,c', at = sluice_now() - interval '3 hours' where symbol = ${coin}`;
    await treasury.mine(3);
    const fee = await feeOf(old);
    expect(fee.prices.find((price) => price.symbol === coin)?.ageSeconds).toBeGreaterThanOrEqual(10_800);
    expect(await accrualOf(old)).toMatchObject({ coins: fee.actualNative, price: priceUsd });

    await treasury.world.setPrice(coin, priceUsd);
    const unpriced = await send('USDT', '10');
    await treasury.deps.db.transaction((tx) => deletePrice(tx, coin));
    await treasury.mine(3);
    expect(await feeOf(unpriced)).toMatchObject({ actualUsd: null, differenceUsd: null });
    expect([await accrualOf(unpriced), await accrueUnpriced(treasury.deps)]).toEqual([undefined, 0]);
    await treasury.audit();
    await treasury.world.setPrice(coin, '7');
    expect(await Promise.all([accrueUnpriced(treasury.deps), accrueUnpriced(treasury.deps)]).then((moved) => moved.sort())).toEqual([0, 1]);
    expect(await accrualOf(unpriced)).toMatchObject({ coins: (await feeOf(unpriced)).actualNative, price: '7' });
    await treasury.world.setPrice(coin, priceUsd);
  });

  it('that cannot be accrued keeps neither the next one nor the invoices of anybody waiting', async () => {
    const odd = await send('USDT', '10');
    const next = await send('USDT', '10');
    await treasury.deps.db.transaction((tx) => deletePrice(tx, coin));
    await treasury.mine(3);
    expect([await accrualOf(odd), await accrualOf(next)]).toEqual([undefined, undefined]);
    await treasury.world.setPrice(coin, priceUsd);
    await sql().unsafe(`
      create function refuse_odd() returns trigger language plpgsql as $$ begin raise exception 'it is odd'; end $$;
      create trigger odd before insert on accruals for each row when (new.settlement_id = '${odd}') execute function refuse_odd()`);
    try {
      expect(await closeMonths(treasury.deps)).toBe(0);
      expect([await accrualOf(odd), await accrualOf(next)]).toEqual([undefined, expect.objectContaining({ price: priceUsd })]);
    } finally {
      await sql().unsafe('drop trigger odd on accruals; drop function refuse_odd()');
    }
    expect(await accrueUnpriced(treasury.deps)).toBe(1);
  });

  it('that has no price yet takes no place of one that has, however many there are', async () => {
    const settled = await send('USDT', '10');
    await treasury.deps.db.transaction((tx) => deletePrice(tx, coin));
    await treasury.mine(3);
    expect(await listUnpricedCashouts(sql(), { except: null })).toEqual([]);
    await treasury.world.setPrice(coin, priceUsd);
    expect(await listUnpricedCashouts(sql(), { except: null })).toMatchObject([{ settlementId: settled }]);
    expect(await listUnpricedCashouts(sql(), { except: 'static' })).toEqual([]);
    expect(await accrueUnpriced(treasury.deps)).toBe(1);
  });

  it('depends on who is paid: somebody who has nothing yet costs more', async () => {
    for (const symbol of family === 'tron' ? ['USDT', coin] : ['USDT']) {
      const [known, unknown] = [await estimate(symbol, { address: treasury.merchant }), await estimate(symbol, { address: stranger })];
      expect([symbol, parseTrusted(unknown.feeLocked) > parseTrusted(known.feeLocked)]).toEqual([symbol, true]);
    }
  });

  it('is missed by the audit where it is not booked as it was, or not accrued', async () => {
    const violated = async () => (await runAudit(sql())).filter((one) => one.rows.length > 0).map((one) => one.check);
    for (const [table, change, back] of [
      ['settlement_fees', 'actual = actual + 0.000001', 'actual = actual - 0.000001'],
      ['settlements', "fee_payer = 'MERCHANT'", "fee_payer = 'PLATFORM'"],
    ] as const) {
      const tamper = (to: string, where: string) =>
        sql().unsafe(`alter table ${table} disable trigger user; update ${table} set ${to} where ${where}; alter table ${table} enable trigger user`);
      const where = table === 'settlements' ? "status = 'SETTLED' and fee_payer = 'PLATFORM'" : 'locked = 0';
      await tamper(change, where);
      expect([table, await violated()]).toEqual([table, ['A17']]);
      await tamper(back, table === 'settlements' ? 'fee_locked = 0' : where);
    }
  });

  it('that the platform paid in a month is on its invoice, line by line with what the payments cost', async () => {
    const [accrued] = await sql()<
      { usd: string; count: number }[]
    >`select trim_scale(sum(usd))::text as usd, count(*) as count from accruals where gateway_id = ${monthly.id}`;
    await treasury.world.advance(32 * 86_400);
    await closeMonths(treasury.deps);
    const { data } = await showInvoices(treasury.deps, { params: {}, query: { gatewayId: monthly.id }, body: undefined });
    const [invoice] = (data as { items: { totalUsd: string; lineCount: number; lines: { kind: string }[] }[] }).items;
    expect(invoice).toMatchObject({ totalUsd: accrued?.usd, lineCount: accrued?.count });
    expect(invoice?.lines.filter((line) => line.kind === 'settlement')).toHaveLength(6);
    expect(invoice?.lines.filter((line) => line.kind === 'payment')).toHaveLength(2);
    const { data: others } = await showInvoices(treasury.deps, { params: {}, query: { gatewayId: shop.id }, body: undefined });
    expect((others as { items: unknown[] }).items).toEqual([]);
  });
});
