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
/** Heights of the blocks whose hash alone was asked for. */
let blocks: number[];

beforeEach(async () => {
  shops = await someShops();
  shop = await shops.open();
  shops.world.deps.metrics = createApiMetrics('test');
  chain = shops.world.deps.chains.get('ethereum') as Chain;
  chain.config = { ...chain.config, rpcUrls: ['http://one.example', 'http://two.example'] };
  said = 'agreed';
  asked = [];
  blocks = [];
  // One after the other: they are no locks of whoever asks.
  let looks: Promise<unknown> = Promise.resolve();
  const answer = async (): Promise<SecondOpinion> => {
    // Whoever asks over the network must hold no lock meanwhile: another connection gets them all.
    const noLock = looks.then(() =>
      shops.world.database.transaction((tx) => tx`select 1 from payments join deposits on deposits.payment_id = payments.id for update nowait`),
    );
    looks = noLock.catch(() => undefined);
    await noLock;
    if (said === 'nothing') throw new ChainUnavailable('nobody answers');
    return said;
  };
  chain.reader = {
    agrees: async (claims: readonly Claim[], isFinal: (head: Head) => boolean) => {
      asked.push({ claims, isFinal });
      return answer();
    },
    agreesOnBlock: async ({ height }: { height: number }) => {
      blocks.push(height);
      return answer();
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
    const rows = await shops.world.database.sql`select d.txid, d.kind, d.ordinal, d.height, d.block_hash, x.address as recipient, a.contract, d.raw_amount
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
    chain.reader.agreesOnBlock = async () => 'agreed';
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

  it('is not credited in production on the word of a single endpoint, and a smaller one is', async () => {
    chain.config = { ...chain.config, rpcUrls: ['http://one.example'] };
    const [large, small] = [await aPayment('1000.01'), await aPayment('1000')];
    shops.world.deps.config = { ...shops.world.deps.config, NODE_ENV: 'production' };
    await shop.receive(large, 'USDT', '1000.01');
    await shop.receive(small, 'USDT', '1000');
    expect([await shop.status(large), await shop.status(small)]).toMatchObject([{ status: 'PENDING' }, { status: 'SUCCESS' }]);
    // Whoever accepts that risk says how much of it.
    chain.config = { ...chain.config, secondOpinionUsd: '5000' };
    await pass();
    expect(await shop.status(large)).toMatchObject({ status: 'SUCCESS' });
  });
});

describe('a deposit of any amount', () => {
  it.each<[string, SecondOpinion | 'nothing', string]>([
    ['has another block there', 'disputed', 'disputed'],
    ['does not answer', 'nothing', 'unreachable'],
  ])('is not credited while the second provider %s, and is once it tells the same hash', async (_name, answer, result) => {
    said = answer;
    const payment = await aPayment('10');
    await shop.receive(payment, 'USDT', '10');
    expect(await shop.status(payment)).toMatchObject({ status: 'PENDING' });
    expect(await states(payment)).toEqual([{ state: 'seen', doubted: true }]);
    expect(await counted(result)).toBe(true);
    said = 'agreed';
    await pass();
    expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
    expect([asked.length, blocks.length]).toEqual([0, 2]);
  });

  it.each<[string, Partial<Chain['config']>, string | null, number]>([
    ['a token whose receipts have a root', {}, null, 0],
    ['what contracts pass on', {}, 'internal', 1],
    ['what contracts pass on, where the chain logs it', { coinLogs: true }, 'internal', 0],
    ['a token of Polygon, whose state syncs say so themselves', { chainId: '137' }, null, 0],
    ['a token of TRON', { family: 'tron' }, null, 1],
    ['a coin of TRON', { family: 'tron' }, 'native', 1],
    ['a coin of Bitcoin', { family: 'bitcoin' }, 'native', 0],
  ])('is told itself by two where no root covers it: %s', async (_what, config, kind, times) => {
    chain.config = { ...chain.config, ...config };
    const payment = await aPayment('10');
    await shop.see(payment, 'USDT', '10');
    if (kind !== null)
      await shops.world.database.sql`with d as (update deposits set kind = ${kind} where payment_id = ${payment.id} returning txid)
        update sightings s set kind = ${kind} from d where d.txid = s.txid`;
    await shop.finalise();
    expect([asked.length, blocks.length]).toEqual([times, 1 - times]);
    expect(await states(payment)).toEqual([{ state: 'credited', doubted: false }]);
  });

  it("is nobody's question when it is dust, which is credited to nobody", async () => {
    said = 'disputed';
    const payment = await aPayment('10');
    await shop.receive(payment, 'USDT', '0.000001');
    expect([asked.length, blocks.length]).toEqual([0, 0]);
    expect(await states(payment)).toEqual([{ state: 'dust', doubted: false }]);
  });
});

describe('the deposits of one block', () => {
  /** So many payments, all of them paid in one block. */
  const together = async (amounts: readonly string[]): Promise<ShopPayment[]> => {
    const payments: ShopPayment[] = [];
    for (const amount of amounts) payments.push(await aPayment(amount));
    for (const [i, payment] of payments.entries()) await shop.see(payment, 'USDT', amounts[i] as string);
    await shops.world.database.sql`with f as (select block_hash, height from deposits order by height limit 1),
      d as (update deposits set block_hash = f.block_hash, height = f.height from f where state = 'seen' returning txid, f.block_hash, f.height)
      update sightings s set block_hash = d.block_hash, height = d.height from d where d.txid = s.txid`;
    return payments;
  };

  it('are one question, of whomever they are', async () => {
    const payments = await together(['10', '11', '12']);
    await shop.finalise();
    expect(blocks).toHaveLength(1);
    for (const payment of payments) expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
  });

  it('keep no other one waiting, when a provider tells otherwise of one of them', async () => {
    chain.config = { ...chain.config, secondOpinionUsd: '1' };
    chain.reader.agrees = async (claims) => {
      asked.push({ claims, isFinal: () => true });
      return claims.some((claim) => claim.rawAmount === '11000000') ? 'disputed' : 'agreed';
    };
    const [first, disputed, last] = (await together(['10', '11', '12'])) as [ShopPayment, ShopPayment, ShopPayment];
    await shop.finalise();
    expect(asked.map(({ claims }) => claims.length)).toEqual([3, 1, 1, 1]);
    expect([await shop.status(first), await shop.status(disputed), await shop.status(last)]).toMatchObject([
      { status: 'SUCCESS' },
      { status: 'PENDING' },
      { status: 'SUCCESS' },
    ]);
  });
});

describe('a provider that answers nothing for long', () => {
  it('is asked for some seconds in one pass, about new deposits before those it said nothing of', async () => {
    let now = 0;
    shops.world.deps.wallClock = () => now;
    const asked: number[] = [];
    chain.reader.agreesOnBlock = async ({ height }) => {
      asked.push(height);
      now += 10_000;
      throw new ChainUnavailable('no answer in time');
    };
    const payments = [];
    for (let i = 0; i < 12; i++) payments.push(await aPayment('10'));
    for (const payment of payments) await shop.see(payment, 'USDT', '10');
    await shop.finalise();
    expect(asked.length).toBeLessThanOrEqual(4);
    await waitForAll(async () => {
      now += 1_000;
      await pass();
      return new Set(asked).size === payments.length;
    });
    chain.reader.agreesOnBlock = async () => 'agreed';
    await pass();
    for (const payment of payments) expect(await shop.status(payment)).toMatchObject({ status: 'SUCCESS' });
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

/** Passes until it is so; a hundred of them are as good as never. */
async function waitForAll(isSo: () => Promise<boolean>): Promise<void> {
  for (let passes = 0; passes < 100; passes++) if (await isSo()) return;
  throw new Error('some were never asked about');
}

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
