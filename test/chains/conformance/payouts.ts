import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement, type SettlementView } from '#api/settlements/view.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury, type TreasuryOptions } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import type { FamilyDriver } from './family.ts';

/** Money leaving a chain, whatever the chain does to it: every cashout is paid exactly once, and the books equal the chain. */
export function describePayouts({ family, paying, main }: FamilyDriver): void {
  let treasury: Treasury<CommonChain>;
  let shop: Gateway;
  const openEach = (options: TreasuryOptions): void => {
    beforeEach(async () => {
      treasury = await aTreasuryOf(family, options);
      shop = await treasury.world.aGateway();
    });
    afterEach(async () => {
      try {
        await treasury.mine(2);
        await assertBooksEqualChain(treasury);
        await treasury.audit();
      } finally {
        await treasury.stop();
      }
    });
  };

  const sql = () => treasury.world.database.sql;
  const read = (id: string): Promise<SettlementView> => getSettlement(treasury.deps, { gateway: shop, id });
  const status = async (payoutId: string) => (await sql()<{ status: string }[]>`select status from payouts where id = ${payoutId}`)[0]?.status;
  const attempts = (payoutId: string) =>
    sql()<{ number: number; txid: string; bytes: Uint8Array }[]>`
      select number, txid, signed_bytes as bytes from payout_attempts where payout_id = ${payoutId} order by number`;
  const payouts = (settlementId: string) =>
    sql()<
      { family: number; status: string }[]
    >`select family, status from payouts where settlement_id = ${settlementId} and purpose = 'settlement' order by family`;
  const held = (symbol: string): Promise<bigint> => {
    const contract = treasury.assets[symbol]?.contract ?? null;
    return contract === null ? treasury.chain.balance(treasury.merchant) : treasury.chain.tokenBalance(contract, treasury.merchant);
  };

  /** The merchant holds what the settlement says, once, and one transfer of ours brought it. */
  const expectPaidOnce = async (settlementId: string, symbol: string): Promise<void> => {
    const settled = await read(settlementId);
    expect(settled.status).toBe('SETTLED');
    expect(await held(symbol)).toBe(toUnits(parseTrusted(settled.netAmount), treasury.assets[symbol]?.decimals ?? 0));
    const brought = await sql()`select distinct txid from sightings where canonical and kind in ('native', 'token') and recipient = ${treasury.merchant}`;
    expect(brought.map((row) => row.txid)).toEqual([settled.txHash]);
  };

  const { earned, cashout } = paying.money[main] as { earned: string; cashout: string };

  /** Brings a cashout to the point where its payout is planned and waits for the signer. */
  const planned = async (): Promise<{ settlementId: string; payoutId: string }> => {
    await treasury.earn(shop, main, earned);
    const { id } = await treasury.cashOut(shop, main, cashout);
    for (let round = 0; round < 10; round++) {
      await dispatchSettlement(treasury.deps, id);
      const [payout] = await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`;
      if (payout !== undefined) return { settlementId: id, payoutId: payout.id };
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    throw new Error(`settlement ${id} was never planned`);
  };
  const sent = async (): Promise<{ settlementId: string; payoutId: string; txid: string }> => {
    const made = await planned();
    await treasury.sign();
    await treasury.work();
    expect(await status(made.payoutId)).toBe('BROADCAST');
    return { ...made, txid: (await attempts(made.payoutId))[0]?.txid as string };
  };
  const sendAgain = async (): Promise<void> => {
    await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
    await treasury.work();
  };

  describe('with full wallets', () => {
    openEach({});

    it.each(Object.entries(paying.money))('in %s is paid once', async (symbol, amounts) => {
      await treasury.earn(shop, symbol, amounts.earned);
      const { id } = await treasury.cashOut(shop, symbol, amounts.cashout);
      await treasury.settleAll();
      await expectPaidOnce(id, symbol);
    });

    it('that the network forgets is handed over again with the same bytes', async () => {
      const { settlementId, payoutId, txid } = await sent();
      await paying.forget(treasury.chain, txid);
      await treasury.follow();
      expect(await status(payoutId)).toBe('BROADCAST');
      await sendAgain();
      await treasury.settleAll();
      await expectPaidOnce(settlementId, main);
      expect(await attempts(payoutId)).toHaveLength(1);
    });

    it('that a reorganisation takes back is handed over again with the same bytes', async () => {
      const { settlementId, payoutId } = await sent();
      await treasury.mine();
      expect(await status(payoutId)).toBe('INCLUDED');
      await treasury.reorganise(1);
      expect(await status(payoutId)).toBe('BROADCAST');
      await sendAgain();
      await treasury.settleAll();
      await expectPaidOnce(settlementId, main);
      expect(await attempts(payoutId)).toHaveLength(1);
    });

    it(`that no block takes is ${paying.replacing === 'bump' ? 'offered again for more' : 'made anew once it has expired, and not before'}`, async () => {
      const { settlementId, payoutId } = await sent();
      await paying.mineWithout(treasury.chain, POLICY.payoutBumpBlocks);
      await treasury.follow();
      if (paying.replacing === 'expiry') expect(await tendPayouts(treasury.deps)).toBe(0);
      await treasury.world.advance(paying.outdatedSeconds);
      await paying.passTime(treasury.chain, paying.outdatedSeconds);
      await paying.mineWithout(treasury.chain, POLICY.payoutBumpBlocks);
      await treasury.follow();
      expect(await tendPayouts(treasury.deps)).toBe(1);
      expect(await treasury.sign()).toEqual(['signed']);
      await sendAgain();
      await treasury.settleAll();
      await expectPaidOnce(settlementId, main);
      expect(await attempts(payoutId)).toHaveLength(2);
      expect(await payouts(settlementId)).toMatchObject([{ status: 'CONFIRMED' }]);
    });

    it('that was replaced is not paid twice by its first bytes', async () => {
      const { settlementId, payoutId } = await sent();
      await paying.mineWithout(treasury.chain, POLICY.payoutBumpBlocks);
      await treasury.world.advance(paying.outdatedSeconds);
      await paying.passTime(treasury.chain, paying.outdatedSeconds);
      await paying.mineWithout(treasury.chain, POLICY.payoutBumpBlocks);
      await treasury.follow();
      await tendPayouts(treasury.deps);
      await treasury.sign();
      // Both are handed over, the older first, as often as anybody likes.
      const { payer } = [...treasury.deps.chains.values()][0] as { payer: { broadcast(bytes: Uint8Array): Promise<unknown> } };
      for (let times = 0; times < 2; times++) for (const { bytes } of await attempts(payoutId)) await payer.broadcast(new Uint8Array(bytes));
      await treasury.settleAll();
      await expectPaidOnce(settlementId, main);
    });

    it.runIf(paying.breakToken !== null)('that fails on chain is paid by a second payout once the failure is final', async () => {
      const { settlementId } = await sent();
      const mend = await paying.breakToken?.(treasury.chain);
      await treasury.mine();
      await mend?.();
      expect(await payouts(settlementId)).toHaveLength(1);
      await treasury.settleAll();
      await expectPaidOnce(settlementId, main);
      expect(await payouts(settlementId)).toEqual([
        { family: 1, status: 'FAILED' },
        { family: 2, status: 'CONFIRMED' },
      ]);
    });
  });

  describe('with empty wallets', () => {
    openEach({ fundingCoins: 0n });

    it.runIf(paying.needsGas)('waits for coins to pay its fees with, and is paid once they are there', async () => {
      await treasury.earn(shop, main, earned);
      const { id } = await treasury.cashOut(shop, main, cashout);
      for (let round = 0; round < 4; round++) {
        await sendAgain();
        await treasury.sign();
        await treasury.mine();
      }
      expect(await read(id)).toMatchObject({ status: 'REQUESTED' });
      expect(await held(main)).toBe(0n);
      await treasury.chain.payAndMine(treasury.wallet('funding'), null, paying.plenty);
      await treasury.mine(2);
      await treasury.settleAll();
      await expectPaidOnce(id, main);
    });

    it.runIf(!paying.needsGas)('is paid out of what was earned', async () => {
      await treasury.earn(shop, main, earned);
      const { id } = await treasury.cashOut(shop, main, cashout);
      await treasury.settleAll();
      await expectPaidOnce(id, main);
    });
  });
}
