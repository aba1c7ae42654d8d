import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

let books: Books;
let payment: TestPayment;

beforeEach(async () => {
  books = await someBooks();
  payment = await books.aPayment({ expiresIn: -7_200, graceSeconds: 3_600 });
  await expireDuePayments(books.deps);
});

afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

const allocate = async (depositId: string, body: Record<string, unknown>) =>
  (await allocateDeposit(books.deps, { params: { id: depositId }, query: {}, body })).data as { deposit: object; payment: object };
const row = async (of = payment) => (await books.db.sql`select * from payments where id = ${of.id}`)[0];
const webhooks = async (of = payment) =>
  (await books.db.sql`select status from webhook_events where payment_id = ${of.id} order by created_at`).map((event) => event.status);
const balance = async (kind: string, gatewayId: string | null = null) => {
  const rows = await books.db
    .sql`select balance::text from ledger_accounts where kind = ${kind} and gateway_id is not distinct from ${gatewayId} and asset_id = ${books.assets.USDT.id}`;
  return formatAmount(parseTrusted(rows[0]?.balance ?? '0'));
};

/** A final deposit that was set aside; answers its id. */
async function setAside(units = 100_000_000n): Promise<string> {
  await books.chain.mine([books.chain.transfer(payment.address, books.assets.USDT, units)]);
  await books.chain.mine();
  await creditFinalDeposits(books.deps, books.network.id);
  const [deposit] = await books.db.sql`select id, state from deposits order by height desc limit 1`;
  expect(deposit?.state).toMatch(/unallocated|dust/);
  return deposit?.id;
}

describe('an operator', () => {
  it('credits a set-aside deposit to its own payment, which resolves and announces it, and leaves an audit row', async () => {
    const id = await setAside();
    expect(await allocate(id, { paymentId: payment.id, reason: 'payer wrote in' })).toMatchObject({
      deposit: { id, state: 'credited', paymentId: payment.id, assetSymbol: 'USDT', amount: '100' },
      payment: { id: payment.id, gatewayId: books.gatewayId, status: 'SUCCESS' },
    });
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'manual_inquiry' });
    expect(await webhooks()).toEqual(['EXPIRED', 'SUCCESS']);
    expect([await balance('unallocated'), await balance('pending', books.gatewayId)]).toEqual(['0', '99.5']);
    expect(await books.db.sql`select action, target, reason, details->>'paymentId' as payment from operator_actions`).toEqual([
      { action: 'deposit.allocate', target: id, reason: 'payer wrote in', payment: payment.id },
    ]);
    expect(await books.db.sql`select actor from payment_events where payment_id = ${payment.id} and event = 'DEPOSIT_CONFIRMED'`).toEqual([
      { actor: 'operator' },
    ]);
  });

  it('credits it to the gateway of another payment, and the payment that owned the address keeps nothing of it', async () => {
    const gatewayId = randomUUID();
    await books.db
      .sql`insert into gateways (id, name, status, billing, settings) select ${gatewayId}, 'Other', status, billing, settings from gateways limit 1`;
    const other = await books.aPayment({ gatewayId, commissionBps: 100 });
    const id = await setAside();
    expect(await allocate(id, { paymentId: other.id, reason: 'meant for them' })).toMatchObject({ payment: { gatewayId, status: 'SUCCESS' } });
    expect([await balance('pending', gatewayId), await balance('commission'), await balance('unallocated')]).toEqual(['98.5', '1', '0']);
    expect(await row()).toMatchObject({ status: 'EXPIRED' });
    expect(await row(other)).toMatchObject({ status: 'SUCCESS', receivedAmount: '100', decidingDepositId: id });
  });

  it('credits a resolved payment once more without touching its status', async () => {
    const resolved = await books.aPayment();
    await books.chain.mine([books.chain.transfer(resolved.address, books.assets.USDT, 100_000_000n)]);
    const id = await setAside();
    await allocate(id, { paymentId: resolved.id, reason: 'paid twice' });
    expect(await row(resolved)).toMatchObject({ status: 'SUCCESS', receivedAmount: '100' });
    expect(await webhooks(resolved)).toEqual(['SUCCESS']);
    expect(await balance('pending', books.gatewayId)).toBe('199.5');
  });

  it('credits dust too, which resolves nothing', async () => {
    const fresh = await books.aPayment({ networkFee: '0' });
    await books.db.sql`update payments set expires_at = sluice_now() + interval '1 hour', status = 'PENDING' where id = ${fresh.id}`;
    const id = await setAside(9_999n);
    expect(await allocate(id, { paymentId: fresh.id, reason: 'every cent' })).toMatchObject({ deposit: { state: 'credited' }, payment: { status: 'PENDING' } });
    expect([await balance('unallocated'), await balance('pending', books.gatewayId)]).toEqual(['0', '0.009999']);
    expect(await webhooks(fresh)).toEqual([]);
  });

  it('may name a payment nobody selected an offer of: the offer of that asset judges', async () => {
    const bare = await books.aPayment({
      unselected: true,
      total: '100',
      moreOffers: [{ asset: books.assets.ETH, total: '0.05', priceUsd: '2000', selected: false }],
    });
    await books.db.sql`delete from deposit_addresses where payment_id = ${bare.id}`;
    const id = await setAside();
    expect(await allocate(id, { paymentId: bare.id, reason: 'sent to an old address' })).toMatchObject({ payment: { status: 'SUCCESS' } });
    expect(await row(bare)).toMatchObject({ judgingOfferId: bare.offerId, deviationUsd: '0' });
  });

  it('leaves it open while its price is missing; the first fresh one credits it', async () => {
    const id = await setAside();
    const other = await books.aPayment({ assetId: books.assets.ETH.id, total: '0.05', priceUsd: '2000' });
    books.prices.delete('USDT');
    expect(await allocate(id, { paymentId: other.id, reason: 'r' })).toMatchObject({ deposit: { state: 'seen' }, payment: { status: 'PENDING' } });
    await assertCleanAudit(books.db);
    expect(await balance('unallocated')).toBe('0');
    // The stream says it again, as a rescan does: it stays where the operator put it.
    const block = books.chain.branch.at(-2);
    if (block !== undefined) await books.chain.apply({ ...block, seq: block.seq + 50 });
    expect(await books.db.sql`select payment_id from deposits`).toEqual([{ paymentId: other.id }]);
    books.prices.set('USDT', parseTrusted('1'));
    expect(await creditFinalDeposits(books.deps, books.network.id)).toBe(1);
    expect(await row(other)).toMatchObject({ status: 'SUCCESS' });
  });
});

