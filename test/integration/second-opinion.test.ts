import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '#api/deps.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { ChainUnavailable, type Head } from '#shared/chains/chain.ts';
import type { PooledReader } from '#shared/chains/pool-readers.ts';
import type { Claim, SecondOpinion } from '#shared/chains/pool-votes.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { type Shops, type ShopPayment, someShops, type TestShop } from '#test/fixtures/shop.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

let shops: Shops;
let shop: TestShop;
let chain: Chain;
/** What the second provider says, or does not. */
let said: SecondOpinion | 'nothing';
let asked: { claims: readonly Claim[]; isFinal: (head: Head) => boolean }[];

beforeEach(async () => {
  shops = await someShops();
  shop = await shops.open();
  shops.world.deps.metrics = createApiMetrics('test');
  chain = shops.world.deps.chains.get('ethereum') as Chain;
  chain.config = { ...chain.config, rpcUrls: ['http://one.example', 'http://two.example'] };
  said = 'agreed';
  asked = [];
  chain.reader = {
    agrees: async (claims: readonly Claim[], isFinal: (head: Head) => boolean) => {
      asked.push({ claims, isFinal });
      // Whoever asks over the network must hold no lock meanwhile: another connection gets them all.
      await shops.world.database.transaction((tx) => tx`select 1 from payments join deposits on deposits.payment_id = payments.id for update nowait`);
      if (said === 'nothing') throw new ChainUnavailable('nobody answers');
      return said;
    },
  } as unknown as PooledReader;
});
afterEach(() => shops?.stop());

const aPayment = async (amount = '2000', symbol = 'USDT'): Promise<ShopPayment> => {
  const payment = await shop.create({ amount });
  await shop.select(payment, symbol);
  return payment;
};
const pass = (): Promise<number> => creditFinalDeposits(shops.world.deps, chain.id);
const states = async (payment: ShopPayment): Promise<{ state: string; doubted: boolean }[]> =>
  shops.world.database.sql`select state, doubted_since is not null as doubted from deposits where payment_id = ${payment.id} order by height`;
const counted = async (result: string): Promise<boolean> =>
  ((await shops.world.deps.metrics?.scrape())?.body ?? '').includes(`sluice_second_opinions_total{chain="ethereum",result="${result}"} 1\n`);

