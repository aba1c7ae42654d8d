import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { completeRefund } from '#api/aml/complete-refund.ts';
import { failRefund } from '#api/aml/fail-refund.ts';
import type { Chain } from '#api/deps.ts';
import { refundProblem } from '#api/intents/held-order.ts';
import { payHeldOrders } from '#api/payouts/pay-held-orders.ts';
import { findRefund, listPayableRefunds, type StoredRefund } from '#api/store/aml.ts';
import { resolveAml } from '#api/operator/resolve-aml.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import { anAddress, type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { type HeldBooks, heldBooks } from '#test/fixtures/held-books.ts';

let books: Books;
let held: HeldBooks;
let payment: TestPayment;
const PAYER = anAddress();

beforeAll(async () => {
  books = await someBooks();
});
beforeEach(async () => {
  held = await heldBooks(books);
  payment = await held.aPayment();
});
afterAll(async () => {
  try {
    await held.audit();
  } finally {
    await books.drop();
  }
});

const resolve = (action: string, more: Record<string, unknown> = {}, of = payment) =>
  resolveAml(held.deps, { params: { id: of.id }, query: {}, body: { action, reason: 'test', ...(action === 'REFUND' && { address: PAYER }), ...more } });

/** The code and message of a call that must fail. */
async function refused(call: Promise<unknown>): Promise<{ code: string; field: string | undefined; message: string }> {
  const error = await call.then(
    () => ({ code: 'none', field: undefined, message: 'it went through' }),
    (thrown: ServiceError) => thrown,
  );
  return { code: error.code, field: error.field, message: error.message };
}

const refunds = async (of = payment): Promise<StoredRefund[]> => {
  const rows = await books.db.sql<{ id: string }[]>`select id from aml_refunds where payment_id = ${of.id} order by ordered_at, id`;
  return Promise.all(rows.map(async ({ id }) => (await findRefund(books.db.sql, id)) as StoredRefund));
};
const pay = (refund: StoredRefund, txid = `0x${randomUUID()}`) => books.db.transaction((tx) => completeRefund(tx, held.deps, { refundId: refund.id, txid }));
const fail = (refund: StoredRefund) => books.db.transaction((tx) => failRefund(tx, held.deps, { refundId: refund.id, reason: 'no bytes of it can be mined' }));
const history = async (of = payment) =>
  (await books.db.sql`select event, to_status from aml_events where payment_id = ${of.id} order by id`).map((row) => `${row.event} ${row.toStatus}`);
const actions = () => books.db.sql`select action, reason from operator_actions where target = ${payment.id} order by at, action`;

describe('RELEASE', () => {
  it('moves everything the payment has left to the green pool, for good', async () => {
    await held.earn(payment, '100', 80);
    await held.pay(payment, '10', 5);
    await held.screen();
    const taken = (await held.claim('held', '20')) as string;
    expect((await resolve('RELEASE')).data).toMatchObject({ paymentId: payment.id, amlState: 'RELEASED', refunds: [] });
    expect(await held.accounts()).toEqual({ available: '78.5', pending: '9.9', reserved: '20' });
    await held.mature();
    await held.reject(taken);
    expect(await held.accounts()).toEqual({ available: '108.4' });
    expect(await history()).toEqual(['FLAGGED HELD', 'OPERATOR_RELEASED RELEASED']);
    expect(await actions()).toEqual([{ action: 'payment.release', reason: 'test' }]);
    expect(
      await books.db.sql`select from_pool, to_pool, trim_scale(amount)::text as amount from pool_moves where payment_id = ${payment.id} and from_pool = 'held'`,
    ).toEqual([{ fromPool: 'held', toPool: 'green', amount: '88.4' }]);
    for (const action of ['RELEASE', 'WITHHOLD', 'REFUND']) expect(await refused(resolve(action))).toMatchObject({ code: 'conflict' });
  });

  it('lets a later clean deposit into the green pool, and withholds a flagged one', async () => {
    await held.earn(payment, '100', 80);
    await resolve('RELEASE');
    await held.earn(payment, '10', 5);
    expect(await held.accounts()).toEqual({ available: '108.4' });
    await held.earn(payment, '20', 80);
    expect(await held.accounts()).toEqual({ available: '108.4', withheld: '19.8' });
    expect(await held.amlState(payment)).toBe('RELEASED');
    expect(await held.claim('held', '1')).toBeUndefined();
  });
});

