import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { type Books, type BooksAsset, type PaymentOptions, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

let books: Books;
let payment: TestPayment;

const units = (asset: BooksAsset, coins: string): bigint => parseTrusted<'asset'>(coins) / 10n ** BigInt(18 - asset.decimals);
const send = (asset: BooksAsset, coins: string, over: Partial<Transfer> = {}) => books.chain.transfer(payment.address, asset, units(asset, coins), over);
const usdt = (coins: string, over: Partial<Transfer> = {}) => send(books.assets.USDT, coins, over);
const credit = () => creditFinalDeposits(books.deps, books.network.id);
/** Mines one block with the transfers, makes it final and books it. */
const pay = async (...transfers: Transfer[]): Promise<void> => {
  await books.chain.mine(transfers);
  await books.chain.mine();
  await credit();
};
const row = async () => (await books.db.sql`select * from payments where id = ${payment.id}`)[0] as Record<string, string | null>;
const webhooks = async () =>
  (await books.db.sql`select status from webhook_events where payment_id = ${payment.id} order by created_at`).map((event) => event.status);
const deposits = () => books.db.sql`select state, path, amount::text from deposits where payment_id = ${payment.id} order by height, position, ordinal`;
const credits = () =>
  books.db.sql`select gross::text, network_fee::text, commission::text, net::text from credits where payment_id = ${payment.id} order by credited_at, gross`;
const events = async () =>
  (await books.db.sql`select facts from payment_events where payment_id = ${payment.id} and event = 'DEPOSIT_CONFIRMED'`).map((one) => one.facts);
const pass = (seconds: number) => books.db.sql`update clock_offset set seconds = seconds + ${seconds}`;
/** Service time of a block mined now. */
const serviceTime = async () => (await books.db.sql<[{ now: Date }]>`select sluice_now() as now`)[0].now;
const setPrice = (symbol: string, usd: string) => books.prices.set(symbol, parseTrusted(usd));

function ownBooks(): void {
  beforeEach(async () => {
    books = await someBooks();
  });
  afterEach(async () => {
    await assertCleanAudit(books.db);
    await books.drop();
  });
}

function sharedBooks(): void {
  beforeAll(async () => {
    books = await someBooks();
  });
  beforeEach(() => {
    setPrice('ETH', '2000');
    setPrice('USDT', '1');
    setPrice('USDC', '1');
  });
  afterEach(() => assertCleanAudit(books.db));
  afterAll(() => books.drop());
}

describe('contract 3.1 row 4, fixed amount: the tolerance check of decisions 3', () => {
  sharedBooks();
  const absolute = { over: '2', under: '3', toleranceKind: 'ABSOLUTE' } as const;
  const percentage = { over: '1', under: '2', toleranceKind: 'PERCENTAGE' } as const;
  const cases: [string, PaymentOptions, string, string, string, string][] = [
    ['exactly totalValue', {}, '100', 'SUCCESS', '0', 'exact_total_value'],
    ['one unit over, below half a cent', {}, '100.000001', 'SUCCESS', '0', 'no_deviation'],
    ['a cent over without tolerance', {}, '100.01', 'MISMATCH', '0.01', 'outside_tolerance'],
    ['a cent under without tolerance', {}, '99.99', 'MISMATCH', '-0.01', 'outside_tolerance'],
    ['ABSOLUTE, inside over', absolute, '101.99', 'ACCEPTABLE', '1.99', 'within_over_tolerance'],
    ['ABSOLUTE, at over', absolute, '102', 'ACCEPTABLE', '2', 'within_over_tolerance'],
    ['ABSOLUTE, half a cent beyond over', absolute, '102.005', 'MISMATCH', '2.01', 'outside_tolerance'],
    ['ABSOLUTE, outside over', absolute, '102.01', 'MISMATCH', '2.01', 'outside_tolerance'],
    ['ABSOLUTE, inside under', absolute, '97.01', 'ACCEPTABLE', '-2.99', 'within_under_tolerance'],
    ['ABSOLUTE, at under', absolute, '97', 'ACCEPTABLE', '-3', 'within_under_tolerance'],
    ['ABSOLUTE, outside under', absolute, '96.99', 'MISMATCH', '-3.01', 'outside_tolerance'],
    ['PERCENTAGE, inside over', percentage, '100.99', 'ACCEPTABLE', '0.99', 'within_over_tolerance'],
    ['PERCENTAGE, at over', percentage, '101', 'ACCEPTABLE', '1', 'within_over_tolerance'],
    ['PERCENTAGE, outside over', percentage, '101.01', 'MISMATCH', '1.01', 'outside_tolerance'],
    ['PERCENTAGE, inside under', percentage, '98.01', 'ACCEPTABLE', '-1.99', 'within_under_tolerance'],
    ['PERCENTAGE, at under', percentage, '98', 'ACCEPTABLE', '-2', 'within_under_tolerance'],
    ['PERCENTAGE, outside under', percentage, '97.99', 'MISMATCH', '-2.01', 'outside_tolerance'],
    ['a zero tolerance', { over: '0', under: '0' }, '99.99', 'MISMATCH', '-0.01', 'outside_tolerance'],
    ['a negative tolerance means none', { over: '-1', under: '-1' }, '100.01', 'MISMATCH', '0.01', 'outside_tolerance'],
    ['the example of decisions 3', { under: '1', toleranceKind: 'PERCENTAGE' }, '99', 'ACCEPTABLE', '-1', 'within_under_tolerance'],
    ['the example of decisions 3', { under: '1', toleranceKind: 'PERCENTAGE' }, '98.99', 'MISMATCH', '-1.01', 'outside_tolerance'],
  ];
  it.each(cases.map(([name, options, sent, status, deviation, rule]) => ({ name, options, sent, status, deviation, rule })))(
    'contract 3.1: $name: $sent of 100 is $status by $deviation',
    async ({ options, sent, status, deviation, rule }) => {
      payment = await books.aPayment(options);
      await pay(usdt(sent));
      expect(await row()).toMatchObject({ status, deviationUsd: deviation, receivedAmount: sent, expectedUsd: '100', depositPath: 'standard' });
      expect(await webhooks()).toEqual([status]);
      expect(await events()).toMatchObject([{ rule, priceKind: 'locked', price: '1', priceSource: 'static', confirmations: 2, finality: { blocks: 2 } }]);
      expect(await credits()).toMatchObject([{ gross: sent }]);
    },
  );

  it('contract 3.1: exactly totalValue is SUCCESS before any USD arithmetic, whatever a coin costs', async () => {
    payment = await books.aPayment({ assetId: books.assets.ETH.id, total: '0.033333333333333334', priceUsd: '3000' });
    await pay(send(books.assets.ETH, '0.033333333333333334'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', deviationUsd: '0' });
  });

  it('decisions 3: below one cent expected, any difference counts and no tolerance helps', async () => {
    payment = await books.aPayment({ total: '0.02', priceUsd: '0.4', over: '5', under: '5' });
    await pay(usdt('0.020001'));
    expect(await row()).toMatchObject({ status: 'MISMATCH' });
  });
});

describe('contract 3.1 row 1, checkAmountDeviation is false', () => {
  sharedBooks();
  it.each(['0.01', '99.99', '100', '100.01', '5000'])('contract 3.1: any amount (%s of 100) is SUCCESS and its deviation is still told', async (sent) => {
    payment = await books.aPayment({ checkAmountDeviation: false, over: '1', under: '1' });
    await pay(usdt(sent));
    expect(await row()).toMatchObject({ status: 'SUCCESS', deviationUsd: formatAmount(parseTrusted(sent) - parseTrusted('100')) });
    expect(await webhooks()).toEqual(['SUCCESS']);
    expect(await events()).toMatchObject([{ rule: sent === '100' ? 'exact_total_value' : 'deviation_not_checked' }]);
  });
});

describe('contract 3.1 rows 2 and 3, open amounts', () => {
  sharedBooks();
  const open = { openAmountFrom: '25', over: '100', under: '100', toleranceKind: 'ABSOLUTE' } as const;
  it.each([
    ['25', 'SUCCESS', '25.00', null],
    ['25.01', 'SUCCESS', '25.01', null],
    ['24.995', 'SUCCESS', '25.00', null],
    ['24.994999', 'MISMATCH', '25.00', '-0.01'],
    ['24.99', 'MISMATCH', '25.00', '-0.01'],
    ['1', 'MISMATCH', '25.00', '-24'],
    ['100000', 'SUCCESS', '100000.00', null],
  ])('contract 3.1, 2.7: %s USD against a minimum of 25 is %s, never ACCEPTABLE; amount reads %s', async (sent, status, amount, deviation) => {
    payment = await books.aPayment(open);
    await pay(usdt(sent));
    expect(await row()).toMatchObject({
      status,
      amount,
      amountUsd: formatAmount(parseTrusted(amount)),
      expectedUsd: '25',
      deviationUsd: deviation,
      receivedAmount: sent,
    });
    expect(await webhooks()).toEqual([status]);
    expect(await events()).toMatchObject([
      { rule: status === 'SUCCESS' ? 'open_amount_minimum_met' : 'open_amount_below_minimum', priceKind: 'market', amount },
    ]);
    expect(await credits()).toMatchObject([{ gross: sent }]);
  });

  it('contract 4.1: is valued at the market price of the confirmation, whatever an offer said', async () => {
    payment = await books.aPayment({ ...open, assetId: books.assets.ETH.id, priceUsd: '5000' });
    await pay(send(books.assets.ETH, '0.0125'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', amount: '25.00', amountUsd: '25', receivedAmountUsd: '25' });
  });

  it('contract 4.1: there is no second chance to top up a MISMATCH, and the top-up is credited', async () => {
    payment = await books.aPayment(open);
    await pay(usdt('10'));
    await pay(usdt('40'));
    expect(await row()).toMatchObject({ status: 'MISMATCH', amount: '25.00', receivedAmount: '10' });
    expect(await webhooks()).toEqual(['MISMATCH']);
    expect(await credits()).toMatchObject([{ gross: '10' }, { gross: '40' }]);
  });

  it('decisions 3: is judged without any selected offer, too', async () => {
    payment = await books.aPayment({ ...open, unselected: true });
    await pay(usdt('30'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', amount: '30.00' });
  });

  it('contract 4.1: fills the amount in the display currency at the rate of that moment, half-up to two decimals', async () => {
    await books.db.sql`insert into currencies (code) values ('EUR') on conflict do nothing`;
    setPrice('fiat:EUR', '1.07');
    payment = await books.aPayment({ ...open, currency: 'EUR' });
    await pay(usdt('30'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', amount: '28.04', amountUsd: '30' });
    expect(await events()).toMatchObject([{ fiatRate: '1.07', fiatSource: 'static', amount: '28.04' }]);
  });

  it('contract 4.1: waits for that rate as for a price, and then resolves', async () => {
    books.prices.delete('fiat:EUR');
    payment = await books.aPayment({ ...open, currency: 'EUR' });
    await pay(usdt('30'));
    expect(await row()).toMatchObject({ status: 'PENDING', amount: '0' });
    setPrice('fiat:EUR', '1');
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', amount: '30.00' });
  });

  it('decisions 11: takes commission in the asset at the price of the confirmation, the minimum in dollars', async () => {
    payment = await books.aPayment({ ...open, assetId: books.assets.ETH.id, commissionBps: 100, commissionMinimumUsd: '2', networkFee: '0' });
    await pay(send(books.assets.ETH, '0.05'));
    expect(await credits()).toEqual([{ gross: '0.05', networkFee: '0', commission: '0.001', net: '0.049' }]);
  });
});

describe('contract 3.1 row 5, the deadline passes unpaid', () => {
  ownBooks();
  it('contract 3.1: it expires once, with one webhook, and nothing is credited', async () => {
    payment = await books.aPayment({ expiresIn: 60 });
    expect(await expireDuePayments(books.deps)).toBe(0);
    await pass(20 * 60);
    expect(await expireDuePayments(books.deps)).toBe(1);
    expect(await expireDuePayments(books.deps)).toBe(0);
    expect(await row()).toMatchObject({ status: 'EXPIRED', depositPath: null });
    expect(await webhooks()).toEqual(['EXPIRED']);
  });

  it('decisions 4: a live sighting from before the deadline keeps it PENDING until it confirms late, at the locked price', async () => {
    payment = await books.aPayment({ expiresIn: 60 });
    await books.chain.mine([usdt('100')]);
    await pass(20 * 60);
    expect(await expireDuePayments(books.deps)).toBe(0);
    setPrice('USDT', '0.5');
    await books.chain.mine();
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'late_confirmation', receivedAmountUsd: '50', deviationUsd: '0' });
    expect(await webhooks()).toEqual(['SUCCESS']);
  });

  it('decisions 4: a sighting that a reorganisation drops lets it expire', async () => {
    payment = await books.aPayment({ expiresIn: 60 });
    await books.chain.mine();
    await books.chain.mine([usdt('100')]);
    await pass(20 * 60);
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mineEmpty(2);
    expect(await expireDuePayments(books.deps)).toBe(1);
    expect(await row()).toMatchObject({ status: 'EXPIRED' });
  });
});

describe('contract 3.1 row 6, a late deposit inside the grace period', () => {
  ownBooks();
  const expired = async (options: PaymentOptions): Promise<void> => {
    payment = await books.aPayment({ expiresIn: 60, ...options });
    await pass(20 * 60);
    expect(await expireDuePayments(books.deps)).toBe(1);
  };
  const mineAt = async (time: Date, ...transfers: Transfer[]): Promise<void> => {
    await books.chain.mine(transfers, { time });
    await books.chain.mine([], { time });
    await credit();
  };

  it.each([
    ['100', 'SUCCESS'],
    ['99', 'ACCEPTABLE'],
    ['98.99', 'MISMATCH'],
  ])('contract 3.1: %s is captured as %s at the market price, with a second webhook', async (sent, status) => {
    await expired({ under: '1' });
    await mineAt(await serviceTime(), usdt(sent));
    expect(await row()).toMatchObject({ status, depositPath: 'late_capture' });
    expect(await webhooks()).toEqual(['EXPIRED', status]);
    expect(await events()).toMatchObject([{ priceKind: 'market' }]);
  });

  it('decisions 3: one mined before the deadline and found after it is judged at the locked price', async () => {
    payment = await books.aPayment({ expiresIn: 60 });
    const inTime = new Date();
    await pass(20 * 60);
    await expireDuePayments(books.deps);
    setPrice('USDT', '0.5');
    await mineAt(inTime, usdt('100'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'late_capture', deviationUsd: '0' });
    expect(await webhooks()).toEqual(['EXPIRED', 'SUCCESS']);
  });

  it('decisions 4: at the last second of the grace period it is captured, a second later it is unallocated', async () => {
    await expired({ graceSeconds: 3_600 });
    const [{ end }] = await books.db.sql<
      [{ end: Date }]
    >`select date_trunc('second', expires_at + interval '3600 seconds') as end from payments where id = ${payment.id}`;
    await pass(7_200);
    await mineAt(new Date(end.getTime() + 1_000), usdt('100'));
    expect(await row()).toMatchObject({ status: 'EXPIRED' });
    expect(await deposits()).toMatchObject([{ state: 'unallocated' }]);
    await mineAt(end, usdt('100'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'late_capture' });
    expect(await webhooks()).toEqual(['EXPIRED', 'SUCCESS']);
  });

  it('decisions 4: after the grace period it is unallocated: no status, no webhook, nothing credited, nothing lost', async () => {
    await expired({ graceSeconds: 0 });
    await mineAt(await serviceTime(), usdt('100'));
    expect(await row()).toMatchObject({ status: 'EXPIRED' });
    expect(await webhooks()).toEqual(['EXPIRED']);
    expect(await credits()).toEqual([]);
    expect(await books.db.sql`select balance::text from ledger_accounts where kind = 'unallocated'`).toEqual([{ balance: '100' }]);
  });

  it('decisions 4: a further deposit first seen after the deadline is a late capture, whatever decided before it', async () => {
    payment = await books.aPayment({ expiresIn: 60 });
    await mineAt(await serviceTime(), usdt('100'));
    await mineAt(await serviceTime(), usdt('3'));
    await pass(3_600);
    await mineAt(await serviceTime(), usdt('7'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'standard', receivedAmount: '100' });
    expect((await deposits()).map(({ amount, path }) => [amount, path])).toEqual([
      ['100', 'standard'],
      ['3', 'standard'],
      ['7', 'late_capture'],
    ]);
  });

  it('contract 6: a payment resolves only once: a second late deposit sends nothing', async () => {
    await expired({});
    await mineAt(await serviceTime(), usdt('100'));
    await mineAt(await serviceTime(), usdt('7'));
    expect(await webhooks()).toEqual(['EXPIRED', 'SUCCESS']);
    expect(await row()).toMatchObject({ receivedAmount: '100' });
    expect(await credits()).toHaveLength(2);
  });
});

describe('contract 3.1 row 7, a wrong asset', () => {
  sharedBooks();
  it('contract 3.1: offered but not selected, it is valued at its own market price against the selected offer', async () => {
    payment = await books.aPayment({ moreOffers: [{ asset: books.assets.ETH, total: '0.04', priceUsd: '2500', selected: false }] });
    await pay(send(books.assets.ETH, '0.05'));
    expect(await row()).toMatchObject({
      status: 'SUCCESS',
      receivedAssetId: books.assets.ETH.id,
      receivedAmount: '0.05',
      expectedUsd: '100',
      judgingOfferId: payment.offerId,
    });
    expect(await events()).toMatchObject([{ priceKind: 'market', price: '2000' }]);
  });

  it('contract 3.1, 2.9: never offered, it resolves and is credited in the asset that arrived', async () => {
    payment = await books.aPayment({ under: '1' });
    setPrice('USDC', '0.99');
    await pay(send(books.assets.USDC, '100'));
    expect(await row()).toMatchObject({ status: 'ACCEPTABLE', receivedAssetId: books.assets.USDC.id, receivedAmountUsd: '99', deviationUsd: '-1' });
    expect(await books.db.sql`select asset_id from credits where payment_id = ${payment.id}`).toEqual([{ assetId: books.assets.USDC.id }]);
  });

  it('decisions 3: selected earlier, it is no wrong asset: its own offer judges at its locked price', async () => {
    payment = await books.aPayment({ moreOffers: [{ asset: books.assets.ETH, total: '0.04', priceUsd: '2500', selected: true }] });
    setPrice('USDT', '0.5');
    await pay(usdt('100'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', judgingOfferId: payment.offerId, deviationUsd: '0' });
    expect(await events()).toMatchObject([{ rule: 'exact_total_value', priceKind: 'locked' }]);
  });

  it('decisions 3: with two selected, a third asset is judged against the last one selected', async () => {
    payment = await books.aPayment({ total: '100', moreOffers: [{ asset: books.assets.ETH, total: '0.06', priceUsd: '2000', selected: true }] });
    await pay(send(books.assets.USDC, '100'));
    expect(await row()).toMatchObject({ status: 'MISMATCH', expectedUsd: '120', deviationUsd: '-20' });
  });

  it('decisions 3: two assets in one block on one address: the first in the block decides, the other is credited', async () => {
    payment = await books.aPayment();
    await pay(send(books.assets.ETH, '0.05', { position: 4 }), usdt('100', { position: 9 }));
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAssetId: books.assets.ETH.id });
    expect(await deposits()).toMatchObject([{ state: 'credited' }, { state: 'credited' }]);
    expect(await webhooks()).toEqual(['SUCCESS']);
  });
});

describe('decisions 3, additional deposits, dust and nothing', () => {
  sharedBooks();
  it('decisions 3: transfers of the same asset in the same block are summed and decide together', async () => {
    payment = await books.aPayment();
    await pay(usdt('30'), usdt('30'), usdt('40'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAmount: '100' });
    expect(await credits()).toEqual([{ gross: '100', networkFee: '0.5', commission: '0', net: '99.5' }]);
  });

  it('decisions 3: one of a later block is credited and listed, and changes neither status nor webhook', async () => {
    payment = await books.aPayment();
    await books.chain.mine([usdt('60')]);
    await pay(usdt('40'));
    expect(await row()).toMatchObject({ status: 'MISMATCH', receivedAmount: '60' });
    expect(await deposits()).toMatchObject([
      { state: 'credited', amount: '60' },
      { state: 'credited', amount: '40' },
    ]);
    expect(await webhooks()).toEqual(['MISMATCH']);
  });

  it('decisions 3: dust is recorded, resolves nothing, raises no webhook', async () => {
    payment = await books.aPayment({ checkAmountDeviation: false });
    await pay(usdt('0.009999'));
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await deposits()).toMatchObject([{ state: 'dust' }]);
    await pay(usdt('0.01'));
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAmount: '0.01' });
  });

  it('decisions 3: dust is not summed with what arrives beside it', async () => {
    payment = await books.aPayment();
    await pay(usdt('99.995'), usdt('0.005'));
    expect(await row()).toMatchObject({ receivedAmount: '99.995' });
    expect(await deposits()).toMatchObject([{ state: 'credited' }, { state: 'dust' }]);
  });

  it('decisions 3: a zero amount is ignored', async () => {
    payment = await books.aPayment({ checkAmountDeviation: false });
    await pay(usdt('0'));
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await deposits()).toEqual([]);
  });

  it('decisions 4, architecture 3.2: on a network that was not selected it is unallocated, even of an offered symbol', async () => {
    payment = await books.aPayment();
    await books.otherChain.mine([books.otherChain.transfer(payment.address, books.otherUsdt, 100_000_000n)]);
    await books.otherChain.mine();
    await creditFinalDeposits(books.deps, books.otherNetwork.id);
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await deposits()).toMatchObject([{ state: 'unallocated' }]);
    expect(await webhooks()).toEqual([]);
  });
});

describe('decisions 3, a price outage between deposit and judgement', () => {
  ownBooks();
  it('decisions 3: it stays PENDING, does not expire meanwhile, and the first fresh price resolves it; nothing is lost', async () => {
    payment = await books.aPayment({ expiresIn: 60 });
    books.prices.delete('ETH');
    await pay(send(books.assets.ETH, '0.05'));
    await pass(3_600);
    await credit();
    expect(await expireDuePayments(books.deps)).toBe(0);
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await webhooks()).toEqual([]);
    setPrice('ETH', '1000');
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({ status: 'MISMATCH', receivedAmountUsd: '50', depositPath: 'late_confirmation' });
    expect(await webhooks()).toEqual(['MISMATCH']);
  });

  it('decisions 3: the alert comes five minutes after it became final, not after it was seen', async () => {
    payment = await books.aPayment();
    books.prices.delete('ETH');
    const [warn, error] = [vi.spyOn(books.deps.log, 'warn'), vi.spyOn(books.deps.log, 'error')];
    await books.chain.mine([send(books.assets.ETH, '0.05')]);
    await pass(3_600);
    await books.chain.mine();
    await credit();
    await pass(290);
    await credit();
    expect([warn.mock.calls.length, error.mock.calls.length]).toEqual([2, 0]);
    await pass(10);
    await credit();
    expect(error.mock.calls).toMatchObject([[{ paymentId: payment.id, symbol: 'ETH' }, expect.stringContaining('waits for a fresh price')]]);
    const [said] = error.mock.calls.map((call) => call[0] as unknown as { waitedMs: number });
    expect(said?.waitedMs).toBeLessThan(310_000);
  });

  it('decisions 3: an additional deposit waits for its price as well, and is credited with the first one', async () => {
    payment = await books.aPayment();
    await pay(usdt('100'));
    books.prices.delete('ETH');
    await pay(send(books.assets.ETH, '0.01'));
    expect(await deposits()).toMatchObject([{ state: 'credited' }, { state: 'seen' }]);
    setPrice('ETH', '2000');
    await credit();
    expect(await deposits()).toMatchObject([{ state: 'credited' }, { state: 'credited' }]);
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAmount: '100' });
  });

  it('decisions 3: an additional deposit that waits keeps no other from being credited', async () => {
    payment = await books.aPayment();
    await pay(usdt('100'));
    books.prices.delete('ETH');
    await pay(send(books.assets.ETH, '0.01'));
    await pay(usdt('7'));
    expect(await deposits()).toMatchObject([{ state: 'credited' }, { state: 'seen' }, { state: 'credited' }]);
  });

  it('decisions 3: what waits is dropped by a reorganisation like any other, and its wait starts anew', async () => {
    await books.drop();
    books = await someBooks({ finality: { resolve: [{ rule: { blocks: 1 } }], mature: { tag: 'finalized' } } });
    payment = await books.aPayment();
    books.prices.delete('ETH');
    await books.chain.mine();
    const transfer = send(books.assets.ETH, '0.05');
    await books.chain.mine([transfer]);
    await credit();
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mine();
    expect(await books.db.sql`select state, waits_since from deposits`).toEqual([{ state: 'dropped', waitsSince: null }]);
    await books.chain.mine([transfer]);
    setPrice('ETH', '2000');
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS' });
  });
});

