import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resolveHeldPayment, type Resolution } from '#api/aml/resolve-held-payment.ts';
import { CHECKS } from '#api/audit/checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import type { Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { listSweepable } from '#api/store/own-moves.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury, payHeld } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';

const FLAGGED = 90;

/** Payers' own addresses, which coins are paid back to. */
const PAYERS = { evm: '0x00000000000000000000000000000000cafe0002', tron: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' };

describe.each(['evm', 'tron'] as const)('coins of the held pool (%s)', (family) => {
  let treasury: Treasury<CommonChain>;
  let shop: Gateway;
  beforeAll(async () => {
    treasury = await aTreasuryOf(family);
    shop = await treasury.world.aGateway({ screening: { enabled: true, credits: 1_000 } });
  });
  afterEach(async () => {
    await treasury.mine(2);
    await treasury.credit();
    await expectApart();
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  });
  afterAll(() => treasury.stop());

  const sql = () => treasury.world.database.sql;
  const usdt = () => treasury.assets.USDT as NonNullable<Treasury['assets'][string]>;
  const raw = (amount: string) => toUnits(parseTrusted(amount), usdt().decimals) as bigint;
  const holds = (address: string) => treasury.chain.tokenBalance(usdt().contract as string, address);
  const status = async (id: string) => (await getSettlement(treasury.deps, { gateway: shop, id })).status;
  const resolve = (paymentId: string, resolution: Resolution) => resolveHeldPayment(treasury.deps, { paymentId, resolution, reason: 'a test' });
  const paymentAt = async (address: string) =>
    (await sql()<{ id: string }[]>`select payment_id as id from deposit_addresses where address = ${address}`)[0]?.id as string;
  const amlState = async (address: string) => (await sql()`select aml_state from payments where id = ${await paymentAt(address)}`)[0]?.amlState;
  const transfers = () => sql()<{ amount: string; status: string }[]>`
    select raw_amount::text as amount, status from payouts where purpose = 'held_release' order by created_at`;
  const sweepsOf = (address: string) => sql()<{ id: string; status: string; recipient: string }[]>`
    select p.id, p.status, p.recipient from payouts p join wallets w on w.id = p.wallet_id where p.purpose = 'sweep' and w.address = ${address} order by p.created_at`;

  /** Nothing of a payment that is held now ever went to the hot wallet, except what followed it back; GREEN was paid by hot alone, the rest by held. */
  async function expectApart(): Promise<void> {
    const wrong = await sql()`
      select p.purpose, s.pool, w.role from payouts p join wallets w on w.id = p.wallet_id left join settlements s on s.id = p.settlement_id
      where (p.purpose = 'settlement' and w.role <> case s.pool when 'green' then 'hot' else 'held' end) or (p.purpose = 'refund' and w.role <> 'held')`;
    expect(wrong).toEqual([]);
    const [sums] = await sql()<{ hot: string; held: string }[]>`
      select coalesce(sum(balance) filter (where kind in ('pending', 'available')), 0)::text as hot,
        coalesce(sum(balance) filter (where kind in ('heldPending', 'held', 'withheld', 'refunding')), 0)::text as held
      from ledger_accounts where asset_id = ${usdt().id}`;
    const lying = async (pool: 'green' | 'held') =>
      (await listSweepable(sql(), { networkId: treasury.network.id, assetId: usdt().id, pool, above: 0n, limit: 100 })).reduce(
        (sum, one) => sum + one.rawAmount,
        0n,
      );
    expect((await holds(treasury.wallet('held'))) + (await lying('held')), 'coins of the held pool').toBeGreaterThanOrEqual(
      toUnits(parseTrusted(sums?.held as string), usdt().decimals) as bigint,
    );
  }

  /** The signer refuses a payout after a change of some row, freezes the network, and nothing is different once it is as it was. */
  async function refuses(payoutId: string, change: PromiseLike<unknown>, restore: () => PromiseLike<unknown>): Promise<void> {
    await change;
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('refused');
    expect(await sql()`delete from freezes returning scope`).toEqual([{ scope: `network:${treasury.network.config.name}` }]);
    await restore();
  }

  it('pay an AML_HELD cashout and never a GREEN one, which the hot wallet pays beside it', async () => {
    const flagged = await treasury.earn(shop, 'USDT', '100', FLAGGED);
    const clean = await treasury.earn(shop, 'USDT', '50', 0);
    expect(await amlState(flagged)).toBe('HELD');
    const held = await treasury.cashOut(shop, 'USDT', '60', { route: 'AML_HELD' });
    const green = await treasury.cashOut(shop, 'USDT', '20');
    await treasury.settleAll();
    expect([await status(held.id), await status(green.id)]).toEqual(['SETTLED', 'SETTLED']);
    expect(await sweepsOf(flagged)).toMatchObject([{ status: 'CONFIRMED', recipient: treasury.wallet('held') }]);
    expect(await sweepsOf(clean)).toMatchObject([{ status: 'CONFIRMED', recipient: treasury.wallet('hot') }]);
    const gas = await sql()`select 1 from payouts where purpose = 'top_up' and recipient = ${treasury.wallet('held')} and status = 'CONFIRMED'`;
    expect(gas).not.toHaveLength(0);
    // The rest of both pools is where it belongs.
    expect(await holds(treasury.wallet('held'))).toBeGreaterThanOrEqual(raw('40'));
  });

  it('follow a payment that an operator released after they were swept, and pay GREEN from then on', async () => {
    const before = await holds(treasury.wallet('hot'));
    // Drawn in part by the cashout above: what it drew stays where it was paid from.
    const [{ id } = { id: '' }] = await sql()<{ id: string }[]>`select id from payments where aml_state = 'HELD'`;
    await resolve(id, { action: 'RELEASE' });
    await payHeld(treasury.deps);
    await treasury.settleAll();
    expect(await transfers()).toEqual([{ amount: raw('40').toString(), status: 'CONFIRMED' }]);
    expect((await holds(treasury.wallet('hot'))) - before).toBe(raw('40'));
    expect(await payHeld(treasury.deps)).toBe(0);
    const spent = await treasury.cashOut(shop, 'USDT', '65');
    await treasury.settleAll();
    expect(await status(spent.id)).toBe('SETTLED');
  });

  it('are paid back from the held wallet to the address an operator named, and again, once, when the first transfer fails', async () => {
    const flagged = await treasury.earn(shop, 'USDT', '30', FLAGGED);
    await resolve(await paymentAt(flagged), { action: 'REFUND', address: PAYERS[family] });
    const planned = async () => (await sql()<{ id: string }[]>`select id from payouts where purpose = 'refund' and status = 'PLANNED'`)[0]?.id;
    for (let round = 0; round < 15; round++) {
      await payHeld(treasury.deps);
      if ((await planned()) !== undefined) break;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    const refundId = (await planned()) as string;
    const change = (recipient: string) => sql()`update aml_refunds set recipient = ${recipient} where status = 'ordered'`;
    await refuses(refundId, change(treasury.merchant), () => change(PAYERS[family]));
    if (family === 'evm') {
      await treasury.sign();
      await treasury.work();
      const revert = '0x60006000fd';
      const node = (treasury.chain as unknown as { node: { call(method: string, params: unknown[]): Promise<string> } }).node;
      const code = await node.call('eth_getCode', [usdt().contract, 'latest']);
      await node.call('anvil_setCode', [usdt().contract, revert]);
      await treasury.mine();
      await node.call('anvil_setCode', [usdt().contract, code]);
    }
    await treasury.settleAll();
    expect(await amlState(flagged)).toBe('REFUNDED');
    const [refund] = await sql()<{ amount: string; status: string }[]>`select amount::text as amount, status from aml_refunds`;
    expect(refund?.status).toBe('paid');
    expect(await holds(PAYERS[family])).toBe(toUnits(parseTrusted(refund?.amount as string), usdt().decimals));
    const families = await sql()`select status from payouts where purpose = 'refund' order by family`;
    expect(families.map((row) => row.status)).toEqual(family === 'evm' ? ['FAILED', 'CONFIRMED'] : ['CONFIRMED']);
  });

  it('lie where they came while a verdict is awaited, and are swept to the wallet of the pool it puts them in', async () => {
    const waiting = await treasury.earn(shop, 'USDT', '80', null);
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    await planSweeps(treasury.deps);
    expect(await sweepsOf(waiting)).toEqual([]);
    await upsertScreeningScore(sql(), { address: waiting, score: FLAGGED });
    await treasury.world.advance(61);
    await treasury.credit();
    expect(await amlState(waiting)).toBe('HELD');
    await planSweeps(treasury.deps);
    expect(await sweepsOf(waiting)).toMatchObject([{ recipient: treasury.wallet('held') }]);
    await treasury.settleAll().catch(() => undefined);
    for (let round = 0; round < 8 && (await sweepsOf(waiting))[0]?.status !== 'CONFIRMED'; round++) {
      await planSweeps(treasury.deps);
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    expect(await sweepsOf(waiting)).toMatchObject([{ status: 'CONFIRMED' }]);
  });

  if (family === 'tron') return;

  it('that were not swept yet when they are released go straight to the hot wallet', async () => {
    const flagged = await treasury.earn(shop, 'USDT', '25', FLAGGED);
    const made = (await transfers()).length;
    await resolve(await paymentAt(flagged), { action: 'RELEASE' });
    expect(await payHeld(treasury.deps)).toBe(0);
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    await sweepAll(flagged);
    expect(await sweepsOf(flagged)).toMatchObject([{ status: 'CONFIRMED', recipient: treasury.wallet('hot') }]);
    expect(await transfers()).toHaveLength(made);
  });

  it('that are on their way to the held wallet when they are released arrive there, and follow', async () => {
    const flagged = await treasury.earn(shop, 'USDT', '35', FLAGGED);
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    for (let round = 0; round < 8 && (await sweepsOf(flagged))[0]?.status !== 'BROADCAST'; round++) {
      await planSweeps(treasury.deps);
      await treasury.sign();
      await treasury.work();
      if ((await sweepsOf(flagged))[0]?.status !== 'BROADCAST') await treasury.mine();
    }
    await resolve(await paymentAt(flagged), { action: 'RELEASE' });
    // Nothing is planned on what may still fail.
    expect(await payHeld(treasury.deps)).toBe(0);
    await treasury.mine(3);
    await payHeld(treasury.deps);
    await treasury.settleAll();
    expect(await sweepsOf(flagged)).toMatchObject([{ status: 'CONFIRMED', recipient: treasury.wallet('held') }]);
    expect((await transfers()).at(-1)).toEqual({ amount: raw('35').toString(), status: 'CONFIRMED' });
  });

  it('that were in the hot wallet when a later deposit of their payment was flagged leave it for the held one', async () => {
    const address = await treasury.earn(shop, 'USDT', '45', 0);
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    await sweepAll(address);
    expect(await sweepsOf(address)).toMatchObject([{ status: 'CONFIRMED', recipient: treasury.wallet('hot') }]);
    await upsertScreeningScore(sql(), { address, score: FLAGGED });
    await treasury.chain.payAndMine(address, usdt().contract, raw('10'));
    await treasury.mine(2);
    await treasury.credit();
    expect(await amlState(address)).toBe('HELD');
    await payHeld(treasury.deps);
    await treasury.settleAll();
    expect((await transfers()).at(-1)).toEqual({ amount: raw('45').toString(), status: 'CONFIRMED' });
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    await sweepAll(address);
    expect((await sweepsOf(address)).map((sweep) => sweep.recipient)).toEqual([treasury.wallet('hot'), treasury.wallet('held')]);
  });

  it('that a cashout was paid with for a payment whose own were released unswept come back from the hot wallet', async () => {
    const other = await treasury.world.aGateway({ screening: { enabled: true, credits: 10 } });
    const flagged = await treasury.earn(other, 'USDT', '40', FLAGGED);
    await treasury.cashOut(other, 'USDT', '15', { route: 'AML_HELD' });
    await treasury.settleAll();
    expect(await sweepsOf(flagged)).toEqual([]);
    await resolve(await paymentAt(flagged), { action: 'RELEASE' });
    await payHeld(treasury.deps);
    await treasury.settleAll();
    expect((await transfers()).at(-1)).toEqual({ amount: raw('15').toString(), status: 'CONFIRMED' });
    const [last] =
      await sql()`select w.role from payouts p join wallets w on w.id = p.wallet_id where p.purpose = 'held_release' order by p.created_at desc limit 1`;
    expect(last?.role).toBe('hot');
    expect(await payHeld(treasury.deps)).toBe(0);
  });

  it('are not signed away to the hot wallet, whatever the rows were changed to', async () => {
    const flagged = await treasury.earn(shop, 'USDT', '55', FLAGGED);
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    for (let round = 0; round < 4; round++) {
      await planSweeps(treasury.deps);
      if ((await sql()`select 1 from payouts where id = ${(await sweepsOf(flagged))[0]?.id as string} and nonce is not null`).length === 1) break;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    const [sweep] = await sweepsOf(flagged);
    await sql()`update payouts set recipient = ${treasury.wallet('hot')} where id = ${sweep?.id as string}`;
    expect(await signPayout(treasury.deps, treasury.signers, sweep?.id as string)).toBe('waiting');
    await sql()`update payouts set recipient = ${treasury.wallet('held')} where id = ${sweep?.id as string}`;
    expect(await signPayout(treasury.deps, treasury.signers, sweep?.id as string)).toBe('signed');
    await treasury.settleAll();

    // A cashout's pool is in what was authenticated when it was claimed.
    const green = await treasury.cashOut(shop, 'USDT', '5');
    const made = () => sql()<{ id: string; nonce: number }[]>`select id, nonce from payouts where settlement_id = ${green.id} and purpose = 'settlement'`;
    for (let round = 0; round < 6; round++) {
      await dispatchSettlement(treasury.deps, green.id);
      if ((await made()).length === 1) break;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    const [payout] = await made();
    const id = payout?.id as string;
    const pool = (to: string) => sql()`update settlements set pool = ${to} where id = ${green.id}`;
    const wallet = (role: string, nonce: number) =>
      sql()`update payouts set nonce = ${nonce}, wallet_id = (select id from wallets where role = ${role} and network_id = ${treasury.network.id}) where id = ${id}`;
    await refuses(id, wallet('held', 10_000), () => wallet('hot', payout?.nonce as number));
    const both = Promise.all([pool('held'), wallet('held', 10_000)]);
    await refuses(id, both, () => Promise.all([pool('green'), wallet('hot', payout?.nonce as number)]));
    await treasury.settleAll();
    expect(await status(green.id)).toBe('SETTLED');
  });

  it('are looked after by the audit, which sees a wrong wallet and a refund that is paid and not marked so', async () => {
    const rows = async (name: string) =>
      (await runCheck(sql() as never, CHECKS.find((check) => check.name === name) as never, { staticAllowed: true })).rows.length;
    const [green] = await sql()<{ id: string }[]>`select id from settlements where pool = 'green' and status = 'SETTLED' limit 1`;
    await sql()`update settlements set pool = 'held' where id = ${green?.id as string}`;
    expect(await rows('A25')).toBe(1);
    await sql()`update settlements set pool = 'green' where id = ${green?.id as string}`;
    await sql()`update payouts set recipient = ${treasury.merchant} where purpose = 'sweep' and status = 'CONFIRMED'`;
    expect(await rows('A25')).toBeGreaterThan(0);
    await sql()`
      update payouts p set recipient = g.recipient from payout_attempts t join sightings g on g.txid = t.txid and g.kind = 'token'
      where t.payout_id = p.id and p.purpose = 'sweep' and p.status = 'CONFIRMED'`;
    expect([await rows('A25'), await rows('A26')]).toEqual([0, 0]);
    await sql()`update aml_refunds set status = 'ordered', ended_at = null, txid = null`;
    expect(await rows('A26')).toBe(1);
    await sql()`
      update aml_refunds r set status = 'paid', ended_at = sluice_now(), txid = p.txid from payouts p where p.refund_id = r.id and p.family = 2`;
    expect(await rows('A26')).toBe(0);
  });

  /** Plans, signs and mines until nothing of an address is left to be swept. */
  async function sweepAll(address: string): Promise<void> {
    for (let round = 0; round < 10; round++) {
      await planSweeps(treasury.deps);
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
      if (round > 1 && (await sweepsOf(address)).every((sweep) => sweep.status === 'CONFIRMED') && (await sweepsOf(address)).length > 0) return;
    }
  }
});
