import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runAudit } from '#api/audit/run-audit.ts';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { parseTrusted } from '#shared/core/money.ts';
import { type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

let books: Books;
let payment: TestPayment;

beforeEach(async () => {
  books = await someBooks();
});
afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

const pay = async (asset: 'USDT' | 'ETH', units: bigint): Promise<void> => {
  await books.chain.mine([books.chain.transfer(payment.address, books.assets[asset], units)]);
  await books.chain.mine();
  await creditFinalDeposits(books.deps, books.network.id);
};
const accruals = () =>
  books.db.sql`
    select r.gateway_id, r.payment_id, a.symbol, r.coins::text, r.price_usd::text as price, trim_scale(r.usd)::text as usd from accruals r join assets a on a.id = r.asset_id
    join credits c on c.id = r.credit_id order by r.at, r.coins`;

describe('what the platform bears (decisions 11)', () => {
  it('is accrued once per credit, in the asset and in USD at the price that judged the deposit', async () => {
    payment = await books.aPayment({ feePayer: 'PLATFORM', commissionBps: 100, total: '100', priceUsd: '0.9', checkAmountDeviation: false });
    books.prices.set('USDT', parseTrusted('1.1'));
    books.prices.set('ETH', parseTrusted('1999.99'));
    await pay('USDT', 100_000_000n);
    await pay('ETH', 10_000_000_000_000_000n);
    await pay('USDT', 50_000_000n);
    const whose = { gatewayId: books.gatewayId, paymentId: payment.id };
    expect(await accruals()).toEqual([
      // The selected asset at its locked price, with the network fee.
      { ...whose, symbol: 'USDT', coins: '1.5', price: '0.9', usd: '1.35' },
      // A wrong asset at the market's; its network was paid for already, so only the commission is left.
      { ...whose, symbol: 'ETH', coins: '0.0001', price: '1999.99', usd: '0.199999' },
      // An additional deposit likewise.
      { ...whose, symbol: 'USDT', coins: '0.5', price: '0.9', usd: '0.45' },
    ]);
  });

  it('was brought over from the ledger for the credits of before, at the same prices', async () => {
    payment = await books.aPayment({ feePayer: 'PLATFORM', commissionBps: 100, total: '100', priceUsd: '0.9', checkAmountDeviation: false });
    books.prices.set('USDT', parseTrusted('1.1'));
    await pay('USDT', 100_000_000n);
    await pay('ETH', 10_000_000_000_000_000n);
    const before = await accruals();
    await books.db.sql`alter table accruals disable trigger user`;
    await books.db.sql`delete from accruals`;
    await books.db.sql`delete from accruals_to_invoice`;
    const migration = await readFile('shared/schema/0009_inquiry_and_accruals.sql', 'utf8');
    await books.db.sql.unsafe(migration.slice(migration.indexOf('insert into accruals')));
    const later = await readFile('shared/schema/0088_accruals_to_be_invoiced.sql', 'utf8');
    await books.db.sql.unsafe(later.slice(later.lastIndexOf('insert into accruals_to_invoice')));
    expect(await accruals()).toEqual(before);
    expect(before).toMatchObject([{ price: '0.9' }, { price: '2000' }]);
  });

  it('is accrued for a deposit that an operator allocates, too', async () => {
    payment = await books.aPayment({ expiresIn: -7_200, graceSeconds: 60 });
    await expireDuePayments(books.deps);
    await pay('USDT', 100_000_000n);
    const target = await books.aPayment({ feePayer: 'PLATFORM' });
    const [deposit] = await books.db.sql`select id from deposits`;
    await allocateDeposit(books.deps, { params: { id: deposit?.id }, query: {}, body: { paymentId: target.id, reason: 'theirs' } });
    expect(await accruals()).toMatchObject([{ paymentId: target.id, coins: '0.5', usd: '0.5' }]);
  });

  it('is nothing where others bear the fees', async () => {
    payment = await books.aPayment({ feePayer: 'MERCHANT', commissionBps: 100 });
    await pay('USDT', 100_000_000n);
    expect(await accruals()).toEqual([]);
  });

  it('can be neither changed nor deleted, and the audit misses one that is not there', async () => {
    payment = await books.aPayment({ feePayer: 'PLATFORM' });
    await pay('USDT', 100_000_000n);
    await expect(books.db.sql`update accruals set coins = 9`).rejects.toThrow();
    await expect(books.db.sql`delete from accruals`).rejects.toThrow();
    await books.db.sql`alter table accruals disable trigger user`;
    const [gone] = await books.db.sql`delete from accruals returning to_jsonb(accruals) as kept`;
    expect((await runAudit(books.deps.db.sql)).filter((one) => one.rows.length > 0).map((one) => one.check)).toEqual(['A16', 'A18']);
    await books.db.sql`insert into accruals select * from jsonb_populate_record(null::accruals, ${books.db.sql.json(gone?.kept)})`;
  });
});