describe('decisions 11, who bears which fee', () => {
  sharedBooks();
  const fee = { commissionBps: 100, networkFee: '0.5' };
  const customer = { total: '101.5', offerFees: { txFee: '0.5', commissionFee: '1' } };
  const cases: [string, PaymentOptions, string, { networkFee: string; commission: string; net: string }, string | null][] = [
    ['MERCHANT both', { ...fee }, '100', { networkFee: '0.5', commission: '1', net: '98.5' }, null],
    ['CUSTOMER both, exactly totalValue', { ...fee, ...customer, feePayer: 'CUSTOMER' }, '101.5', { networkFee: '0.5', commission: '1', net: '100' }, null],
    ['CUSTOMER both, underpaid', { ...fee, ...customer, feePayer: 'CUSTOMER' }, '51', { networkFee: '0.5', commission: '0.5', net: '50' }, null],
    [
      'CUSTOMER network, MERCHANT commission',
      { ...fee, txFeePayer: 'CUSTOMER', total: '100.5', offerFees: { txFee: '0.5', commissionFee: '0' } },
      '100.5',
      { networkFee: '0.5', commission: '1.005', net: '98.995' },
      null,
    ],
    [
      'MERCHANT network, CUSTOMER commission',
      { ...fee, commissionFeePayer: 'CUSTOMER', total: '101', offerFees: { txFee: '0', commissionFee: '1' } },
      '101',
      { networkFee: '0.5', commission: '1', net: '99.5' },
      null,
    ],
    ['PLATFORM both', { ...fee, feePayer: 'PLATFORM' }, '100', { networkFee: '0.5', commission: '1', net: '100' }, '1.5'],
    ['PLATFORM network, MERCHANT commission', { ...fee, txFeePayer: 'PLATFORM' }, '100', { networkFee: '0.5', commission: '1', net: '99' }, '0.5'],
    ['PLATFORM commission, MERCHANT network', { ...fee, commissionFeePayer: 'PLATFORM' }, '100', { networkFee: '0.5', commission: '1', net: '99.5' }, '1'],
    ['a minimum commission', { ...fee, commissionMinimumUsd: '3' }, '100', { networkFee: '0.5', commission: '3', net: '96.5' }, null],
    ['network fee first, never below zero', { commissionBps: 5000, networkFee: '0.5' }, '0.4', { networkFee: '0.4', commission: '0', net: '0' }, null],
    ['what is left after it', { commissionBps: 10_000, networkFee: '0.5' }, '0.6', { networkFee: '0.5', commission: '0.1', net: '0' }, null],
  ];
  it.each(cases.map(([name, options, sent, taken, accrued]) => ({ name, options, sent, taken, accrued })))(
    'decisions 11: $name: of $sent',
    async ({ options, sent, taken, accrued }) => {
      payment = await books.aPayment({ ...options, checkAmountDeviation: false });
      await pay(usdt(sent));
      expect(await credits()).toEqual([{ gross: sent, ...taken }]);
      expect(await books.db.sql`select coins::text, usd::text from accruals where payment_id = ${payment.id}`).toEqual(
        accrued === null ? [] : [{ coins: accrued, usd: accrued }],
      );
    },
  );

  it('decisions 11: a wrong asset pays its own network fee, an additional deposit pays none again', async () => {
    payment = await books.aPayment({ networkFee: '0.5' });
    await pay(send(books.assets.ETH, '0.05'));
    await pay(usdt('10'));
    expect(await credits()).toEqual([
      { gross: '0.05', networkFee: '0.0005', commission: '0', net: '0.0495' },
      { gross: '10', networkFee: '0', commission: '0', net: '10' },
    ]);
  });
});