describe('a cashout of the held pool', () => {
  it('takes exact parts, first matured first, and releases each payment once the last of it is settled', async () => {
    const other = await held.aPayment();
    await held.earn(payment, '100', 80);
    await books.db.sql`update clock_offset set seconds = seconds + 1`;
    await held.earn(other, '50', 80);
    const [one, two] = [(await held.claim('held', '98.499999')) as string, (await held.claim('held', '0.000002')) as string];
    expect(await held.claim('green', '0.000001')).toBeUndefined();
    await held.settle(one);
    expect([await held.amlState(payment), await held.amlState(other)]).toEqual(['HELD', 'HELD']);
    await held.settle(two);
    expect([await held.amlState(payment), await held.amlState(other)]).toEqual(['RELEASED', 'HELD']);
    expect(await held.accounts()).toEqual({ held: '48.999999' });
    const draws = await books.db.sql`
      select c.payment_id as payment, trim_scale(w.amount)::text as amount from credit_draws w join credits c on c.id = w.credit_id where w.settlement_id = ${two} order by w.amount, c.credited_at`;
    expect(draws.map((draw) => [draw.payment === payment.id ? 'payment' : 'other', draw.amount]).sort()).toEqual([
      ['other', '0.000001'],
      ['payment', '0.000001'],
    ]);
  });

  it('releases it although a deposit whose fees took all of it still matures', async () => {
    await held.pay(payment, '0.4', 5);
    await held.earn(payment, '100', 80);
    await books.db.sql`update credits set matured_at = null where payment_id = ${payment.id} and net = 0`;
    await held.settle((await held.claim('held', '99')) as string);
    expect([await held.accounts(), await held.amlState(payment)]).toEqual([{}, 'RELEASED']);
    await held.audit();
  });

  it('that settles while another one still reserves a part leaves the payment held, until that one settles too', async () => {
    await held.earn(payment, '100', 80);
    const [one, two, three] = [
      (await held.claim('held', '40')) as string,
      (await held.claim('held', '40')) as string,
      (await held.claim('held', '18.5')) as string,
    ];
    await held.settle(one);
    await held.reject(three);
    await held.settle(two);
    expect(await held.amlState(payment)).toBe('HELD');
    expect(await held.accounts()).toEqual({ held: '18.5' });
    await held.settle((await held.claim('held', '18.5')) as string);
    expect(await held.amlState(payment)).toBe('RELEASED');
    expect(await history()).toEqual(['FLAGGED HELD', 'DRAWN RELEASED']);
  });
});

describe('WITHHOLD', () => {
  it('keeps everything that is left for good, screened or not, and what cashouts give back', async () => {
    await held.earn(payment, '100', 80);
    await held.pay(payment, '10', 'unavailable');
    const taken = (await held.claim('held', '20')) as string;
    expect((await resolve('WITHHOLD')).data).toMatchObject({ amlState: 'WITHHELD' });
    expect(await held.accounts()).toEqual({ withheld: '88.4', reserved: '20' });
    expect(await held.claim('held', '0.000001')).toBeUndefined();
    await held.reject(taken);
    await held.mature();
    expect(await held.accounts()).toEqual({ withheld: '108.4' });
    // And what comes after it, without a verdict being bought.
    const asked = held.asked.length;
    await held.earn(payment, '10', 0);
    expect(await held.accounts()).toEqual({ withheld: '118.3' });
    expect(held.asked).toHaveLength(asked + 1);
    for (const action of ['RELEASE', 'WITHHOLD', 'REFUND']) expect(await refused(resolve(action))).toMatchObject({ code: 'conflict' });
  });
});

