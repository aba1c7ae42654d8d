import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resolveHeldPayment, type Resolution } from '#api/aml/resolve-held-payment.ts';
import { compareHoldings } from '#api/audit/holdings.ts';
import { reconcile } from '#api/audit/reconcile.ts';
import type { Gateway } from '#api/deps.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { insertWatches } from '#api/store/deposit-addresses.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { formatAmount, parseTrusted, toUnits } from '#shared/core/money.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury, payHeld } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';

const FLAGGED = 90;

describe('outputs of the held pool', () => {
  let treasury: Treasury<CommonChain>;
  let shop: Gateway;
  beforeAll(async () => {
    treasury = await aTreasuryOf('bitcoin');
    shop = await treasury.world.aGateway({ screening: { enabled: true, credits: 1_000 } });
  });
  afterEach(async () => {
    await treasury.mine(2);
    await treasury.credit();
    expect((await compareHoldings(treasury.deps)).map((one) => formatAmount(one.difference))).toEqual(['0']);
    await assertBooksEqualChain(treasury);
    // Whose outputs a payout spends is what A28 is about.
    await treasury.audit();
  });
  afterAll(() => treasury.stop());

  const sql = () => treasury.world.database.sql;
  const raw = (amount: string) => toUnits(parseTrusted(amount), 8) as bigint;
  const status = async (id: string) => (await getSettlement(treasury.deps, { gateway: shop, id })).status;
  const resolve = (paymentId: string, resolution: Resolution) => resolveHeldPayment(treasury.deps, { paymentId, resolution, reason: 'a test' });
  const paymentAt = async (address: string) =>
    (await sql()<{ id: string }[]>`select payment_id as id from deposit_addresses where address = ${address}`)[0]?.id as string;
  const amlState = async (address: string) => (await sql()`select aml_state from payments where id = ${await paymentAt(address)}`)[0]?.amlState;
  const transfers = () => sql()<{ amount: string; status: string; role: string }[]>`
    select p.raw_amount::text as amount, p.status, w.role from payouts p join wallets w on w.id = p.wallet_id where p.purpose = 'held_release' order by p.created_at`;
  const spendable = async (role: 'hot' | 'held' | 'funding') =>
    listSpendable(sql(), { networkId: treasury.network.id, address: treasury.wallet(role), pool: role === 'hot' ? 'green' : role === 'held' ? 'held' : null });
  const total = async (role: 'hot' | 'held' | 'funding') => (await spendable(role)).reduce((sum, one) => sum + one.rawAmount, 0n);
  /** Addresses of what a cashout, a refund or a transfer has spent. */
  const spentBy = async (what: { settlementId?: string; purpose?: string }) => {
    const rows = await sql()<{ address: string }[]>`
      select distinct o.recipient as address from payouts p join payout_attempts t on t.payout_id = p.id
        join sightings g on g.txid = t.txid and g.kind = 'sent' and g.canonical join spent_outputs s on s.sighting_id = g.id
        join sightings o on o.txid = s.txid and o.ordinal = s.vout and o.kind = 'native' and o.canonical
      where p.settlement_id = ${what.settlementId ?? null}::uuid and p.purpose = 'settlement' or p.purpose = ${what.purpose ?? null}`;
    return rows.map((row) => row.address).sort();
  };

  it('are spendable though their wallet held them before anybody watched it, and are booked once', async () => {
    const held = treasury.wallet('held');
    await sql()`delete from watches where address = ${held}`;
    await treasury.chain.payAndMine(held, null, raw('0.0003'));
    await treasury.chain.payAndMine(held, null, raw('0.0004'));
    await treasury.mine(1);
    expect(await spendable('held')).toEqual([]);
    await treasury.deps.db.transaction((tx) => insertWatches(tx, [treasury.network.id], { address: held, until: null }));
    await treasury.mine(3);
    expect([await bookOpeningBalances(treasury.deps), await bookOpeningBalances(treasury.deps)]).toEqual([3, 0]);
    expect((await spendable('held')).map((one) => one.rawAmount)).toEqual([raw('0.0004'), raw('0.0003')]);
  });

  it('alone pay an AML_HELD cashout, and never a GREEN one, which clean ones pay beside it', async () => {
    const flagged = await treasury.earn(shop, 'BTC', '0.1', FLAGGED);
    const clean = await treasury.earn(shop, 'BTC', '0.05', 0);
    expect(await amlState(flagged)).toBe('HELD');
    const held = await treasury.cashOut(shop, 'BTC', '0.06', { route: 'AML_HELD' });
    const green = await treasury.cashOut(shop, 'BTC', '0.02');
    await treasury.settleAll();
    expect([await status(held.id), await status(green.id)]).toEqual(['SETTLED', 'SETTLED']);
    expect(await spentBy({ settlementId: held.id })).toEqual([flagged]);
    expect(await spentBy({ settlementId: green.id })).toEqual([clean]);
  });

  it('follow a payment that was released after one of its outputs was spent: what no cashout drew, to the unit', async () => {
    const [{ id } = { id: '' }] = await sql()<{ id: string }[]>`select id from payments where aml_state = 'HELD'`;
    const [hot, held] = [await total('hot'), await total('held')];
    await resolve(id, { action: 'RELEASE' });
    await payHeld(treasury.deps);
    await treasury.settleAll();
    await treasury.mine(2);
    expect(await transfers()).toEqual([{ amount: raw('0.04').toString(), status: 'CONFIRMED', role: 'held' }]);
    expect((await total('hot')) - hot).toBe(raw('0.04'));
    expect(held - (await total('held'))).toBeGreaterThan(raw('0.04'));
    expect(await payHeld(treasury.deps)).toBe(0);
  });

  it('that were not spent yet when they were released stay where they are, and pay GREEN from then on', async () => {
    const flagged = await treasury.earn(shop, 'BTC', '0.025', FLAGGED);
    const made = (await transfers()).length;
    await resolve(await paymentAt(flagged), { action: 'RELEASE' });
    expect(await payHeld(treasury.deps)).toBe(0);
    const everything = await treasury.cashOut(shop, 'BTC', '0.09');
    await treasury.settleAll();
    expect([await status(everything.id), (await transfers()).length]).toEqual(['SETTLED', made]);
    expect(await spentBy({ settlementId: everything.id })).toContain(flagged);
  });

  it('are paid back to the address an operator named: all that came but the network fee', async () => {
    const flagged = await treasury.earn(shop, 'BTC', '0.03', FLAGGED);
    const payer = treasury.chain.outsider;
    const before = await treasury.chain.balance(payer);
    await resolve(await paymentAt(flagged), { action: 'REFUND', address: payer });
    await treasury.settleAll();
    await treasury.mine(2);
    expect(await amlState(flagged)).toBe('REFUNDED');
    expect((await treasury.chain.balance(payer)) - before).toBe(raw('0.03') - raw('0.00001'));
    const spent = await spentBy({ purpose: 'refund' });
    expect(spent.filter((address) => address !== flagged && address !== treasury.wallet('held'))).toEqual([]);
  });

  it('are not touched while a verdict is awaited, and belong to the pool it puts them in', async () => {
    const waiting = await treasury.earn(shop, 'BTC', '0.04', null);
    const lie = async (role: 'hot' | 'held') => (await spendable(role)).some((one) => one.address === waiting);
    expect([await lie('hot'), await lie('held')]).toEqual([false, false]);
    await upsertScreeningScore(sql(), { address: waiting, score: FLAGGED });
    await treasury.world.advance(61);
    await treasury.credit();
    expect([await amlState(waiting), await lie('hot'), await lie('held')]).toEqual(['HELD', false, true]);
    await resolve(await paymentAt(waiting), { action: 'WITHHOLD' });
  });

  it('leave the hot wallet when a later output of a payment is flagged whose first one was spent already, and not what was drawn', async () => {
    const address = await treasury.earn(shop, 'BTC', '0.045', 0);
    const green = await treasury.cashOut(shop, 'BTC', '0.03');
    await treasury.settleAll();
    expect([await status(green.id), await spentBy({ settlementId: green.id })]).toEqual(['SETTLED', expect.arrayContaining([address])]);
    const [drawn] = await sql()<{ sum: string }[]>`
      select coalesce(sum(w.amount), 0)::text as sum from credit_draws w join credits c on c.id = w.credit_id where c.payment_id = ${await paymentAt(address)} and w.state = 'spent'`;
    await upsertScreeningScore(sql(), { address, score: FLAGGED });
    await treasury.chain.payAndMine(address, null, raw('0.01'));
    await treasury.mine(2);
    await treasury.credit();
    expect(await amlState(address)).toBe('HELD');
    await payHeld(treasury.deps);
    await treasury.settleAll();
    expect((await transfers()).at(-1)).toEqual({ amount: (raw('0.045') - raw(drawn?.sum as string)).toString(), status: 'CONFIRMED', role: 'hot' });
    expect((await spendable('held')).some((one) => one.address === address)).toBe(true);
    expect(await payHeld(treasury.deps)).toBe(0);
  });

  it('that a cashout was paid with for a payment whose own were released unspent come back', async () => {
    const other = await treasury.world.aGateway({ screening: { enabled: true, credits: 10 } });
    await treasury.earn(shop, 'BTC', '0.2', FLAGGED);
    const flagged = await treasury.earn(other, 'BTC', '0.04', FLAGGED);
    const held = await treasury.cashOut(other, 'BTC', '0.015', { route: 'AML_HELD' });
    await treasury.settleAll();
    const own = (await spentBy({ settlementId: held.id })).includes(flagged);
    await resolve(await paymentAt(flagged), { action: 'RELEASE' });
    await payHeld(treasury.deps);
    await treasury.settleAll();
    expect((await transfers()).at(-1)).toEqual({ amount: raw(own ? '0.025' : '0.015').toString(), status: 'CONFIRMED', role: own ? 'held' : 'hot' });
    expect(await payHeld(treasury.deps)).toBe(0);
  });

  it('that a cashout is on its way to spend when they are released follow it once it arrived', async () => {
    const other = await treasury.world.aGateway({ screening: { enabled: true, credits: 10 } });
    const flagged = await treasury.earn(other, 'BTC', '0.31', FLAGGED);
    const held = await treasury.cashOut(other, 'BTC', '0.305', { route: 'AML_HELD' });
    await treasury.work();
    await treasury.sign();
    await treasury.work();
    await resolve(await paymentAt(flagged), { action: 'RELEASE' });
    const made = (await transfers()).length;
    expect(await payHeld(treasury.deps)).toBe(0);
    await treasury.mine(3);
    await payHeld(treasury.deps);
    await treasury.settleAll();
    expect((await getSettlement(treasury.deps, { gateway: other, id: held.id })).status).toBe('SETTLED');
    expect((await transfers()).slice(made)).toEqual([{ amount: raw('0.005').toString(), status: 'CONFIRMED', role: 'held' }]);
  });

  it('are not signed away by a cashout of the green pool that was to spend them before they were flagged', async () => {
    const other = await treasury.world.aGateway({ screening: { enabled: true, credits: 10 } });
    const address = await treasury.earn(other, 'BTC', '1', 0);
    // More than all the rest of the pool.
    const green = await treasury.cashOut(other, 'BTC', '0.8');
    await treasury.work();
    expect((await sql()`select plan->'fields'->>'inputs' as inputs from payouts where settlement_id = ${green.id}`)[0]?.inputs).toContain(address);
    await upsertScreeningScore(sql(), { address, score: FLAGGED });
    await treasury.chain.payAndMine(address, null, raw('0.001'));
    await treasury.mine(2);
    await treasury.credit();
    expect(await amlState(address)).toBe('HELD');
    expect(await treasury.sign()).toEqual(['waiting']);
    expect([await sql()`select scope from freezes`, await payHeld(treasury.deps)]).toEqual([[], 0]);
    const made = (await transfers()).length;
    const now = async () => (await getSettlement(treasury.deps, { gateway: other, id: green.id })).status;
    for (let round = 0; round < 6 && (await now()) !== 'SETTLED'; round++) {
      await treasury.world.advance(600);
      await tendPayouts(treasury.deps);
      await treasury.settleAll();
    }
    expect(await now()).toBe('SETTLED');
    // What it drew is green for good: as much of the held coins takes the place of what it was to spend.
    expect((await transfers()).slice(made)).toEqual([{ amount: raw('0.8').toString(), status: 'CONFIRMED', role: 'held' }]);
    expect(await spentBy({ settlementId: green.id })).not.toContain(address);
  });

  it('that were withheld after their payment was released stand for none that has to follow it', async () => {
    const other = await treasury.world.aGateway({ screening: { enabled: true, credits: 10 } });
    const address = await treasury.earn(other, 'BTC', '0.06', FLAGGED);
    // Nothing else covers it: what was withheld is spent with it, or instead of it.
    await treasury.cashOut(other, 'BTC', '0.02', { route: 'AML_HELD' });
    await treasury.settleAll();
    const spent = (
      await sql()`
      select 1 from deposits d join deposit_addresses a on a.id = d.address_id join spent_outputs s on s.txid = d.txid and s.vout = d.ordinal where a.address = ${address}`
    ).length;
    await resolve(await paymentAt(address), { action: 'RELEASE' });
    await treasury.chain.payAndMine(address, null, raw('0.007'));
    await treasury.mine(2);
    await treasury.credit();
    const [late] = await sql()`select taken, pool from credits where payment_id = ${await paymentAt(address)} order by credited_at desc limit 1`;
    expect(late).toEqual({ taken: 'withheld', pool: 'held' });
    await payHeld(treasury.deps);
    await treasury.settleAll();
    expect((await transfers()).at(-1)).toEqual(
      spent > 0 ? { amount: raw('0.04').toString(), status: 'CONFIRMED', role: 'held' } : { amount: raw('0.02').toString(), status: 'CONFIRMED', role: 'hot' },
    );
    expect(await payHeld(treasury.deps)).toBe(0);
  });

  it('that somebody else spends are missed at once: their network is frozen and their pool stopped', async () => {
    const address = await treasury.earn(shop, 'BTC', '0.02', FLAGGED);
    const [coin] = (await spendable('held')).filter((one) => one.address === address);
    if (coin === undefined) throw new Error('the coins are not there');
    const [index] = await sql()<{ n: number }[]>`select derivation_index as n from deposit_addresses where address = ${address}`;
    const path = `${treasury.network.config.accountPath}/0/${index?.n}`;
    const stolen = coin.rawAmount - 1_000n;
    const intent = { sender: address, recipient: treasury.chain.outsider, contract: null, rawAmount: stolen };
    const fields = { inputs: `${coin.txid}:${coin.vout}:${coin.rawAmount}:${address}`, change: '' };
    const signed = await treasury.signers.get(treasury.network.config.name)?.sign(path, { intent, nonce: null, fields, paths: { [address]: path } });
    const payer = treasury.deps.chains.get(treasury.network.config.name)?.payer;
    expect(await payer?.broadcast(signed?.signedBytes as Uint8Array)).toMatchObject({ accepted: true });
    await treasury.mine();
    expect(await reconcile(treasury.deps)).toBe(1);
    expect(await sql()`select scope from freezes`).toEqual([{ scope: `network:${treasury.network.config.name}` }]);
    expect((await sql()`select role from wallets where halted_reason is not null order by role`).map((row) => row.role)).toEqual(['deposit', 'held']);
  });
});
