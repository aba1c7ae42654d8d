import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { advanceHeld } from '#api/store/advance.ts';
import { NO_PAYMENT_FACTS } from '#state-machines/payment/machine.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { explainAnyPayment } from '#api/payments/explain.ts';
import type { Finality } from '#shared/core/assets.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { type Books, type BooksOptions, type PaymentOptions, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

let books: Books;
let payment: TestPayment;

const start = async (payments: PaymentOptions = {}, options: BooksOptions = {}): Promise<void> => {
  books = await someBooks(options);
  payment = await books.aPayment(payments);
};
const usdt = (units: bigint, over = {}, to = payment.address) => books.chain.transfer(to, books.assets.USDT, units, over);
const credit = () => creditFinalDeposits(books.deps, books.network.id);
/** Mines a block with the transfers and makes it final. */
const pay = async (...transfers: Parameters<Books['chain']['mine']>[0] & object) => {
  await books.chain.mine(transfers);
  await books.chain.mine();
};
const row = async (of = payment) => (await books.db.sql`select * from payments where id = ${of.id}`)[0];
const deposits = () => books.db.sql`select state, path, amount::text from deposits order by height, position, ordinal`;
const webhooks = async () => (await books.db.sql`select status from webhook_events order by created_at`).map((event) => event.status);
const balance = async (kind: string, asset = books.assets.USDT) => {
  const [found] = await books.db.sql`select balance::text from ledger_accounts where kind = ${kind} and asset_id = ${asset.id}`;
  return formatAmount(parseTrusted(found?.balance ?? '0'));
};
const after = (seconds: number) => books.db.sql`update clock_offset set seconds = seconds + ${seconds}`;
const expire = () => books.db.sql`update payments set status = 'EXPIRED', resolved_at = sluice_now(), webhook_url = null where id = ${payment.id}`;

afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

