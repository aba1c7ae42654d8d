import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/settlements/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import { aTreasuryOf, type Treasury } from '#test/fixtures/treasury.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/** Whoever writes to Postgres as its superuser, with no key of ours (SECURITY.md): no trigger, no constraint and no right stops them. */
describe.each(['evm', 'tron', 'bitcoin'] as const)('whoever writes anything to the database, on %s,', (family) => {
  const [symbol, amount] = { evm: ['USDT', '40'], tron: ['USDT', '40'], bitcoin: ['BTC', '0.02'] }[family] as [string, string];
  let treasury: Treasury<CommonChain>;
  let shop: Gateway;
  beforeEach(async () => {
    treasury = await aTreasuryOf(family);
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
  const asSuperuser = (work: (tx: Tx) => Promise<unknown>) =>
    treasury.deps.db.transaction(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await work(tx);
    });
  async function settled(): Promise<string> {
    const { id } = await treasury.cashOut(shop, symbol, amount);
    await treasury.settleAll();
    await treasury.mine(3);
    expect((await getSettlement(treasury.deps, { gateway: shop, id })).status).toBe('SETTLED');
    return id;
  }
  /** As if it had been claimed and never been paid: the ledger holds the claim, and nothing was ever signed for it. */
  const unpaid = (id: string) =>
    asSuperuser(async (tx) => {
      await tx`delete from payout_attempts where payout_id in (select id from payouts where settlement_id = ${id})`;
      await tx`delete from payout_events where payout_id in (select id from payouts where settlement_id = ${id})`;
      await tx`delete from output_locks where payout_id in (select id from payouts where settlement_id = ${id})`;
      await tx`delete from payouts where settlement_id = ${id}`;
      await tx`delete from settlement_events where settlement_id = ${id} and to_status in ('PROCESSING', 'SETTLED')`;
      await tx`update settlements set status = 'REQUESTED', txid = null, received_amount = null, settled_at = null, wait_reason = null where id = ${id}`;
      await tx`update credit_draws set state = 'reserved' where settlement_id = ${id}`;
      await tx`update ledger_accounts a set balance = s.amount from settlements s where s.id = ${id} and a.settlement_id = s.id and a.kind = 'reserved'`;
      await tx`delete from settlement_fees where settlement_id = ${id}`;
      await tx`delete from ledger_transactions where source_key like ${`settlement:${id}:%`} and kind <> 'reserve'`;
      await tx`delete from freezes`;
      await tx`update wallets set halted_reason = null`;
    });
  /** As if what was signed for it had failed on the chain for good, so that it is owed a second payment. */
  const failed = (id: string) =>
    asSuperuser(async (tx) => {
      const txids = tx`(select t.txid from payout_attempts t join payouts p on p.id = t.payout_id where p.settlement_id = ${id})`;
      await tx`update sightings set succeeded = false where txid in ${txids} and kind = 'sent'`;
      await tx`delete from sightings where txid in ${txids} and kind <> 'sent'`;
      await tx`update payouts set status = 'FAILED', failure = 'it failed on the chain', plan = plan || '{"repay": true}' where settlement_id = ${id}`;
      await tx`update settlements set status = 'PROCESSING', txid = null, received_amount = null, settled_at = null, wait_reason = null where id = ${id}`;
      await tx`update credit_draws set state = 'reserved' where settlement_id = ${id}`;
      await tx`update ledger_accounts a set balance = s.amount from settlements s where s.id = ${id} and a.settlement_id = s.id and a.kind = 'reserved'`;
      await tx`delete from settlement_fees where settlement_id = ${id}`;
      await tx`delete from ledger_transactions where source_key like ${`settlement:${id}:%`} and kind <> 'reserve'`;
      await tx`update wallets set halted_reason = null`;
    });
  /** What an honest worker makes of it, for as long as it takes. */
  async function payAgain(id: string): Promise<void> {
    for (let round = 0; round < 8; round++) {
      await asSuperuser((tx) => tx`delete from freezes`);
      await dispatchSettlement(treasury.deps, id);
      await treasury.sign();
      await treasury.work();
      await treasury.mine(2);
    }
  }

  it('has nothing paid twice by making a settled cashout look as if it had never been paid', async () => {
    const id = await settled();
    const before = await received();
    await unpaid(id);
    await payAgain(id);
    expect(await received()).toBe(before);
  });

  it('has nothing paid twice by making the payment of a settled cashout look as if it had failed', async () => {
    const id = await settled();
    const before = await received();
    await failed(id);
    await payAgain(id);
    expect(await received()).toBe(before);
  });
});
