import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { showPayment } from '#api/operator/timelines.ts';
import { explainAnyPayment } from '#api/payments/explain.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { simulatePayment } from '#api/payments/simulate.ts';
import { sayStep } from '#api/console/page/say-step.ts';
import { translator } from '#api/console/page/texts.ts';
import { formatAmount, parseTrusted, roundTo } from '#shared/core/money.ts';
import { consoleLanguage } from '#test/fixtures/console-texts.ts';
import { redo } from '#test/fixtures/redo.ts';
import { type ShopPayment, someShops, type Shops, type TestShop } from '#test/fixtures/shop.ts';

/** Pages say the same in their own words, of figures alone. */
const CONSOLE = ['en', 'es'].map((tag) => translator(consoleLanguage(tag)));

let shops: Shops;
let plain: TestShop;
let bearing: TestShop;
let monthly: TestShop;
let open: TestShop;
beforeAll(async () => {
  shops = await someShops();
  plain = await shops.open({ settings: { commissionBps: 100 } });
  bearing = await shops.open({
    settings: {
      commissionBps: 75,
      commissionMinUsd: '0.25',
      txFeePayer: 'CUSTOMER',
      commissionFeePayer: 'CUSTOMER',
      underAcceptableDiff: '1',
      overAcceptableDiff: '2.5',
      acceptableDiffKind: 'PERCENTAGE',
    },
  });
  monthly = await shops.open({ billing: 'MONTHLY', settings: { commissionBps: 50 } });
  open = await shops.open({ openAmount: { enabled: true, minAmountUsd: '5', assetIds: null }, settings: { commissionBps: 100 } });
});
afterAll(() => shops.stop());

