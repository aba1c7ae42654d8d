import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEMO_TOKENS } from '#ops/dev/local-evm.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { freshDatabase } from '#test/harness/database.ts';
import { freshRedis, ownRedis } from '#test/harness/redis.ts';

describe('what tests run on', () => {
  it('gives every test a migrated database of its own', async () => {
    const [one, two] = await Promise.all([freshDatabase(), freshDatabase()]);
    await one.sql`insert into freezes (scope, reason) values ('all', 'mine')`;
    expect(await two.sql`select * from freezes`).toEqual([]);
    await Promise.all([one.drop(), two.drop()]);
  });

  it('gives every test an empty Redis of its own', async () => {
    const [one, two] = await Promise.all([freshRedis(), freshRedis()]);
    expect(one.url).not.toBe(two.url);
    await Promise.all([one.stop(), two.stop()]);
  });

  it('can kill a Redis and bring an empty one back at the same address', async () => {
    const redis = await ownRedis();
    await redis.kill();
    await redis.revive();
    await redis.flush();
    await redis.stop();
  });
});

describe('the local chain', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await aChain({ blockSeconds: 0 });
  });
  afterAll(() => chain.stop());

  const someone = '0x00000000000000000000000000000000000a11ce';

  it('has its tokens at the addresses networks.json names', () => {
    expect(chain.tokens).toEqual(DEMO_TOKENS);
  });

  it('mines only when told to', async () => {
    const before = await chain.node.height();
    const txid = await chain.pay(someone, chain.tokens.USDT, 5_000_000n);
    expect(await chain.node.receipt(txid)).toBeNull();
    await chain.mine(3);
    expect(await chain.node.height()).toBe(before + 3);
    expect(await chain.tokenBalance(chain.tokens.USDT, someone)).toBe(5_000_000n);
  });

  it('forgets a transaction in a reorganisation', async () => {
    await chain.mine(1);
    const before = await chain.tokenBalance(chain.tokens.USDC, someone);
    await chain.payAndMine(someone, chain.tokens.USDC, 7_000_000n);
    expect(await chain.tokenBalance(chain.tokens.USDC, someone)).toBe(before + 7_000_000n);
    await chain.reorg(1);
    expect(await chain.tokenBalance(chain.tokens.USDC, someone)).toBe(before);
  });

  it('mines a transaction elsewhere in a reorganisation', async () => {
    const txid = await chain.payAndMine(someone, chain.tokens.USDC, 1_000_000n);
    const first = await chain.node.receipt(txid);
    const raw = await chain.node.call<string>('eth_getRawTransactionByHash', [txid]).catch(() => null);
    await chain.mine(1);
    await chain.reorg(2, raw === null ? [] : [{ transaction: raw, block: 1 }]);
    const again = await chain.node.receipt(txid);
    expect(again?.blockHash).not.toBe(first?.blockHash);
    expect(Number(again?.blockNumber)).toBe(Number(first?.blockNumber) + 1);
  });
});