describe('is refused', () => {
  it('what is not set aside: 409', async () => {
    const id = await setAside();
    await allocate(id, { paymentId: payment.id, reason: 'r' });
    await expect(allocate(id, { paymentId: payment.id, reason: 'r' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('an unknown deposit: 404; an unknown or sandbox payment, a malformed id, no reason: 422 naming the field', async () => {
    const id = await setAside();
    await expect(allocate(randomUUID(), { paymentId: payment.id, reason: 'r' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(allocate('7', { paymentId: payment.id, reason: 'r' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(allocate(id, { paymentId: randomUUID(), reason: 'r' })).rejects.toMatchObject({ code: 'validation_error', field: 'paymentId' });
    await expect(allocate(id, { paymentId: 'x', reason: 'r' })).rejects.toMatchObject({ code: 'validation_error', field: 'paymentId' });
    await expect(allocate(id, { paymentId: payment.id })).rejects.toMatchObject({ code: 'validation_error', field: 'reason' });
    await books.db.sql`update payments set sandbox = true where id = ${payment.id}`;
    await expect(allocate(id, { paymentId: payment.id, reason: 'r' })).rejects.toMatchObject({ code: 'validation_error', field: 'paymentId' });
    expect(await books.db.sql`select 1 from operator_actions`).toEqual([]);
    await books.db.sql`update payments set sandbox = false where id = ${payment.id}`;
  });

  it('a second operator at the same moment: exactly one of eight gets it', async () => {
    const id = await setAside();
    const others = await Promise.all(Array.from({ length: 8 }, () => books.aPayment()));
    const answers = await Promise.allSettled(others.map((one) => allocate(id, { paymentId: one.id, reason: 'race' })));
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1);
    expect(await balance('pending', books.gatewayId)).toBe('99.5');
  });
});