describe('REFUND', () => {
  it('orders gross less the network fee to the address named, and the payment reads REFUNDED when it is final', async () => {
    await held.earn(payment, '100', 80);
    const commission = await held.system('commission');
    await resolve('REFUND');
    const [refund] = (await refunds()) as [StoredRefund];
    // 100 less 0.5 of network fee; the commission of 1 was reversed.
    expect({ ...refund, amount: formatAmount(refund.amount) }).toMatchObject({ amount: '99.5', recipient: PAYER, status: 'ordered', assetId: held.usdt.id });
    expect(await refundProblem(books.db.sql, held.deps, refund)).toBeNull();
    expect(await refundProblem(books.db.sql, held.deps, { ...refund, recipient: anAddress() })).toEqual({
      refuse: 'the recipient of its refund is not what was ordered',
    });
    expect(await held.accounts()).toEqual({ refunding: '99.5' });
    expect(Number(await held.system('commission'))).toBe(Number(commission) - 1);
    expect(await held.amlState(payment)).toBe('HELD');
    expect(await held.claim('held', '0.000001')).toBeUndefined();
    expect((await listPayableRefunds(books.db.sql, books.network.id)).map((one) => one.id)).toContain(refund.id);
    for (const action of ['RELEASE', 'WITHHOLD', 'REFUND'])
      expect(await refused(resolve(action))).toMatchObject({ code: 'conflict', message: expect.stringContaining('on its way') });
    await pay(refund, '0xpaid');
    await pay(refund, '0xpaid');
    expect(await held.accounts()).toEqual({});
    expect(await held.amlState(payment)).toBe('REFUNDED');
    expect((await refunds())[0]).toMatchObject({ status: 'paid', txid: '0xpaid' });
    expect((await listPayableRefunds(books.db.sql, books.network.id)).map((one) => one.id)).not.toContain(refund.id);
    expect(await history()).toEqual(['FLAGGED HELD', 'REFUND_ORDERED HELD', 'REFUND_PAID REFUNDED']);
    for (const action of ['RELEASE', 'WITHHOLD', 'REFUND'])
      expect(await refused(resolve(action))).toMatchObject({ code: 'conflict', message: expect.stringContaining('REFUNDED') });
  });

  it('that cannot be paid leaves everything as it was before, and may be ordered again', async () => {
    await held.pay(payment, '100', 80);
    await held.screen();
    await held.books.db.sql`update credits set matures_at = sluice_now() + interval '1 hour' where payment_id = ${payment.id}`;
    await held.earn(payment, '50', 80);
    const before = [await held.accounts(), await held.system('commission')];
    expect(before[0]).toEqual({ heldPending: '98.5', held: '49.5' });
    await resolve('REFUND');
    const [refund] = (await refunds()) as [StoredRefund];
    await fail(refund);
    await fail(refund);
    expect([await held.accounts(), await held.system('commission')]).toEqual(before);
    expect(await held.amlState(payment)).toBe('HELD');
    expect((await refunds())[0]).toMatchObject({ status: 'failed', failure: 'no bytes of it can be mined' });
    await expect(pay(refund)).rejects.toThrow('although it is failed');
    const other = anAddress();
    await resolve('REFUND', { address: other });
    expect((await refunds()).map(({ status, recipient }) => [status, recipient])).toEqual([
      ['failed', PAYER],
      ['ordered', other],
    ]);
    await pay((await refunds())[1] as StoredRefund);
    expect(await held.accounts()).toEqual({});
  });

  it('of several assets is one payout each, and REFUNDED with the last of them', async () => {
    const { ETH } = books.assets;
    await held.earn(payment, '100', 80);
    await held.earn(payment, '0.05', 5, ETH);
    await resolve('REFUND');
    const orders = await refunds();
    expect(orders.map((one) => [one.assetId, formatAmount(one.amount)]).sort()).toEqual(
      [
        [held.usdt.id, '99.5'],
        [ETH.id, '0.05'],
      ].sort(),
    );
    await pay(orders[0] as StoredRefund);
    expect(await held.amlState(payment)).toBe('HELD');
    await pay(orders[1] as StoredRefund);
    expect(await held.amlState(payment)).toBe('REFUNDED');
  });

  it('leaves held what came in while it was on its way', async () => {
    await held.earn(payment, '100', 80);
    await resolve('REFUND');
    await held.earn(payment, '10', 5);
    await pay((await refunds())[0] as StoredRefund);
    expect(await held.amlState(payment)).toBe('HELD');
    expect(await held.accounts()).toEqual({ held: '9.9' });
    await resolve('REFUND');
    await pay((await refunds())[1] as StoredRefund);
    expect(await held.amlState(payment)).toBe('REFUNDED');
    // After that a clean one is ordinary income, and a flagged one is withheld.
    await held.earn(payment, '10', 5);
    await held.earn(payment, '20', 75);
    expect(await held.accounts()).toEqual({ available: '9.9', withheld: '19.8' });
  });

  it('is audited clean although a deposit whose fees took all of it still matures', async () => {
    await held.pay(payment, '0.4', 5);
    await held.pay(payment, '100', 80);
    await held.screen();
    expect(await books.db.sql`select net::text, matured_at from credits where payment_id = ${payment.id} and gross = 0.4`).toEqual([
      { net: '0', maturedAt: null },
    ]);
    await resolve('REFUND');
    await pay((await refunds())[0] as StoredRefund);
    expect(await held.amlState(payment)).toBe('REFUNDED');
    await held.audit();
  });

  it('gives the platform back what it had borne, and takes it off what is accrued', async () => {
    const covered = await held.aPayment({ feePayer: 'PLATFORM' });
    await held.earn(covered, '100', 80);
    const before = { commission: Number(await held.system('commission')), expense: Number(await held.system('platformExpense')) };
    await resolve('REFUND', {}, covered);
    const [refund] = (await refunds(covered)) as [StoredRefund];
    expect(formatAmount(refund.amount)).toBe('100');
    await pay(refund);
    expect(Number(await held.system('commission'))).toBe(before.commission - 1);
    expect(Number(await held.system('platformExpense'))).toBe(before.expense + 1);
    expect(await books.db.sql`select trim_scale(coins)::text as coins from accruals where payment_id = ${covered.id} order by coins`).toEqual([
      { coins: '-1' },
      { coins: '1.5' },
    ]);
  });

  it.each<[string, (text: string) => Promise<void>]>([
    ['a cashout has reserved some of it', async () => void (await held.claim('held', '0.000001'))],
    ['a cashout was paid from it', async () => held.settle((await held.claim('held', '1')) as string)],
  ])('is refused once %s', async (_, touch) => {
    await held.earn(payment, '100', 80);
    await touch('');
    expect(await refused(resolve('REFUND'))).toMatchObject({ code: 'conflict', message: expect.stringContaining('cashout') });
    expect(await refunds()).toEqual([]);
  });

  it('is possible again when the cashout that had reserved some of it is rejected', async () => {
    await held.earn(payment, '100', 80);
    await held.reject((await held.claim('held', '5')) as string);
    await resolve('REFUND');
    expect(await held.accounts()).toEqual({ refunding: '99.5' });
  });
});