describe('a deposit that became final', () => {
  beforeEach(() => start());

  it('credits the gateway, resolves the payment and announces it, in one step', async () => {
    const transfer = usdt(100_000_000n);
    await books.chain.mine([transfer]);
    expect(await credit()).toBe(0);
    expect(await row()).toMatchObject({ status: 'PENDING' });
    await books.chain.mine();
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({
      status: 'SUCCESS',
      judgingOfferId: payment.offerId,
      receivedAssetId: books.assets.USDT.id,
      receivedAmount: '100',
      receivedAmountUsd: '100',
      expectedUsd: '100',
      deviationUsd: '0',
      depositPath: 'standard',
    });
    expect(await deposits()).toEqual([{ state: 'credited', path: 'standard', amount: '100' }]);
    expect(await webhooks()).toEqual(['SUCCESS']);
    expect(await books.db.sql`select topic, state from outbox`).toEqual([{ topic: 'webhook.deliver', state: 'due' }]);
    expect([await balance('pending'), await balance('networkFee'), await balance('chain')]).toEqual(['99.5', '0.5', '-100']);
    expect(await books.db.sql`select count(*)::int as open from sightings where booked_at is null`).toEqual([{ open: 0 }]);
  });

  it('is credited once by two workers at the same moment, and never again', async () => {
    await pay(usdt(100_000_000n));
    const answers = await Promise.all([credit(), credit(), credit(), credit()]);
    expect(answers.reduce((sum, answer) => sum + answer, 0)).toBe(1);
    expect(await credit()).toBe(0);
    expect(await balance('chain')).toBe('-100');
    expect(await webhooks()).toEqual(['SUCCESS']);
  });

  it('decides together with the other transfers of its block, and takes the network fee once', async () => {
    await pay(usdt(40_000_000n), usdt(60_000_000n));
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAmount: '100' });
    expect(await deposits()).toMatchObject([{ state: 'credited' }, { state: 'credited' }]);
    expect(await books.db.sql`select gross::text, network_fee::text, net::text from credits`).toEqual([{ gross: '100', networkFee: '0.5', net: '99.5' }]);
  });

  it('decides alone against one of a later block, which is credited and changes nothing', async () => {
    await books.chain.mine([usdt(40_000_000n)]);
    await books.chain.mine([usdt(60_000_000n)]);
    await books.chain.mine();
    await credit();
    expect(await row()).toMatchObject({ status: 'MISMATCH', receivedAmount: '40', deviationUsd: '-60' });
    expect(await webhooks()).toEqual(['MISMATCH']);
    expect(await balance('chain')).toBe('-100');
    expect(await books.db.sql`select network_fee::text from credits order by credited_at, gross`).toEqual([{ networkFee: '0.5' }, { networkFee: '0' }]);
  });

  it('is credited long after another one decided', async () => {
    await pay(usdt(100_000_000n));
    await credit();
    await after(30 * 86_400);
    await pay(usdt(5_000_000n));
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAmount: '100' });
    expect(await webhooks()).toEqual(['SUCCESS']);
    expect(await balance('chain')).toBe('-105');
  });

  it('goes to the asset it arrived in when nobody asked for that asset', async () => {
    await pay(books.chain.transfer(payment.address, books.assets.ETH, 50_000_000_000_000_000n));
    await credit();
    expect(await row()).toMatchObject({
      status: 'SUCCESS',
      receivedAssetId: books.assets.ETH.id,
      receivedAmount: '0.05',
      receivedAmountUsd: '100',
      judgingOfferId: payment.offerId,
    });
    expect(await balance('pending', books.assets.ETH)).toBe('0.0495');
  });

  it("is kept as dust below the asset's floor, resolves nothing and is still in the books", async () => {
    await pay(usdt(9_999n));
    await credit();
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await deposits()).toEqual([{ state: 'dust', path: null, amount: '0.009999' }]);
    expect([await balance('unallocated'), await balance('chain')]).toEqual(['0.009999', '-0.009999']);
    expect(await webhooks()).toEqual([]);
  });

  it('is unallocated on a network its payment did not select', async () => {
    await books.db.sql`update deposit_addresses set network_id = ${books.otherNetwork.id}`;
    await pay(usdt(100_000_000n));
    await credit();
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await deposits()).toMatchObject([{ state: 'unallocated' }]);
    expect(await balance('unallocated')).toBe('100');
  });

  it('closes transfers that are worth nothing, so that nothing stays open', async () => {
    await pay(usdt(0n), usdt(5n, { contract: '0x00000000000000000000000000000000000bad00' }));
    await credit();
    expect(await books.db.sql`select count(*)::int as open from sightings where booked_at is null`).toEqual([{ open: 0 }]);
  });

  it('closes what a configured token claims to move beyond all amounts, and what two of those would add up to in the books', async () => {
    const other = await books.aPayment();
    await pay(usdt(2n ** 256n - 1n), usdt(9n * 10n ** 65n), usdt(9n * 10n ** 65n, {}, other.address));
    await pay(usdt(100_000_000n));
    expect(await credit()).toBe(1);
    expect(await deposits()).toEqual([{ state: 'credited', path: 'standard', amount: '100' }]);
    expect(await books.db.sql`select count(*)::int as open from sightings where booked_at is null`).toEqual([{ open: 0 }]);
  });

  it('is not credited when its block was orphaned between two passes', async () => {
    await books.chain.mine();
    await books.chain.mine([usdt(100_000_000n)]);
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mineEmpty(3);
    expect(await credit()).toBe(0);
    expect(await row()).toMatchObject({ status: 'PENDING' });
  });

  it('can be withdrawn as soon as its block is final by the maturity rule, once', async () => {
    await pay(usdt(100_000_000n));
    await credit();
    expect(await Promise.all([matureCredits(books.deps), matureCredits(books.deps)])).toContain(1);
    expect([await balance('pending'), await balance('available')]).toEqual(['0', '99.5']);
    expect(await matureCredits(books.deps)).toBe(0);
  });

  /** A credit of this gateway, and one of another behind it; the other one's id. */
  const creditAlsoAnother = async (): Promise<string> => {
    const other = randomUUID();
    await books.db.sql`insert into gateways (id, name, status, billing, settings) select ${other}, 'Other Books', status, billing, settings from gateways`;
    const theirs = await books.aPayment({ gatewayId: other });
    await pay(usdt(100_000_000n));
    await credit();
    await pay(usdt(100_000_000n, {}, theirs.address));
    await credit();
    return other;
  };

  it('can be withdrawn also where the books of a gateway before it contradict themselves, which is said all the same', async () => {
    const other = await creditAlsoAnother();
    const pending = books.db.sql`kind = 'pending' and gateway_id = ${books.gatewayId}`;
    await books.db.sql`update ledger_accounts set balance = balance - 1 where ${pending}`;
    await expect(matureCredits(books.deps)).rejects.toThrow('pending');
    expect(await books.db.sql`select gateway_id from credits where matured_at is not null`).toEqual([{ gatewayId: other }]);
    await books.db.sql`update ledger_accounts set balance = balance + 1 where ${pending}`;
    expect(await matureCredits(books.deps)).toBe(1);
  });

  it('can be withdrawn however many credits before it are of a gateway whose books contradict themselves', async () => {
    await creditAlsoAnother();
    // As many as two looks take.
    await books.db.sql`
      insert into credits (id, gateway_id, asset_id, payment_id, pool, screening, gross, network_fee, commission, net, remaining, credited_at, matures_at, mature_height, network_id)
      select gen_random_uuid(), gateway_id, asset_id, payment_id, pool, screening, gross, network_fee, commission, 1000, 1000, credited_at, matures_at, mature_height, network_id
      from credits, generate_series(1, 400) where gateway_id = ${books.gatewayId}`;
    await expect(matureCredits(books.deps)).rejects.toThrow('pending');
    expect(await books.db.sql`select gateway_id from credits where matured_at is not null and net < 1000`).toHaveLength(2);
    await books.db.sql`delete from credits where net = 1000`;
  });

  it('wakes whoever delivers its webhook before the next payment of its block is credited, and nobody where there is none to deliver', async () => {
    const silent = await books.aPayment({ webhookUrl: null });
    await pay(...[payment, silent, await books.aPayment()].map(({ address }) => usdt(100_000_000n, {}, address)));
    const calls: string[] = [];
    const deps = { ...books.deps, wake: () => void calls.push('wake'), announce: ([id = '']: readonly string[]) => void calls.push(id) };
    expect(await creditFinalDeposits(deps, books.network.id)).toBe(3);
    const credited = calls.filter((call) => call !== 'wake');
    expect(calls).toEqual(credited.flatMap((id) => (id === silent.id ? [id] : ['wake', id])));
  });

  it('moves no payment that is in another status than whoever locked it takes it for, and takes back what was sent beside that', async () => {
    const effects = { credit: async () => undefined, notify: async () => undefined };
    const moved = books.deps.db.transaction((tx) =>
      advanceHeld(tx, 'payment', {
        id: payment.id,
        from: 'EXPIRED',
        event: 'DEPOSIT_CONFIRMED',
        actor: 'chain',
        facts: { ...NO_PAYMENT_FACTS, rule: 'exact_total_value', allocated: true },
        effects,
      }),
    );
    await expect(moved).rejects.toThrow(`payment ${payment.id} is not EXPIRED`);
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await books.db.sql`select 1 from payment_events where payment_id = ${payment.id} and event = 'DEPOSIT_CONFIRMED'`).toEqual([]);
  });

  it('leaves nothing behind where any of its statements fails or loses its connection, and is credited once then', async () => {
    await pay(usdt(100_000_000n));
    const { sql } = books.db;
    const written = async () => {
      const [tables] = await sql`select
        (select array_agg(a::text order by a.id) from ledger_accounts a) as accounts, (select array_agg(d::text order by d.id) from deposits d) as deposits,
        (select array_agg(s::text order by s.id) from sightings s) as sightings, (select array_agg(p::text order by p.id) from payments p) as payments,
        (select count(*) from payment_events) as events, (select count(*) from ledger_transactions) as posted, (select count(*) from ledger_entries) as entries,
        (select count(*) from credits) as credits, (select count(*) from webhook_events) as webhooks, (select count(*) from outbox) as work`;
      return tables;
    };
    const before = await written();
    const statements = [
      ['payments', 'update'],
      ['payment_events', 'insert'],
      ['ledger_transactions', 'insert'],
      ['ledger_accounts', 'insert or update'],
      ['ledger_entries', 'insert'],
      ['credits', 'insert'],
      ['deposits', 'update'],
      ['sightings', 'update'],
      ['webhook_events', 'insert'],
      ['outbox', 'insert'],
    ];
    for (const trouble of ["raise exception 'refused'", 'perform pg_terminate_backend(pg_backend_pid())']) {
      await sql.unsafe(`create or replace function trouble() returns trigger language plpgsql security definer as $$ begin ${trouble}; return new; end $$`);
      for (const [table, kind] of statements) {
        await sql.unsafe(`create trigger trouble before ${kind} on ${table} for each row execute function trouble()`);
        expect([table, await credit()]).toEqual([table, 0]);
        await sql.unsafe(`drop trigger trouble on ${table}`);
        expect([table, await written()]).toEqual([table, before]);
      }
    }
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAmount: '100' });
    expect(await balance('chain')).toBe('-100');
    expect(await webhooks()).toEqual(['SUCCESS']);
  });

  it('leaves other payments alone when one cannot be booked', async () => {
    const broken = payment;
    payment = await books.aPayment();
    await books.db.sql`update payments set commission_fee_payer = 'CUSTOMER', commission_bps = -10000 where id = ${broken.id}`;
    await pay(usdt(90_000_000n, {}, broken.address), usdt(100_000_000n));
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({ status: 'SUCCESS' });
    await books.db.sql`update payments set commission_fee_payer = 'MERCHANT', commission_bps = 0 where id = ${broken.id}`;
    expect(await credit()).toBe(1);
  });
});

