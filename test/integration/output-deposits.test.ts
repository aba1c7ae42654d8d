import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { listScreenedTransfers } from '#api/store/credits.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { FINALITY } from '#shared/core/policy.ts';
import { type Books, type PaymentOptions, someBooks, STRANGER, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

/** A cent at 2,000 USD per coin. */
const CENT = 5n * 10n ** 12n;
const TXID = '7'.repeat(64);
const OTHER = '0x00000000000000000000000000000000000000ee';

let books: Books;

beforeEach(async () => {
  books = await someBooks({ finality: FINALITY.bitcoin });
});
afterEach(async () => {
  try {
    await assertCleanAudit(books.db);
  } finally {
    await books.drop();
  }
});

const aPayment = (options: PaymentOptions = {}) => books.aPayment({ assetId: books.assets.ETH.id, priceUsd: '2000', total: '1', ...options });
const output = (to: string, units: bigint, over: Partial<Transfer> = {}) => books.chain.transfer(to, books.assets.ETH, units, over);
const credit = async () => {
  const moved = await creditFinalDeposits(books.deps, books.network.id);
  await matureCredits(books.deps);
  return moved;
};
const status = async (payment: TestPayment) => (await books.db.sql<[{ status: string }]>`select status from payments where id = ${payment.id}`)[0].status;
const credits = () =>
  books.db.sql<
    { gross: string; matured: boolean }[]
  >`select trim_scale(gross)::text as gross, matured_at is not null as matured from credits order by credited_at, id`;

describe('several outputs of one transaction to one address', () => {
  it('are several deposits, judged and credited as one', async () => {
    const payment = await aPayment({ total: '0.5' });
    await books.chain.mine([
      output(payment.address, 40_000n * CENT, { txid: TXID, ordinal: 0, position: 3 }),
      output(OTHER, CENT, { txid: TXID, ordinal: 1, position: 3 }),
      output(payment.address, 60_000n * CENT, { txid: TXID, ordinal: 2, position: 3 }),
    ]);
    await credit();
    expect(await status(payment)).toBe('SUCCESS');
    expect(await books.db.sql`select ordinal, state, trim_scale(amount)::text as amount from deposits order by ordinal`).toEqual([
      { ordinal: 0, state: 'credited', amount: '0.2' },
      { ordinal: 2, state: 'credited', amount: '0.3' },
    ]);
    expect(await credits()).toEqual([{ gross: '0.5', matured: false }]);
  });

  it('pay two payments when they go to the addresses of both', async () => {
    const [one, two] = await Promise.all([aPayment({ total: '0.1' }), aPayment({ total: '0.2' })]);
    await books.chain.mine([output(one.address, 20_000n * CENT, { txid: TXID, ordinal: 0 }), output(two.address, 40_000n * CENT, { txid: TXID, ordinal: 1 })]);
    expect(await credit()).toBe(2);
    expect([await status(one), await status(two)]).toEqual(['SUCCESS', 'SUCCESS']);
  });
});

describe('confirmations by value', () => {
  it.each([
    ['999.99', 1, 99_999n],
    ['1,000', 1, 100_000n],
    ['1,000.01', 2, 100_001n],
    ['50,000', 2, 5_000_000n],
    ['50,000.01', 6, 5_000_001n],
  ])('%s USD are credited with %i, and can be drawn one later', async (_usd, required, cents) => {
    const payment = await aPayment({ total: String(Number(cents) / 200_000) });
    await books.chain.mine([output(payment.address, cents * CENT)]);
    for (let confirmations = 1; confirmations < required; confirmations++) {
      expect(await credit()).toBe(0);
      await books.chain.mine();
    }
    expect(await credit()).toBe(1);
    expect(await status(payment)).toBe('SUCCESS');
    expect((await credits())[0]?.matured).toBe(false);
    await books.chain.mine();
    await credit();
    expect((await credits())[0]?.matured).toBe(true);
  });

  it('are the most of all while nobody knows a price', async () => {
    const payment = await aPayment({ assetId: books.assets.USDT.id, total: '2000', priceUsd: '1' });
    books.prices.delete('ETH');
    await books.chain.mine([output(payment.address, 2_000n * CENT)]);
    await books.chain.mineEmpty(4);
    await credit();
    expect(await books.db.sql`select waits_since from deposits`).toEqual([{ waitsSince: null }]);
    await books.chain.mine();
    await credit();
    expect((await books.db.sql`select waits_since is not null as waits from deposits`)[0]?.waits).toBe(true);
  });
});

describe('coins made in a block', () => {
  it('are credited when they are 100 blocks deep, not at 99, and can be drawn from then on', async () => {
    const payment = await aPayment({ total: '0.01' });
    await books.chain.mine([output(payment.address, 2_000n * CENT, { sender: 'coinbase', coinbase: true })]);
    await books.chain.mineEmpty(98);
    expect(await credit()).toBe(0);
    expect(await status(payment)).toBe('PENDING');
    await books.chain.mine();
    expect(await credit()).toBe(1);
    expect(await status(payment)).toBe('SUCCESS');
    expect(await credits()).toEqual([{ gross: '0.01', matured: true }]);
  });

  it('keep nothing else waiting that came in the same block', async () => {
    const payment = await aPayment({ total: '0.01' });
    await books.chain.mine([
      output(payment.address, 2_000n * CENT, { sender: 'coinbase', coinbase: true, position: 0 }),
      output(payment.address, 2_000n * CENT, { position: 1 }),
    ]);
    expect(await credit()).toBe(1);
    expect(await status(payment)).toBe('SUCCESS');
    await books.chain.mineEmpty(99);
    await credit();
    expect(await credits()).toHaveLength(2);
  });
});

describe('who paid', () => {
  it('is everybody whose coins were spent, and all of them are screened', async () => {
    const payment = await aPayment({ total: '0.01' });
    await books.chain.mine([output(payment.address, 2_000n * CENT, { sender: STRANGER, coSenders: [OTHER, 'script:51'] })]);
    await credit();
    const [made] = await books.db.sql<[{ id: string }]>`select id from credits`;
    expect((await listScreenedTransfers(books.deps.db.sql, made.id)).map((one) => one.senders)).toEqual([[STRANGER, OTHER, 'script:51']]);
  });

  it('is nobody else when one of them is ours: change, and what we move ourselves, is no deposit', async () => {
    const payment = await aPayment();
    const another = await aPayment();
    await books.chain.mine([
      output(payment.address, 2_000n * CENT, { coSenders: [books.hotWallet] }),
      output(payment.address, 2_000n * CENT, { coSenders: [another.address] }),
      output(payment.address, 2_000n * CENT, { sender: books.hotWallet, coSenders: [STRANGER] }),
    ]);
    await credit();
    expect(await books.db.sql`select 1 from deposits`).toEqual([]);
    await books.db.sql`update sightings set booked_at = sluice_now()`;
  });
});

describe('a credited output', () => {
  it('that a reorganisation takes away is lost and freezes its asset, and regained when it is mined again', async () => {
    const payment = await aPayment({ total: '0.01' });
    await books.chain.mineEmpty(1);
    const base = books.chain.height;
    const paying = output(payment.address, 2_000n * CENT, { txid: TXID });
    await books.chain.mine([paying]);
    await credit();
    books.chain.forkAt(base);
    expect(await books.chain.mine()).toMatchObject({ outcome: 'applied', lostDeposits: [expect.any(String)] });
    expect(await status(payment)).toBe('SUCCESS');
    expect(await books.db.sql`select scope from freezes`).toEqual([{ scope: `asset:${books.assets.ETH.id}` }]);
    await books.chain.mine([paying]);
    await credit();
    expect(await books.db.sql`select state, lost_at from deposits`).toEqual([{ state: 'credited', lostAt: null }]);
  });
});