describe('the call', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['without an action', { reason: 'x' }, 'action'],
    ['with an unknown action', { action: 'HOLD', reason: 'x' }, 'action'],
    ['without a reason', { action: 'RELEASE' }, 'reason'],
    ['without an address to refund to', { action: 'REFUND', reason: 'x' }, 'address'],
    ['with an address for anything else', { action: 'RELEASE', reason: 'x', address: PAYER }, 'address'],
  ])('%s is a 422 that names the field', async (_, body, field) => {
    expect(await refused(resolveAml(held.deps, { params: { id: payment.id }, query: {}, body }))).toMatchObject({ code: 'validation_error', field });
  });

  it('refuses to pay a refund to an address of our own, or to a token', async () => {
    await held.earn(payment, '100', 80);
    for (const address of [books.hotWallet, payment.address, held.usdt.contract, 17])
      expect(await refused(resolve('REFUND', { address }))).toMatchObject({ code: 'validation_error', field: 'address' });
  });

  it('says so when a network it has coins on is not served any more', async () => {
    await held.earn(payment, '100', 80);
    const call = resolveAml(
      { ...held.deps, chains: new Map() },
      { params: { id: payment.id }, query: {}, body: { action: 'REFUND', reason: 'test', address: PAYER } },
    );
    expect(await refused(call)).toMatchObject({ code: 'service_unavailable', message: expect.stringContaining('ethereum') });
  });

  it('answers 404 for a payment that is none, and 409 for one that was never flagged or still waits', async () => {
    expect(await refused(resolve('RELEASE', {}, { ...payment, id: randomUUID() }))).toMatchObject({ code: 'not_found' });
    expect(await refused(resolve('RELEASE', {}, { ...payment, id: 'x' }))).toMatchObject({ code: 'not_found' });
    await held.earn(payment, '100', 5);
    for (const action of ['RELEASE', 'WITHHOLD', 'REFUND'])
      expect(await refused(resolve(action))).toMatchObject({ code: 'conflict', message: expect.stringContaining('not flagged') });
    await held.pay(payment, '10', 90);
    await held.screen();
    await held.pay(payment, '10', 'pending');
    for (const action of ['RELEASE', 'REFUND'])
      expect(await refused(resolve(action))).toMatchObject({ code: 'conflict', message: expect.stringContaining('verdict') });
  });
});