/** The explanation after its sums were done again and its status compared with verify's. */
async function explained(shop: TestShop, payment: ShopPayment) {
  const story = await shop.explain(payment);
  const status = redo(story);
  expect((await shop.status(payment)).status).toBe(status);
  expect(story.paymentUid).toBe(payment.id);
  expect(story.steps.map((one) => one.at).toSorted()).toEqual(story.steps.map((one) => one.at));
  expect(story.steps.at(-1)?.step).toBe('next');
  for (const { text, figures } of story.steps) {
    expect(text).not.toMatch(/undefined|null|NaN|\[object/);
    for (const [name, figure] of Object.entries(figures)) expect([name, typeof figure]).toEqual([name, 'string']);
  }
  for (const one of story.steps.filter(({ step }) => step !== 'webhook' && step !== 'verify'))
    for (const t of CONSOLE) expect([one.rule, sayStep(t, one, { status, networks: {} })]).toEqual([one.rule, expect.not.stringMatching(/\bnone\b| {2}/)]);
  const has = (rule: string) => story.steps.find((one) => one.rule === rule);
  return { ...story, has, rules: story.steps.map((one) => one.rule) };
}

describe('a payment that has not resolved', () => {
  it('before a select: how it was priced, and that it waits for one', async () => {
    const payment = await plain.create({ currencyCode: 'EUR', amount: '100.00' });
    const { summary, rules, has } = await explained(plain, payment);
    expect(rules).toEqual(['invoice_fiat', 'terms_tolerance', ...payment.offers.map(() => 'offer_market_price'), 'awaiting_select']);
    expect(has('invoice_fiat')?.figures).toMatchObject({
      amount: '100.00',
      currencyCode: 'EUR',
      fiatRate: '1.08',
      fiatSource: 'static',
      fiatAgeSeconds: '0',
      amountUsd: '108',
    });
    expect(summary).toContain('Waits for the payer to select');
  });

  it('after a select: the address, and until when a deposit is waited for', async () => {
    const payment = await bearing.create({ amount: '33.33' });
    await bearing.select(payment, 'ETH');
    const { rules, has } = await explained(bearing, payment);
    expect(rules).toContain('selected');
    expect(has('address_assigned')?.figures.depositAddress).toBe(
      ((await bearing.read(payment)) as { offers: { depositAddress?: string }[] }).offers.find((offer) => offer.depositAddress)?.depositAddress,
    );
    expect(has('awaiting_deposit')).toBeDefined();
  });

  it('an address that no indexer watches yet is not told', async () => {
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    await shops.world.database
      .sql`update watches set acked_epoch = null where address in (select address from deposit_addresses where payment_id = ${payment.id})`;
    const story = await explained(plain, payment);
    expect(story.has('address_not_watched')).toBeDefined();
    expect(story.has('awaiting_address')?.text).toBe(story.summary);
    expect(story.summary).toContain('the indexer of ethereum watches');
    expect(JSON.stringify(story)).not.toContain('depositAddress');
    const shown = (await showPayment(shops.world.deps, { params: { id: payment.id }, query: {}, body: undefined })).data as { offers: { address: unknown }[] };
    expect(shown.offers.map((offer) => offer.address)).toEqual(payment.offers.map(() => null));
    await shops.world.acknowledge();
  });

  it('with a deposit on its way: how many confirmations it has and needs', async () => {
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    const txHash = await plain.see(payment, 'USDT', '100');
    const { has } = await explained(plain, payment);
    expect(has('deposit_seen')?.figures).toMatchObject({ txHash, amount: '100', asset: 'USDT', confirmations: '1', state: 'seen' });
    expect(has('awaiting_finality')?.figures).toMatchObject({ confirmations: '1', requiredConfirmations: '2' });
    await plain.finalise();
  });

  it('a final deposit that waits for a price says so, and is judged by the price that comes', async () => {
    const { world } = shops;
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    await world.database.sql`delete from prices where symbol = 'ETH'`;
    await plain.receive(payment, 'ETH', '0.04');
    expect((await explained(plain, payment)).has('awaiting_price')?.text).toContain('waits for a fresh price of ETH');
    await world.setPrice('ETH', '2500');
    await plain.finalise();
    expect((await explained(plain, payment)).has('price_market_other_asset')?.figures.priceUsd).toBe('2500');
  });

  it('an open amount whose currency has no rate waits for it, though its coins have a price', async () => {
    const { world } = shops;
    const payment = await open.createOpen({ currencyCode: 'EUR' });
    await open.select(payment, 'USDT');
    await world.database.sql`delete from prices where symbol = 'fiat:EUR'`;
    await open.receive(payment, 'USDT', '10');
    expect((await explained(open, payment)).rules.at(-1)).toBe('awaiting_price');
    await world.setPrice('fiat:EUR', '1.08');
    await open.finalise();
    expect((await explained(open, payment)).status).toBe('SUCCESS');
  });
});

describe('a payment that a deposit decided', () => {
  it.each([
    ['exactly what was asked for', '100', 'exact_total_value', 'SUCCESS'],
    ['a cent too little without a tolerance', '99.99', 'outside_tolerance', 'MISMATCH'],
    ['less than half a cent off', '100.004', 'no_deviation', 'SUCCESS'],
  ])('%s', async (_what, amount, rule, status) => {
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    const txHash = await plain.receive(payment, 'USDT', amount);
    const story = await explained(plain, payment);
    expect([story.status, story.has(rule)?.step]).toEqual([status, 'decision']);
    expect(story.summary).toBe(story.has(rule)?.text);
    expect(story.rules).toEqual(
      expect.arrayContaining([
        'selected',
        'address_assigned',
        'deposit_decided',
        'finality_blocks',
        'price_locked',
        'value_against_offer',
        'record_market_value',
        'fees_computed',
        'webhook_pending',
        'rests',
      ]),
    );
    expect(story.has(rule)?.figures.txHash).toBe(txHash);
  });

  it.each([
    ['the fees the customer bears are the offer’s when it is exact', '0', 'exact_total_value'],
    ['at the bound of the tolerance', '-1 %', 'within_under_tolerance'],
    ['beyond it', '-1.1 %', 'outside_tolerance'],
    ['too much, within the tolerance', '2 %', 'within_over_tolerance'],
    ['too much, beyond it', '3 %', 'outside_tolerance'],
  ])('%s', async (_what, off, rule) => {
    const payment = await bearing.create({ amount: '100' });
    await bearing.select(payment, 'USDT');
    const total = Number(payment.offers.find((one) => one.assetSymbol === 'USDT')?.totalValue);
    await bearing.receive(payment, 'USDT', (total * (1 + Number.parseFloat(off) / 100)).toFixed(6));
    const story = await explained(bearing, payment);
    expect(story.has(rule)?.step).toBe('decision');
    expect(story.has('fees_as_offered') === undefined).toBe(rule !== 'exact_total_value');
  });

  it('any amount, when deviations are not checked', async () => {
    const payment = await plain.create({ checkAmountDeviation: false });
    await plain.select(payment, 'USDT');
    await plain.receive(payment, 'USDT', '1.5');
    const story = await explained(plain, payment);
    expect(story.rules).toEqual(expect.arrayContaining(['terms_any_amount', 'deviation_not_checked']));
    expect(story.rules.some((rule) => rule.startsWith('tolerance'))).toBe(false);
  });

  it('is told after it was created and selected, also where the clock of the chain lags or counts whole seconds only', async () => {
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    await plain.receive(payment, 'USDT', '100', { secondsAgo: 5 });
    const { rules, has } = await explained(plain, payment);
    expect(rules.slice(0, 2)).toEqual(['invoice_usd', 'terms_tolerance']);
    const order = ['selected', 'address_assigned', 'deposit_decided', 'finality_blocks'];
    expect(rules.filter((rule) => order.includes(rule))).toEqual(order);
    expect(has('deposit_decided')?.figures.firstSeenAt).toBe(has('deposit_decided')?.figures.blockTime);
  });

  it('transfers of one block that were judged together say so, with their sum', async () => {
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    await plain.receive(payment, 'USDT', '40', { also: ['60', '0.001'] });
    await plain.receive(payment, 'USDT', '7', { also: ['8'] });
    const { status, steps } = await explained(plain, payment);
    expect(status).toBe('SUCCESS');
    const told = steps.filter((one) => one.step === 'deposit').map((one) => [one.figures.amount, one.rule, one.figures.judgedTogether]);
    expect(told).toEqual([
      ['40', 'deposit_decided', '100'],
      ['60', 'deposit_decided', '100'],
      ['0.001', 'deposit_dust', undefined],
      ['7', 'deposit_credited', undefined],
      ['8', 'deposit_credited', undefined],
    ]);
    expect(steps.find((one) => one.figures.amount === '60')?.text).toContain('counted as one deposit of 100 USDT');
  });

  it('a deposit that a reorganisation took away after it was credited says so, and the status stands', async () => {
    const { sql } = shops.world.database;
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    await plain.receive(payment, 'USDT', '100');
    await sql`update deposits set lost_at = sluice_now() where payment_id = ${payment.id}`;
    const { has, status } = await explained(plain, payment);
    expect(status).toBe('SUCCESS');
    expect(has('deposit_lost')).toMatchObject({
      figures: { confirmations: '0', state: 'credited' },
      text: expect.stringContaining('no longer part of the chain'),
    });
    expect((await plain.verify(payment)).deposits).toMatchObject([{ state: 'credited', confirmations: 0 }]);
    await sql`update deposits set lost_at = null where payment_id = ${payment.id}`;
  });

  it('a wrong asset, valued at the market', async () => {
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    await plain.receive(payment, 'ETH', '0.0399');
    const story = await explained(plain, payment);
    expect(story.has('price_market_other_asset')?.figures).toMatchObject({ asset: 'ETH', priceSource: 'static' });
    expect(story.has('value_against_offer')?.figures).toMatchObject({ asset: 'ETH', expectedAsset: 'USDT', expectedAmount: '100' });
  });

  it("a merchant's own price is named as such", async () => {
    const eth = shops.world.assets.ETH?.id as string;
    const payment = await plain.create({ assets: [{ assetId: eth, assetPriceUsd: '3333.33' }] });
    await plain.select(payment, 'ETH');
    await plain.receive(payment, 'ETH', '0.030001');
    const story = await explained(plain, payment);
    expect(story.has('offer_merchant_price')?.figures).toMatchObject({ priceUsd: '3333.33', priceSource: 'merchant' });
    expect(story.has('record_market_value')?.figures.marketPriceUsd).toBe('2500');
  });

  it.each([
    ['0.2', 'outside_tolerance'],
    ['0.1', 'exact_total_value'],
  ])('less than a cent is compared in coins: %s USDT of 0.1', async (amount, rule) => {
    const payment = await plain.create({ amount: '0.001', assets: [{ assetId: shops.world.assets.USDT?.id as string, assetPriceUsd: '0.01' }] });
    await plain.select(payment, 'USDT');
    await plain.receive(payment, 'USDT', amount);
    expect((await explained(plain, payment)).has(rule)?.step).toBe('decision');
  });

  it('what the platform bears is charged and not deducted', async () => {
    const payment = await monthly.create();
    await monthly.select(payment, 'USDT');
    await monthly.receive(payment, 'USDT', '100');
    expect((await explained(monthly, payment)).has('fees_computed')?.figures).toMatchObject({
      txFeePayer: 'PLATFORM',
      networkFee: '0.5',
      commission: '0.5',
      net: '100',
      accruedUsd: '1',
    });
  });

  it('deposits after the decision, dust and coins on another network are told and decide nothing', async () => {
    const payment = await bearing.create({ assets: [{ assetId: shops.world.assets.USDT?.id as string, assetPriceUsd: '1' }] });
    await bearing.select(payment, 'USDT');
    await bearing.receive(payment, 'USDT', '0.001');
    await bearing.receive(payment, 'USDS', '7', { network: 'sidechain' });
    expect((await explained(bearing, payment)).rules).toEqual(expect.arrayContaining(['deposit_dust', 'deposit_other_network', 'awaiting_deposit']));
    const total = payment.offers[0]?.totalValue as string;
    await bearing.receive(payment, 'USDT', total);
    await bearing.receive(payment, 'USDT', '3');
    await bearing.receive(payment, 'USDC', '2');
    const story = await explained(bearing, payment);
    expect(story.status).toBe('SUCCESS');
    const fees = story.steps.filter((one) => one.step === 'fees');
    expect(fees.map((one) => one.figures.networkFeePaidBefore)).toEqual(['false', 'true', 'true']);
    expect(fees[2]?.text).toContain('changed no status');
  });
});

describe('time', () => {
  it('an expired payment, its grace, a late capture at the market price, and both webhooks', async () => {
    const { world } = shops;
    const payment = await plain.create({ timeoutSeconds: 60 });
    await plain.select(payment, 'ETH');
    await world.advance(61);
    expect((await explained(plain, payment)).has('awaiting_expiry')).toBeDefined();
    await world.advance(900);
    await expireDuePayments(world.deps);
    const expired = await explained(plain, payment);
    expect(expired.rules).toEqual(expect.arrayContaining(['unpaid_at_deadline', 'grace']));
    expect(expired.summary).toContain('no deposit was on its way');
    await world.setPrice('ETH', '2600');
    await plain.receive(payment, 'ETH', '0.04');
    const captured = await explained(plain, payment);
    expect(captured.has('price_market_late')?.figures.priceUsd).toBe('2600');
    expect(captured.summary).toContain('reopened it');
    expect(captured.steps.filter((one) => one.rule === 'webhook_pending').map((one) => one.figures.status)).toEqual(['EXPIRED', captured.status]);
    await world.setPrice('ETH', '2500');
  });

  it('a deposit after the grace period is kept for the operator, who may allocate it', async () => {
    const { world } = shops;
    const payment = await plain.create({ timeoutSeconds: 60 });
    await plain.select(payment, 'USDT');
    await world.advance(60 + 86_400 + 901);
    await expireDuePayments(world.deps);
    await plain.receive(payment, 'USDT', '100');
    expect((await explained(plain, payment)).rules).toEqual(expect.arrayContaining(['deposit_after_grace', 'closed']));
    await allocate(payment, payment);
    const story = await explained(plain, payment);
    expect(story.has('deposit_decided')?.figures.claimedBy).toBe('operator');
    expect(story.summary).toContain('The operator allocated the deposit');
    expect(story.has('no_deviation')).toMatchObject({
      figures: { from: 'EXPIRED', to: 'SUCCESS', depositPath: 'manual_inquiry' },
    });
  });

  it('a deposit allocated to a payment of which nothing was selected is judged by one of its offers', async () => {
    const { world } = shops;
    const [late, other] = [await plain.create({ timeoutSeconds: 60 }), await bearing.create()];
    await plain.select(late, 'USDT');
    await world.advance(60 + 86_400 + 901);
    await expireDuePayments(world.deps);
    await plain.receive(late, 'USDT', '90');
    await allocate(late, other);
    const story = await explained(bearing, other);
    expect(story.has('deposit_decided')?.text).toContain('the operator allocated it');
    expect(story.has('value_against_offer')?.figures).toMatchObject({ receivedAmount: '90', expectedAsset: 'USDT' });
    expect((await explained(plain, late)).rules).not.toContain('deposit_after_grace');
  });
});

/** Has the operator credit the deposit of one payment to another. */
async function allocate(from: ShopPayment, to: ShopPayment): Promise<void> {
  const { database, deps } = shops.world;
  const [deposit] = await database.sql<{ id: string }[]>`select id from deposits where payment_id = ${from.id}`;
  const reply = await allocateDeposit(deps, { params: { id: deposit?.id ?? '' }, query: {}, body: { paymentId: to.id, reason: 'the payer asked' } });
  expect(reply.status).toBe(200);
}

describe('webhooks', () => {
  it('tells every attempt and resend, and what became of the webhook', async () => {
    const { sql } = shops.world.database;
    const payment = await plain.create();
    await plain.select(payment, 'USDT');
    await plain.receive(payment, 'USDT', '100');
    const [event] = await sql<{ id: string }[]>`select id from webhook_events where payment_id = ${payment.id}`;
    const id = event?.id ?? '';
    await sql`insert into webhook_attempts (id, event_id, number, started_at, finished_at, result, http_status, duration_ms) values
      (gen_random_uuid(), ${id}, 1, sluice_now(), sluice_now(), '5xx', 502, 12), (gen_random_uuid(), ${id}, 2, sluice_now(), sluice_now(), 'timeout', null, 10000)`;
    await sql`insert into webhook_attempts (id, event_id, number, started_at, manual) values (gen_random_uuid(), ${id}, 1, sluice_now(), true)`;
    const story = await explained(plain, payment);
    expect(story.steps.filter((one) => one.rule === 'webhook_attempt').map((one) => one.text)).toEqual([
      'Attempt 1 of the webhook SUCCESS: 502 after 12 ms.',
      'Attempt 2 of the webhook SUCCESS: timeout after 10000 ms.',
      'Resend 1 of the webhook SUCCESS: never finished.',
    ]);
    await sql`update webhook_events set state = 'exhausted', attempts = 6 where id = ${id}`;
    expect((await explained(plain, payment)).has('webhook_exhausted')?.text).toContain('given up after 6 attempts');
    await sql`update webhook_events set state = 'delivered', delivered_at = sluice_now() where id = ${id}`;
    expect((await explained(plain, payment)).has('webhook_delivered')).toBeDefined();
  });

  it('says when there was none to send', async () => {
    const payment = await plain.create({ checkoutMode: 'HOSTED', webhookUrl: null, callbackUrl: 'https://shop.example/x', timeoutSeconds: 60 });
    expect((await explained(plain, payment)).has('webhook_none')).toBeUndefined();
    await shops.world.advance(961);
    await expireDuePayments(shops.world.deps);
    const expired = await explained(plain, payment);
    expect(expired.has('webhook_none')).toBeDefined();
    // Nobody was given an address, so nothing can reopen it.
    expect(expired.rules.at(-1)).toBe('rests');
  });
});

describe('an open amount', () => {
  it.each([
    ['USD', '0.002', 'open_amount_minimum_met'],
    ['USD', '0.0019', 'open_amount_below_minimum'],
    ['EUR', '0.0123456789', 'open_amount_minimum_met'],
    ['EUR', '0.0001', 'open_amount_below_minimum'],
  ])('in %s, paid with %s ETH: %s', async (currencyCode, amount, rule) => {
    const payment = await open.createOpen({ currencyCode });
    const fresh = await explained(open, payment);
    expect(fresh.rules).toEqual(['invoice_open_amount', 'terms_open_amount', ...payment.offers.map(() => 'offer_open_amount'), 'awaiting_select']);
    await open.select(payment, 'ETH');
    await open.receive(payment, 'ETH', amount);
    const story = await explained(open, payment);
    expect(story.rules).toEqual(expect.arrayContaining(['price_market_open_amount', 'value_against_minimum', rule, 'record_open_amount', 'fees_computed']));
    const verified = await open.verify(payment);
    expect(story.has('record_open_amount')?.figures).toMatchObject({ amount: verified.amount, amountUsd: verified.amountUsd });
  });
});

describe('a sandbox payment', () => {
  const SCENARIOS = ['success', 'acceptable', 'underpaid', 'overpaid', 'wrong_asset', 'seen_then_confirmed', 'late_capture', 'expired'] as const;
  it.each(SCENARIOS)('%s: its sums can be done again', async (scenario) => {
    const payment = await bearing.create({ isSandbox: true, currencyCode: 'EUR', amount: '19.99' });
    await simulatePayment(shops.world.deps, { paymentId: payment.id, clientIp: '127.0.0.1', simulation: { scenario } });
    await explained(bearing, payment);
  });

  it('waits for a simulation, then tells the simulated deposit like a real one', async () => {
    const payment = await plain.create({ isSandbox: true });
    expect((await explained(plain, payment)).has('awaiting_simulation')).toBeDefined();
    await simulatePayment(shops.world.deps, { paymentId: payment.id, clientIp: '127.0.0.1', simulation: { scenario: 'underpaid' } });
    const story = await explained(plain, payment);
    expect(story.rules).toEqual(expect.arrayContaining(['deposit_decided', 'finality_simulated', 'outside_tolerance']));
  });
});

it('is one moment of the payment, also while it resolves', async () => {
  const payment = await plain.create();
  await plain.select(payment, 'USDT');
  await plain.see(payment, 'USDT', '100');
  let resolving = true;
  const resolved = plain.finalise().finally(() => {
    resolving = false;
  });
  const told = new Set<string>();
  while (resolving) for (const story of await Promise.all([1, 2, 3].map(() => plain.explain(payment)))) told.add(redo(story));
  await resolved;
  told.add(redo(await plain.explain(payment)));
  expect([...told].at(-1)).toBe('SUCCESS');
});

it('whatever the terms, prices and amounts are, the sums of the story come out', async () => {
  const money = (max: number, places: number) => fc.integer({ min: 1, max: max * 10 ** places }).map((units) => (units / 10 ** places).toFixed(places));
  const usdt = shops.world.assets.USDT?.id as string;
  const eth = shops.world.assets.ETH?.id as string;
  const asked = fc.record({
    currencyCode: fc.constantFrom('USD', 'EUR', 'GBP'),
    amount: money(5_000, 2),
    txFeePayer: fc.constantFrom('MERCHANT' as const, 'CUSTOMER' as const),
    commissionFeePayer: fc.constantFrom('MERCHANT' as const, 'CUSTOMER' as const),
    overAcceptableDiff: money(9, 3),
    underAcceptableDiff: money(9, 3),
    acceptableDiffKind: fc.constantFrom('ABSOLUTE' as const, 'PERCENTAGE' as const),
    assets: fc.record({ usdt: money(3, 6), eth: money(9_000, 7) }).map((prices) => [
      { assetId: usdt, assetPriceUsd: prices.usdt },
      { assetId: eth, assetPriceUsd: prices.eth },
    ]),
  });
  const paying = fc.record({
    symbol: fc.constantFrom('USDT', 'ETH'),
    selected: fc.constantFrom('USDT', 'ETH'),
    permille: fc.constantFrom(1, 900, 990, 999, 1_000, 1_001, 1_009, 2_000),
  });
  await fc.assert(
    fc.asyncProperty(asked, paying, async (body, { symbol, selected, permille }) => {
      const payment = await bearing.create(body).catch(() => undefined);
      const [offer, other] = [payment?.offers.find((one) => one.assetSymbol === symbol), payment?.offers.find((one) => one.assetSymbol === selected)];
      // Too small to be offered, or to be anything but dust.
      fc.pre(payment !== undefined && offer !== undefined && other !== undefined);
      await bearing.select(payment, selected);
      const decimals = symbol === 'USDT' ? 6 : 18;
      const amount = formatAmount(roundTo(parseTrusted<'asset'>(formatAmount((parseTrusted(offer.totalValue) * BigInt(permille)) / 1_000n)), decimals, 'up'));
      await bearing.receive(payment, symbol, amount);
      await explained(bearing, payment);
    }),
    { numRuns: 30 },
  );
});

it("the operator is told the same, and another gateway's payment, an unknown one and a malformed id are the same 404", async () => {
  const payment = await plain.create();
  const [mine, operators] = [await plain.explain(payment), await explainAnyPayment(shops.world.deps, payment.id)];
  expect({ ...operators, steps: operators.steps.slice(0, -1) }).toEqual({ ...mine, summary: operators.summary, steps: mine.steps.slice(0, -1) });
  const missing = { code: 'not_found', message: 'Not found.' };
  for (const id of [payment.id, '00000000-0000-4000-8000-000000000000', 'nope']) await expect(open.explain({ ...payment, id })).rejects.toMatchObject(missing);
});
