import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reconcile } from '#api/audit/reconcile.ts';
import type { Gateway } from '#api/deps.ts';
import { createPayment } from '#api/payments/create.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';
import { plainCommit } from '#test/harness/in-process.ts';

const DAY = 86_400;

/** Whoever can publish what an indexer publishes: the holder of the stream key who writes to Redis, an indexer that was taken over, its only node. */
describe('whoever speaks for an indexer', () => {
  let treasury: Treasury;
  let honest: Gateway;
  let thief: Gateway;
  let forged: ((height: number, hash: string) => Transfer)[];
  beforeEach(async () => {
    treasury = await aTreasury();
    forged = [];
    const { reader } = treasury.deps.chains.get('ethereum') as NonNullable<ReturnType<Treasury['deps']['chains']['get']>>;
    const read = reader.block.bind(reader);
    reader.block = async (hash, watched, how) => {
      const content = await read(hash, watched, how);
      return { ...content, transfers: [...content.transfers, ...forged.splice(0).map((make) => make(content.block.height, hash))] };
    };
    // Credits of production wait for a day (decisions 10).
    const settings = { maturitySeconds: DAY };
    [honest, thief] = [await treasury.world.aGateway({ settings }), await treasury.world.aGateway({ settings })];
    await treasury.earn(honest, 'USDT', '500');
    await bookOpeningBalances(treasury.deps);
  });
  afterEach(() => treasury.stop());

  const frozen = async () => (await treasury.world.database.sql<{ scope: string }[]>`select scope from freezes`).map(({ scope }) => scope);
  /** A payment of the thief's that nobody pays, and the word that somebody did. */
  async function forgeDeposit(amount: bigint): Promise<string> {
    const { deps, assets } = treasury;
    const body = { currencyCode: 'USD', amount: '1', checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/hook', checkAmountDeviation: false };
    const created = await createPayment(deps, { gateway: thief, body, clientIp: '127.0.0.1', commit: plainCommit(deps) });
    const { payment } = created.data as { payment: { id: string; offers: { id: string; assetSymbol: string }[] } };
    const offer = payment.offers.find(({ assetSymbol }) => assetSymbol === 'USDT') as { id: string };
    const selecting = selectOffer(deps, { paymentId: payment.id, offerId: offer.id, clientIp: '127.0.0.1' });
    await waitFor(async () => (await treasury.world.database.sql`select 1 from watches where acked_epoch is null`).length > 0, {
      what: 'the address to be assigned',
    });
    await treasury.mine();
    const { depositAddress } = (await selecting).data as { depositAddress: string };
    forged.push((height, blockHash) => ({
      kind: 'token',
      txid: `0x${'f0'.repeat(32)}`,
      ordinal: 0,
      height,
      blockHash,
      position: 0,
      time: Math.floor(Date.now() / 1_000),
      sender: MERCHANT.toLowerCase(),
      recipient: depositAddress.toLowerCase(),
      contract: assets.USDT?.contract as string,
      rawAmount: String(amount * 10n ** 6n),
    }));
    await treasury.mine(3);
    await treasury.credit();
    return payment.id;
  }

  it('has a payment credited that nobody made, which is noticed at the second block that is compared, and no coin leaves for it', async () => {
    const paymentId = await forgeDeposit(400n);
    // This is what they get.
    expect((await treasury.world.database.sql`select status from payments where id = ${paymentId}`)[0]?.status).toBe('SUCCESS');
    expect(await frozen()).toEqual([]);
    await reconcile(treasury.deps);
    await treasury.mine();
    await reconcile(treasury.deps);
    expect(await frozen()).toEqual([`asset:${treasury.assets.USDT?.id}`]);
    // And this is what they do not: the credit matures a day later, when the asset has long been stopped.
    await expect(treasury.cashOut(thief, 'USDT', '300')).rejects.toThrow();
    await treasury.world.advance(DAY + 60);
    await treasury.mine(2);
    await treasury.credit();
    const { id } = await treasury.cashOut(thief, 'USDT', '300');
    for (let round = 0; round < 5; round++) {
      await treasury.work();
      await treasury.sign();
      await treasury.mine();
    }
    expect((await getSettlement(treasury.deps, { gateway: thief, id })).status).toBe('REQUESTED');
    expect(await treasury.chain.tokenBalance(treasury.assets.USDT?.contract as string, MERCHANT)).toBe(0n);
  });
});