describe('whoever comes first has the coins:', () => {
  it('RELEASE, WITHHOLD, REFUND and two cashouts of the held pool, all at once', async () => {
    for (let round = 0; round < 12; round += 1) {
      const one = await held.aPayment();
      await held.earn(one, '100', 80);
      const before = await held.accounts();
      const [release, withhold, refund, first, second] = await Promise.all([
        refused(resolve('RELEASE', {}, one)),
        refused(resolve('WITHHOLD', {}, one)),
        refused(resolve('REFUND', {}, one)),
        held.claim('held', '98.5'),
        held.claim('held', '98.5'),
      ]);
      const won = [release, withhold, refund].filter((answer) => answer.code === 'none').length;
      for (const answer of [release, withhold, refund]) expect(['none', 'conflict']).toContain(answer.code);
      const claims = [first, second].filter((id) => id !== undefined);
      // The coins went one way: a refund or one cashout, or a decision about all of them, which a cashout may have been before.
      expect(claims.length).toBeLessThanOrEqual(1);
      expect(won).toBeLessThanOrEqual(1);
      if (refund.code === 'none') expect(claims).toEqual([]);
      expect(won + claims.length).toBeGreaterThan(0);
      await held.audit();
      for (const id of claims) await held.settle(id as string);
      for (const order of (await refunds(one)).filter((each) => each.status === 'ordered')) await pay(order);
      const state = await held.amlState(one);
      expect(state).toBe(release.code === 'none' || (won === 0 && claims.length === 1) ? 'RELEASED' : withhold.code === 'none' ? 'WITHHELD' : 'REFUNDED');
      expect(await held.claim('held', '0.000001')).toBeUndefined();
      expect(Object.keys(await held.accounts()).filter((kind) => !['available', 'withheld'].includes(kind))).toEqual([]);
      expect(before.held).toBe('98.5');
      await held.audit();
    }
  });

  it('a verdict that flags a payment and cashouts of what it had matured clean', async () => {
    for (let round = 0; round < 8; round += 1) {
      const one = await held.aPayment();
      await held.earn(one, '100', 0);
      await held.pay(one, '10', 90);
      const [claimed] = await Promise.all([held.claim('green', '60'), held.screen(), held.mature()]);
      await held.mature();
      expect(await held.amlState(one)).toBe('HELD');
      await held.audit();
      if (claimed !== undefined) {
        // It was first: the payment is held with the rest, and cannot be refunded any more.
        expect(await held.accounts()).toMatchObject({ reserved: '60', held: '48.4' });
        expect(await refused(resolve('REFUND', {}, one))).toMatchObject({ code: 'conflict' });
        await held.reject(claimed);
      }
      expect(await held.accounts()).toMatchObject({ held: '108.4' });
      await resolve('WITHHOLD', {}, one);
      await held.audit();
      held = await heldBooks(books);
    }
  });
});

describe('of several orders that wait', () => {
  it.each([
    ['each is tried, also behind one of which nobody foresaw what is wrong with it', new Error('it is odd'), 2],
    ['none is tried behind one whose node cannot be reached', new ChainUnavailable('no endpoint answers', { trouble: 'down' }), 1],
  ])('%s', async (_, trouble, times) => {
    const apart = await someBooks();
    try {
      const own = await heldBooks(apart);
      for (let i = 0; i < 2; i++) {
        const one = await own.aPayment();
        await own.earn(one, '100', 80);
        await resolveAml(own.deps, { params: { id: one.id }, query: {}, body: { action: 'REFUND', reason: 'test', address: PAYER } });
      }
      let asked = 0;
      const { name } = apart.network;
      const refuse = (): never => {
        asked += 1;
        throw trouble;
      };
      const config = new Proxy({}, { get: (_target, key) => (key === 'name' ? name : refuse()) });
      const chain = { ...own.deps.chains.get(name), config } as Chain;
      await payHeldOrders({ ...own.deps, chains: new Map([[name, chain]]) }).catch((error: unknown) => expect(error).toBe(trouble));
      expect(asked).toBe(times);
    } finally {
      await apart.drop();
    }
  });
});
