import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveAml } from '#api/operator/resolve-aml.ts';
import { type BalanceItem, listBalances } from '#api/settlements/balances.ts';
import { anAddress, type Books, type BooksAsset, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { type HeldBooks, heldBooks } from '#test/fixtures/held-books.ts';

let books: Books;
beforeAll(async () => {
  books = await someBooks();
  await books.db
    .sql`insert into prices (symbol, usd, source, at) values ('USDT', 1, 'static', sluice_now()), ('ETH', 2000, 'static', sluice_now()) on conflict do nothing`;
});
afterAll(async () => {
  try {
    await (await heldBooks(books)).audit();
  } finally {
    await books.drop();
  }
});

const balances = async (held: HeldBooks): Promise<BalanceItem[]> => (await listBalances(held.deps, { gateway: await held.gateway() })).items;
const maturing = (payment: TestPayment, seconds: number) =>
  books.db.sql`update credits set matures_at = credited_at + make_interval(secs => ${seconds}) where payment_id = ${payment.id} and matured_at is null`;
/** A payment whose coins stay maturing for so many seconds, whatever screening says of them. */
async function pending(held: HeldBooks, amount: string, score: number, seconds: number, asset?: BooksAsset): Promise<TestPayment> {
  const payment = await held.aPayment();
  await held.pay(payment, amount, score, asset);
  await maturing(payment, seconds);
  await held.screen();
  await held.mature();
  return payment;
}

/** A gateway with something of everything: network fee 0.5 USDT once per payment, commission 1 % of gross. */
async function everything(): Promise<{ held: HeldBooks; usdt: BalanceItem; eth: BalanceItem; firstMaturity: string }> {
  const held = await heldBooks(books);
  const { ETH } = books.assets;
  await held.earn(await held.aPayment(), '100', 0);
  await held.earn(await held.aPayment(), '50', 0);
  await held.settle((await held.claim('green', '108.5')) as string);
  const soon = await pending(held, '40', 0, 600);
  await pending(held, '30', 0, 1_200);
  const flagged = await held.aPayment();
  await held.earn(flagged, '20', 80);
  await held.earn(flagged, '10', 0);
  await held.earn(await held.aPayment(), '200', 90);
  await held.claim('held', '7');
  await pending(held, '8', 75, 900);
  // Out of the pools: one withheld, one on its way back.
  const withheld = await held.aPayment();
  await held.earn(withheld, '1', 99);
  await resolveAml(held.deps, { params: { id: withheld.id }, query: {}, body: { action: 'WITHHOLD', reason: 'test' } });
  const refunded = await held.aPayment();
  await held.earn(refunded, '2', 99);
  await resolveAml(held.deps, { params: { id: refunded.id }, query: {}, body: { action: 'REFUND', reason: 'test', address: anAddress() } });
  // Sent in a coin that nobody offered.
  await held.earn(await held.aPayment(), '0.05', 0, ETH);
  const items = await balances(held);
  const itemOf = (asset: BooksAsset) => items.find((item) => item.assetId === asset.id) as BalanceItem;
  const [row] = await books.db.sql<{ at: Date }[]>`select matures_at as at from credits where payment_id = ${soon.id}`;
  return { held, usdt: itemOf(held.usdt), eth: itemOf(ETH), firstMaturity: (row as { at: Date }).at.toISOString() };
}

describe('a balance item', () => {
  let given: Awaited<ReturnType<typeof everything>>;
  beforeAll(async () => {
    given = await everything();
  });

  it.each<[keyof BalanceItem, string | number]>([
    ['symbol', 'USDT'],
    ['name', 'USDT'],
    ['type', 'ERC20'],
    ['networkName', 'ethereum'],
    ['networkSymbol', 'ETH'],
    // 98.5 + 49 credited, 108.5 cashed out: what the first payment left is gone, 39 of the second remain.
    ['totalAvailable', '39'],
    ['totalAvailableUsd', '39.00'],
    ['payments', 1],
    ['totalPendingAvailable', '68.3'],
    ['totalPendingUsd', '68.30'],
    ['pendingPayments', 2],
    // 20 and 10 (of one payment) less 0.5 and 0.3, 200 less 0.5 and 2; a cashout has claimed 7 of the first.
    ['totalQuarantinedAvailable', '219.7'],
    ['totalQuarantinedAvailableUsd', '219.70'],
    ['quarantinedPayments', 2],
    ['totalQuarantinedReceived', '241'],
    ['totalQuarantinedPendingAvailable', '7.42'],
    ['quarantinedPendingPayments', 1],
    ['totalReceived', '150'],
    ['totalTxFee', '1'],
    ['totalCommission', '1.5'],
    ['totalPendingReceived', '70'],
    ['totalPendingTxFee', '1'],
    ['totalPendingCommission', '0.7'],
  ])('has %s %s (contract 2.9)', (field, value) => {
    expect(given.usdt[field]).toBe(value);
  });

  it('names the soonest maturity of what matures in either pool, and none when nothing does', () => {
    expect(given.usdt.nextMaturityAt).toBe(given.firstMaturity);
    expect(given.eth.nextMaturityAt).toBeNull();
  });

  it('has exactly the fields of the contract, every amount as decimal text', () => {
    expect(Object.keys(given.usdt).sort()).toEqual(
      `assetId name networkId networkName networkSymbol nextMaturityAt payments pendingPayments quarantinedPayments quarantinedPendingPayments symbol totalAvailable
      totalAvailableUsd totalCommission totalPendingAvailable totalPendingCommission totalPendingReceived totalPendingTxFee totalPendingUsd totalQuarantinedAvailable
      totalQuarantinedAvailableUsd totalQuarantinedPendingAvailable totalQuarantinedReceived totalReceived totalTxFee type`.split(/\s+/),
    );
    for (const [name, value] of Object.entries(given.usdt)) if (name.startsWith('total')) expect(value).toMatch(/^(0|[1-9]\d*)(\.\d+)?$/);
  });

  it('appears for an asset that was never offered, and cashes out like any other', async () => {
    expect(given.eth).toMatchObject({ symbol: 'ETH', type: 'NATIVE', totalAvailable: '0.049', totalAvailableUsd: '98.00', payments: 1 });
    expect(await given.held.claim('green', '0.049', books.assets.ETH)).toBeDefined();
  });

  it('counts in each pool the credits that have anything left, of which every held one reads HELD on verify', async () => {
    const states = await books.db.sql`
      select distinct p.aml_state from credits c join payments p on p.id = c.payment_id
      where c.gateway_id = ${given.held.gatewayId} and c.pool = 'held' and c.taken is null and c.remaining > 0`;
    expect(states).toEqual([{ amlState: 'HELD' }]);
  });
});

describe('the list', () => {
  it('is empty when nothing is settle-able, and an item goes when its last coin is claimed', async () => {
    const held = await heldBooks(books);
    expect(await balances(held)).toEqual([]);
    await held.earn(await held.aPayment(), '100', 0);
    await held.claim('green', '98.5');
    expect(await balances(held)).toEqual([]);
  });

  it('has only zeros for the held pool without screening', async () => {
    const held = await heldBooks(books);
    await held.screens(false);
    await held.earn(await held.aPayment(), '100', 100);
    const [item] = await balances(held);
    expect(item).toMatchObject({
      totalAvailable: '98.5',
      totalQuarantinedAvailable: '0',
      totalQuarantinedAvailableUsd: '0.00',
      quarantinedPayments: 0,
      totalQuarantinedReceived: '0',
      totalQuarantinedPendingAvailable: '0',
      quarantinedPendingPayments: 0,
    });
  });

  it('shows a held payment in the held columns only, and after its release in the ordinary ones only', async () => {
    const held = await heldBooks(books);
    const payment = await held.aPayment();
    await held.earn(payment, '100', 80);
    expect((await balances(held))[0]).toMatchObject({
      totalAvailable: '0',
      payments: 0,
      totalQuarantinedAvailable: '98.5',
      quarantinedPayments: 1,
      totalQuarantinedReceived: '100',
    });
    await resolveAml(held.deps, { params: { id: payment.id }, query: {}, body: { action: 'RELEASE', reason: 'test' } });
    expect((await balances(held))[0]).toMatchObject({
      totalAvailable: '98.5',
      payments: 1,
      totalQuarantinedAvailable: '0',
      quarantinedPayments: 0,
      totalQuarantinedReceived: '0',
    });
  });
});