describe('a deposit above the threshold', () => {
  it('is credited once two providers tell of the very same transfer, final by the word of each', async () => {
    const payment = await aPayment();
    await shop.receive(payment, 'USDT', '2000');
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
    const rows = await shops.world.database
      .sql`select d.txid, d.kind, d.ordinal, d.height, d.block_hash as "blockHash", x.address as recipient, a.contract, d.raw_amount as "rawAmount"
      from deposits d join deposit_addresses x on x.id = d.address_id join assets a on a.id = d.asset_id where d.payment_id = ${payment.id}`;
    expect(asked.map(({ claims }) => claims)).toEqual([[...rows]]);
    expect(rows).toMatchObject([{ kind: 'token', rawAmount: '2000000000' }]);
    const head = (height: number, finalizedHeight: number | null): Head => {
      return { latest: { height, hash: 'h', parentHash: 'p', time: 0 }, safeHeight: finalizedHeight, finalizedHeight };
    };
    const { height } = rows[0] as unknown as { height: number };
    const said = [head(height, height - 1), head(height + 100, height), head(height + 100, null)].map((one) => asked[0]?.isFinal(one));
    expect(said).toEqual([false, true, true]);
    expect(await counted('agreed')).toBe(true);
  });

  it.each<[string, SecondOpinion | 'nothing', string, RegExp]>([
    ['tells otherwise', 'disputed', 'disputed', /one of them tells otherwise of its block, its outcome or its amount/],
    ['cannot see it', 'unseen', 'unseen', /the other one does not show coins that contracts pass on/],
    ['does not answer', 'nothing', 'unreachable', /not enough of them tell of it as final/],
  ])('is not credited while the second provider %s, and is as soon as it agrees', async (_name, answer, result, why) => {
    said = answer;
    const payment = await aPayment();
    await shop.receive(payment, 'USDT', '2000');
    expect(await shop.status(payment)).toMatchObject({ status: 'PENDING' });
    expect(await states(payment)).toEqual([{ state: 'seen', doubted: true }]);
    expect(await counted(result)).toBe(true);
    expect((await shop.explain(payment)).steps.at(-1)?.text).toMatch(/is final and is booked once a second provider of ethereum confirms it/);
    expect((await shop.explain(payment)).steps.at(-1)?.text).toMatch(why);
    await pass();
    expect(await shop.status(payment)).toMatchObject({ status: 'PENDING' });

    said = 'agreed';
    expect(await pass()).toBe(1);
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
    expect(await states(payment)).toEqual([{ state: 'credited', doubted: false }]);
  });

  it('is not credited by an opinion on what it was before it changed', async () => {
    const payment = await aPayment();
    await shop.see(payment, 'USDT', '2000');
    const { agrees } = chain.reader;
    chain.reader.agrees = async (...question) => {
      await shops.world.database.sql`update deposits set raw_amount = raw_amount + 1 where payment_id = ${payment.id}`;
      return agrees(...question);
    };
    await shop.finalise();
    expect(await states(payment)).toEqual([{ state: 'seen', doubted: true }]);
    chain.reader.agrees = agrees;
    await shops.world.database.sql`update deposits set raw_amount = 2000000000 where payment_id = ${payment.id}`;
    await pass();
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
  });

  it('that waits is no finding of the audit, however long', async () => {
    said = 'disputed';
    const payment = await aPayment();
    await shop.receive(payment, 'USDT', '2000');
    await shops.world.advance(600);
    await assertCleanAudit(shops.world.database);
    said = 'agreed';
    await pass();
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
  });

  it('keeps those behind it waiting, because the first to be final decides', async () => {
    said = 'disputed';
    const payment = await aPayment();
    await shop.see(payment, 'USDT', '2000');
    await shop.see(payment, 'USDT', '1');
    await shop.finalise();
    expect((await states(payment)).map((one) => one.state)).toEqual(['seen', 'seen']);
    said = 'agreed';
    await pass();
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
    expect((await states(payment)).map((one) => one.state)).toEqual(['credited', 'credited']);
  });

  it('keeps no other payment waiting', async () => {
    said = 'disputed';
    const [large, small] = [await aPayment(), await aPayment('10')];
    await shop.see(large, 'USDT', '2000');
    await shop.receive(small, 'USDT', '10');
    expect(await shop.status(large)).toMatchObject({ status: 'PENDING' });
    expect(await shop.status(small)).toMatchObject({ status: 'SUCCESS' });
    said = 'agreed';
    await pass();
  });

  it('is credited on the word of a single endpoint where there is no other', async () => {
    chain.config = { ...chain.config, rpcUrls: ['http://one.example'] };
    const payment = await aPayment();
    await shop.receive(payment, 'USDT', '2000');
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
    expect(asked).toEqual([]);
    expect(await counted('alone')).toBe(true);
  });
});

describe('a deposit that no root covers', () => {
  it('is asked about whatever its amount, and credited once two providers tell it alike', async () => {
    const payment = await aPayment('10');
    said = 'nothing';
    await shop.receive(payment, 'USDT', '10', { unproven: true });
    expect(await states(payment)).toEqual([{ state: 'seen', doubted: true }]);
    said = 'agreed';
    await pass();
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
  });

  it('waits, and says so, where there is one provider only', async () => {
    chain.config = { ...chain.config, rpcUrls: ['http://one.example'] };
    const [unproven, proven] = [await aPayment('10'), await aPayment('10')];
    await shop.see(unproven, 'USDT', '10', { unproven: true });
    await shop.receive(proven, 'USDT', '10');
    expect(await shop.status(proven)).toMatchObject({ status: 'SUCCESS' });
    expect(await states(unproven)).toEqual([{ state: 'seen', doubted: true }]);
    expect((await shop.explain(unproven)).steps.at(-1)?.text).toMatch(/is final and is booked once a second provider of ethereum confirms it/);
  });
});

describe('the threshold', () => {
  it.each([
    ['1000', 0],
    ['1000.01', 1],
  ])('is a thousand dollars: %s asks %i times', async (amount, times) => {
    const payment = await aPayment(amount);
    await shop.receive(payment, 'USDT', amount);
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
    expect(asked).toHaveLength(times);
  });

  it('is what the network says where it says one', async () => {
    chain.config = { ...chain.config, secondOpinionUsd: '5' };
    const payment = await aPayment('10');
    await shop.receive(payment, 'USDT', '10');
    expect(asked).toHaveLength(1);
  });

  it('counts what arrived together', async () => {
    const payment = await aPayment('1200');
    await shop.receive(payment, 'USDT', '600', { also: ['600'] });
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
    expect(asked).toHaveLength(1);
  });
});
