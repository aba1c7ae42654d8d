import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import { aTreasury, aTreasuryOf, type Treasury } from '#test/fixtures/treasury.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { makeFailed, makeUnpaid, withoutRules } from './rewrite-books.ts';

/** Whoever writes to Postgres as its superuser, with no key of ours (SECURITY.md): no trigger, no constraint and no right stops them. */
describe.each(['evm', 'tron', 'bitcoin'] as const)('whoever writes anything to the database, on %s,', (family) => {
  const [symbol, amount] = { evm: ['USDT', '40'], tron: ['USDT', '40'], bitcoin: ['BTC', '0.02'] }[family] as [string, string];
  let treasury: Treasury<CommonChain>;
  let shop: Gateway;
  const metrics = createApiMetrics('test');
  beforeEach(async () => {
    treasury = await aTreasuryOf(family);
    treasury.deps.metrics = metrics;
    shop = await treasury.world.aGateway();
    // Enough for two: what keeps the second payment away is never that there is nothing left.
    await treasury.earn(shop, symbol, { BTC: '0.05' }[symbol] ?? '100');
    await treasury.earn(shop, symbol, { BTC: '0.05' }[symbol] ?? '100');
  });
  afterEach(() => treasury.stop());

  const contract = () => treasury.assets[symbol]?.contract ?? null;
  const received = (): Promise<bigint> => {
    const token = contract();
    return token === null ? treasury.chain.balance(treasury.merchant) : treasury.chain.tokenBalance(token, treasury.merchant);
  };
  /** What wakes somebody (alert SignerJournalContradicted). */
  const contradictions = async () => (await metrics.journalContradictions.get()).values.reduce((sum, { value }) => sum + value, 0);
  async function settled(): Promise<string> {
    const { id } = await treasury.cashOut(shop, symbol, amount);
    await treasury.settleAll();
    await treasury.mine(3);
    expect((await getSettlement(treasury.deps, { gateway: shop, id })).status).toBe('SETTLED');
    return id;
  }
  /** What an honest worker makes of it, for as long as it takes. */
  async function payAgain(id: string): Promise<void> {
    for (let round = 0; round < 8; round++) {
      await withoutRules(treasury.world.database, (tx) => tx`delete from freezes`);
      await dispatchSettlement(treasury.deps, id);
      await treasury.sign();
      await treasury.work();
      await treasury.mine(2);
    }
  }

  it('has nothing paid twice by making a settled cashout look as if it had never been paid', async () => {
    const id = await settled();
    metrics.journalContradictions.reset();
    const before = await received();
    await withoutRules(treasury.world.database, (tx) => makeUnpaid(tx, id));
    await payAgain(id);
    expect(await received()).toBe(before);
    // Somebody is told why, and of what was taken away.
    expect((await getSettlement(treasury.deps, { gateway: shop, id })).status).toBe('REQUESTED');
    const [row] = await treasury.world.database.sql<{ reason: string }[]>`select wait_reason as reason from settlements where id = ${id}`;
    expect(row?.reason).toMatch(/not signed: the signer remembers: transaction \w+ has paid it, says /);
    expect(await contradictions()).toBeGreaterThan(0);
  });

  it('has nothing paid twice by making the payment of a settled cashout look as if it had failed', async () => {
    const id = await settled();
    const before = await received();
    await withoutRules(treasury.world.database, (tx) => makeFailed(tx, id));
    await payAgain(id);
    expect(await received()).toBe(before);
  });
});