describe('fees', () => {
  it('are accrued to the platform where it bears them', async () => {
    await start({ feePayer: 'PLATFORM', commissionBps: 100 });
    await pay(usdt(100_000_000n));
    await credit();
    expect([await balance('pending'), await balance('networkFee'), await balance('commission'), await balance('platformExpense')]).toEqual([
      '100',
      '0.5',
      '1',
      '-1.5',
    ]);
  });

  it('never take more than what arrived', async () => {
    await start({ checkAmountDeviation: false });
    await pay(usdt(300_000n));
    await credit();
    expect([await balance('pending'), await balance('networkFee')]).toEqual(['0', '0.3']);
    expect(await row()).toMatchObject({ status: 'SUCCESS' });
    await matureCredits(books.deps);
  });
});

describe('tolerance', () => {
  it.each([
    ['99', 'ACCEPTABLE'],
    ['98.99', 'MISMATCH'],
    ['101', 'ACCEPTABLE'],
    ['101.01', 'MISMATCH'],
    ['100', 'SUCCESS'],
  ])('of one dollar makes %s of 100 %s', async (sent, status) => {
    await start({ over: '1', under: '1' });
    await pay(usdt(parseTrusted<'asset'>(sent) / 10n ** 12n));
    await credit();
    expect(await row()).toMatchObject({ status });
    expect(await webhooks()).toEqual([status]);
  });
});

