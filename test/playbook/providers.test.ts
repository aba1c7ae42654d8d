import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import type { Fate } from '#shared/chains/ask-fate.ts';
import { aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';
import { makeUnpaid, withoutRules } from './rewrite-books.ts';

/** Providers that lie, in league with somebody who writes to the database: alone, a lie of theirs changes no row. */
describe('providers that say a payment never was,', () => {
  let treasury: Treasury;
  let shop: Gateway;
  let told: Record<string, Fate>;
  beforeEach(async () => {
    treasury = await aTreasury({ configure: (network) => ({ ...network, deathWitnesses: 2 }) });
    shop = await treasury.world.aGateway();
    await treasury.earn(shop, 'USDT', '100');
    const { reader } = treasury.deps.chains.get('ethereum') as Chain;
    reader.fates = async (_question, _final, into) => {
      for (const [provider, fate] of Object.entries(told)) into.set(provider, fate);
    };
  });
  afterEach(() => treasury.stop());

  const received = () => treasury.chain.tokenBalance(treasury.assets.USDT?.contract as string, MERCHANT);
  async function payAgain(): Promise<bigint> {
    const { id } = await treasury.cashOut(shop, 'USDT', '40');
    await treasury.settleAll();
    await treasury.mine(3);
    const before = await received();
    await withoutRules(treasury.world.database, (tx) => makeUnpaid(tx, id));
    for (let round = 0; round < 4; round++) {
      await withoutRules(treasury.world.database, (tx) => tx`delete from freezes`);
      await dispatchSettlement(treasury.deps, id);
      await treasury.sign();
      await treasury.work();
      await treasury.mine(2);
    }
    return (await received()) - before;
  }

  it('one of two, have nothing paid twice', async () => {
    told = { liar: { is: 'dead' } };
    expect(await payAgain()).toBe(0n);
  });

  it('two of three, have nothing paid twice while the third saw it', async () => {
    told = { liar: { is: 'dead' }, another: { is: 'dead' }, honest: { is: 'paid', txid: '0x01' } };
    expect(await payAgain()).toBe(0n);
  });

  it('all of them, have it paid once more: two providers are what is trusted', async () => {
    told = { liar: { is: 'dead' }, another: { is: 'dead' } };
    expect(await payAgain()).toBeGreaterThan(0n);
  });
});