describe('whoever writes prices and sums to the database', () => {
  let treasury: Treasury;
  let shop: Gateway;
  beforeEach(async () => {
    const caps = { perTransaction: '50', hourly: '90', daily: '200', floorUsd: '0.9' };
    treasury = await aTreasury({ configure: (network) => ({ ...network, assets: network.assets.map((asset) => ({ ...asset, caps })) }) });
    shop = await treasury.world.aGateway();
    await treasury.earn(shop, 'USDT', '200');
  });
  afterEach(() => treasury.stop());

  it('lets no more coins out than the caps of the signer’s own configuration, by what its own journal remembers', async () => {
    const made = [];
    for (const amount of ['40', '40', '40', '60']) made.push((await treasury.cashOut(shop, 'USDT', amount)).id);
    for (let round = 0; round < 8; round++) {
      // Coins are worth nothing, nothing was ever sent, and it was long ago.
      await withoutRules(treasury.world.database, async (tx) => {
        await tx`update prices set usd = 0.000001`;
        await tx`update payouts set created_at = created_at - interval '3 days', final_at = final_at - interval '3 days'`;
        await tx`delete from freezes`;
        await tx`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
      });
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.mine(2);
    }
    const rows = await treasury.world.database.sql<{ status: string; reason: string | null }[]>`
      select status, wait_reason as reason from settlements where id = any(${made}::uuid[]) order by created_at, id`;
    expect(rows.filter(({ status }) => status === 'SETTLED')).toHaveLength(2);
    expect(rows.filter(({ reason }) => /would leave/.test(reason ?? '')).length).toBeGreaterThan(0);
    expect(await treasury.chain.tokenBalance(treasury.assets.USDT?.contract as string, treasury.merchant)).toBeLessThan(80_000_001n);
  });
});

describe('whoever owns the database', () => {
  let treasury: Treasury;
  let shop: Gateway;
  beforeEach(async () => {
    treasury = await aTreasury();
    shop = await treasury.world.aGateway();
    await treasury.earn(shop, 'USDT', '200');
  });
  afterEach(() => treasury.stop());

  const sql = () => treasury.world.database.sql;
  async function planned(amount: string): Promise<{ settlementId: string; payoutId: string }> {
    const { id: settlementId } = await treasury.cashOut(shop, 'USDT', amount);
    for (;;) {
      await dispatchSettlement(treasury.deps, settlementId);
      const [payout] = await sql()<{ id: string }[]>`
        select id from payouts where settlement_id = ${settlementId} and purpose = 'settlement' and status = 'PLANNED'`;
      if (payout !== undefined) return { settlementId, payoutId: payout.id };
      await treasury.sign();
      await treasury.work();
      await treasury.mine(2);
    }
  }

  it('has no more paid than was accepted by a fee below nothing', async () => {
    const { settlementId, payoutId } = await planned('10');
    await sql().unsafe('alter domain unsigned_amount drop constraint unsigned_amount_check');
    await withoutRules(treasury.world.database, async (tx) => {
      await tx`update settlements set fee_locked = -100, net_amount = 110 where id = ${settlementId}`;
      await tx`update payouts set raw_amount = 110000000 where id = ${payoutId}`;
    });
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).not.toBe('signed');
    expect(await sql()`select failure from payouts where id = ${payoutId}`).toEqual([
      { failure: expect.stringContaining('fee is not between nothing and its amount') },
    ]);
  });

  it('has no order remembered as another one by changing what a payout is for while its signer waits', async () => {
    const { payoutId, settlementId } = await planned('10');
    await withoutRules(treasury.world.database, (tx) => tx`update payouts set purpose = 'sweep' where id = ${payoutId}`);
    let signing: Promise<string> | undefined;
    await withoutRules(treasury.world.database, async (tx) => {
      await tx`select 1 from wallets where role = 'hot' for update`;
      signing = signPayout(treasury.deps, treasury.signers, payoutId);
      await waitFor(async () => (await sql()`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`).length > 0, {
        what: 'the signer to wait for the wallet',
      });
      await tx`update payouts set purpose = 'settlement' where id = ${payoutId}`;
    });
    await signing;
    const { journal } = treasury.deps;
    expect(journal?.ofOrder(`payout:${payoutId}`)).toEqual([]);
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('signed');
    expect(journal?.ofOrder(`settlement:${settlementId}`)).toHaveLength(1);
  });
});