describe('finality by value', () => {
  const finality: Finality = {
    resolve: [{ upToUsd: '1000', rule: { blocks: 2 } }, { upToUsd: '10000', rule: { blocks: 4 } }, { rule: { tag: 'safe' } }],
    mature: { tag: 'finalized' },
  };

  it.each([
    ['1000', 2],
    ['1000.01', 4],
    ['10000.01', 6],
  ])('%s dollars are final after %i blocks', async (total, blocks) => {
    await start({ total }, { finality });
    await books.chain.mine([usdt(parseTrusted<'asset'>(total) / 10n ** 12n)]);
    await books.chain.mineEmpty(blocks - 2);
    expect(await credit()).toBe(0);
    await books.chain.mine();
    expect(await credit()).toBe(1);
  });

  it('is the deepest where nobody but the merchant says what a coin is worth', async () => {
    await start({ priceUsd: '0.000001' }, { finality });
    await books.db.sql`update payment_offers set price_source = 'merchant' where payment_id = ${payment.id}`;
    books.prices.delete('USDT');
    await pay(usdt(100_000_000n));
    expect(await credit()).toBe(0);
    await books.chain.mineEmpty(4);
    expect(await credit()).toBe(1);
  });

  it('counts the sum of a block, not each transfer', async () => {
    await start({ total: '1500' }, { finality });
    await pay(usdt(750_000_000n), usdt(750_000_000n));
    expect(await credit()).toBe(0);
    expect((await explainAnyPayment(books.deps, payment.id)).steps.at(-1)).toMatchObject({
      rule: 'awaiting_finality',
      figures: { confirmations: '2', requiredConfirmations: '4' },
    });
    await books.chain.mineEmpty(2);
    expect(await credit()).toBe(1);
  });

  it('lets the first deposit to become final decide, not the first to arrive', async () => {
    await start({ total: '2000' }, { finality });
    await books.chain.mine([usdt(2_000_000_000n)]);
    await books.chain.mine([usdt(1_000_000n)]);
    await books.chain.mine();
    await credit();
    expect(await row()).toMatchObject({ status: 'MISMATCH', receivedAmount: '1' });
  });

  it('holds credits back until the maturity rule is met too', async () => {
    await start({}, { finality });
    await pay(usdt(100_000_000n));
    await credit();
    expect(await matureCredits(books.deps)).toBe(0);
    await books.chain.mineEmpty(9);
    expect(await matureCredits(books.deps)).toBe(1);
  });

  it('books the loss and freezes the asset when a credited deposit is reorganised away, and takes it back when it returns', async () => {
    await start({}, { finality });
    await books.chain.mineEmpty(3);
    const transfer = usdt(100_000_000n);
    await pay(transfer);
    await credit();
    books.chain.forkAt(books.chain.height - 2);
    expect(await books.chain.mine()).toMatchObject({ outcome: 'applied', lostDeposits: [expect.any(String)] });
    expect(await row()).toMatchObject({ status: 'SUCCESS' });
    expect([await balance('chain'), await balance('loss'), await balance('pending')]).toEqual(['0', '-100', '99.5']);
    expect(await books.db.sql`select scope from freezes`).toEqual([{ scope: `asset:${books.assets.USDT.id}` }]);
    await assertCleanAudit(books.db);
    await books.chain.mine([transfer]);
    await books.chain.mineEmpty(2);
    expect(await credit()).toBe(0);
    expect([await balance('chain'), await balance('loss'), await balance('pending')]).toEqual(['-100', '0', '99.5']);
    // Nothing of it is left to book: what the chain holds is what the books say.
    expect(await books.db.sql`select 1 from sightings where canonical and booked_at is null`).toEqual([]);
    await books.chain.mineEmpty(9);
    expect(await books.db.sql`select scope from freezes`).toEqual([]);
  });

  it('leaves lost, and frozen, what comes back under the same name with another amount', async () => {
    await start({}, { finality });
    await books.chain.mineEmpty(3);
    const transfer = usdt(100_000_000n);
    await pay(transfer);
    await credit();
    books.chain.forkAt(books.chain.height - 2);
    await books.chain.mine();
    await books.chain.mine([{ ...transfer, rawAmount: '1000000' }]);
    await books.chain.mineEmpty(12);
    await credit();
    expect(await balance('loss')).toBe('-100');
    expect(await books.db.sql`select scope from freezes`).toEqual([{ scope: `asset:${books.assets.USDT.id}` }]);
  });
});

describe('time', () => {
  it('judges at the locked price what was first seen before the deadline, however late it confirms', async () => {
    await start({ expiresIn: 60 });
    await books.chain.mine([usdt(100_000_000n)]);
    await after(120);
    books.prices.set('USDT', parseTrusted('0.5'));
    await books.chain.mine();
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'late_confirmation', receivedAmountUsd: '50' });
  });

  it('captures what arrives within the grace period after expiry, at the market price', async () => {
    await start({ expiresIn: -60 });
    await expire();
    books.prices.set('USDT', parseTrusted('0.5'));
    await pay(usdt(200_000_000n));
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'late_capture', receivedAmount: '200', deviationUsd: '0' });
  });

  it('captures at the locked price what was mined before the deadline but found after expiry', async () => {
    await start({ expiresIn: -60 });
    await expire();
    books.prices.set('USDT', parseTrusted('0.5'));
    await books.chain.mine([usdt(100_000_000n)], { time: new Date(Date.now() - 300_000) });
    await books.chain.mine();
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'late_capture' });
  });

  it('sets aside what arrives after the grace period', async () => {
    await start({ expiresIn: -7_200, graceSeconds: 3_600 });
    await expire();
    await pay(usdt(100_000_000n));
    await credit();
    expect(await row()).toMatchObject({ status: 'EXPIRED' });
    expect(await deposits()).toMatchObject([{ state: 'unallocated' }]);
    expect(await balance('unallocated')).toBe('100');
  });
});

describe('a network that the deployment serves no more', () => {
  it('keeps its open deposits, and does not keep those of other networks from being credited', async () => {
    await start();
    await books.otherChain.mine([books.otherChain.transfer(payment.address, books.otherUsdt, 5_000_000n)]);
    await pay(usdt(100_000_000n));
    const chains = new Map([...books.deps.chains].filter(([name]) => name !== books.otherNetwork.name));
    expect(await creditFinalDeposits({ ...books.deps, chains }, books.network.id)).toBe(1);
    expect(await row()).toMatchObject({ status: 'SUCCESS' });
    expect(await books.db.sql`select state from deposits order by amount`).toEqual([{ state: 'seen' }, { state: 'credited' }]);
  });
});

describe('what the consumers did not get to', () => {
  it('is credited on a network whatever is wrong with one before it, which is said all the same', async () => {
    await start();
    await pay(usdt(0n));
    const other = await books.aPayment();
    await books.db.sql`update deposit_addresses set network_id = ${books.otherNetwork.id} where id = ${other.addressId}`;
    await books.otherChain.mine([books.otherChain.transfer(other.address, books.otherUsdt, 100_000_000n)]);
    await books.otherChain.mine();
    await books.db.sql.unsafe(`
      create function refuse_booking() returns trigger language plpgsql as $$ begin raise exception 'nobody foresaw this'; end $$;
      create trigger refused before update on sightings for each row when (new.network_id = '${books.network.id}') execute function refuse_booking()`);
    await expect(periodicWork['credit-deposits'].run(books.deps)).rejects.toThrow('nobody foresaw this');
    expect(await row(other)).toMatchObject({ status: 'SUCCESS' });
    await books.db.sql`drop trigger refused on sightings`;
    await credit();
  });
});

describe('a price outage', () => {
  it('keeps a payment pending whose judgement needs the price, and resolves it when one is back', async () => {
    await start();
    books.prices.delete('ETH');
    await pay(books.chain.transfer(payment.address, books.assets.ETH, 50_000_000_000_000_000n));
    expect(await credit()).toBe(0);
    expect(await row()).toMatchObject({ status: 'PENDING' });
    books.prices.set('ETH', parseTrusted('1000'));
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({ status: 'MISMATCH', receivedAmountUsd: '50', deviationUsd: '-50' });
  });

  it('keeps no other payment of the network waiting, however many wait for the price, nor those of an asset whose price is back', async () => {
    await start();
    const waiting = [payment];
    // More than are booked together, and one whose price comes back.
    while (waiting.length < 111) waiting.push(await books.aPayment());
    const back = await books.aPayment();
    books.prices.delete('ETH');
    books.prices.delete('USDC');
    const coins = (to: TestPayment, asset = books.assets.ETH) => books.chain.transfer(to.address, asset, 50_000_000_000_000_000n);
    await pay(...waiting.map((to) => coins(to)), books.chain.transfer(back.address, books.assets.USDC, 100_000_000n));
    expect(await credit()).toBe(0);
    books.prices.set('USDC', parseTrusted('1'));
    const next = await books.aPayment();
    await pay(usdt(100_000_000n, {}, next.address));
    const asked: string[] = [];
    let nowMs = 0;
    const prices = {
      ...books.deps.prices,
      fresh: async (symbol: string) => {
        asked.push(symbol);
        if (symbol === 'ETH') nowMs += 1_000;
        return books.deps.prices.fresh(symbol);
      },
    };
    expect(await creditFinalDeposits({ ...books.deps, prices, wallClock: () => nowMs }, books.network.id)).toBe(2);
    // Those that wait come last, and take no longer than a pass may.
    expect(asked.indexOf('USDT')).toBeLessThan(asked.indexOf('ETH', asked.indexOf('USDC')));
    expect(asked.filter((symbol) => symbol === 'ETH').length).toBeLessThan(waiting.length);
    books.prices.set('ETH', parseTrusted('2000'));
    expect(await credit()).toBe(waiting.length);
  });

  it('does not let a later deposit decide instead of the one that waits', async () => {
    await start();
    books.prices.delete('ETH');
    await books.chain.mine([books.chain.transfer(payment.address, books.assets.ETH, 50_000_000_000_000_000n)]);
    await books.chain.mine([usdt(100_000_000n)]);
    await books.chain.mine();
    expect(await credit()).toBe(0);
    books.prices.set('ETH', parseTrusted('2000'));
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAssetId: books.assets.ETH.id });
    expect(await deposits()).toMatchObject([{ state: 'credited' }, { state: 'credited' }]);
  });

  it('does not delay what the locked price judges', async () => {
    await start();
    books.prices.delete('USDT');
    await pay(usdt(100_000_000n));
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAmountUsd: null });
  });
});
