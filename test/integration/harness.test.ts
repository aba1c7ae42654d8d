import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEMO_TOKENS } from '#ops/dev/local-evm.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';
import { aChain, type CommonChain, type TestChain } from '#test/harness/chain.ts';
import { aCheckoutStage } from '#test/harness/checkout-stage.ts';
import { freshDatabase } from '#test/harness/database.ts';
import { anotherEvm, demoNetwork } from '#test/harness/networks.ts';
import { freshRedis, ownRedis } from '#test/harness/redis.ts';
import { aTronChain, type TronChain } from '#test/harness/tron-chain.ts';
import { aWorld } from '#test/harness/world.ts';

const FUNDED = 'TAqM7bcAFV1AwyjE1xNYuyBMc6q3pkTdZx';

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

describe('the stage of the checkout', () => {
  it('shows a payment at the moment of its snapshot, however long ago it was shown before, and lets time go on while it changes', async () => {
    const stage = await aCheckoutStage();
    const clock = vi.spyOn(performance, 'now');
    try {
      const { snapshot, state } = checkoutScene('ending');
      const stateAt = async (url: string) => /<main[^>]* data-state="([^"]*)"/.exec(await (await fetch(url)).text())?.[1];
      const url = stage.show(snapshot);
      expect(await stateAt(url)).toBe(state);
      const later = performance.now() + 10 * 60_000;
      clock.mockImplementation(() => later);
      stage.change(snapshot);
      expect(await stateAt(url)).toBe('checking');
      expect(await stateAt(stage.show(snapshot))).toBe(state);
    } finally {
      clock.mockRestore();
      await stage.stop();
    }
  });
});

describe('a world of several networks', () => {
  it('has two EVM chains side by side, each under its own id, followed by the processes of one deployment', async () => {
    const demo = await demoNetwork();
    const world = await aWorld({ networks: [demo, anotherEvm(demo, 'sidechain', '31338')] });
    try {
      const ids = [...world.networks.values()].map(async ({ chain }) => Number(await (chain as TestChain).node.call('eth_chainId', [])));
      expect(await Promise.all(ids)).toEqual([31_337, 31_338]);
      expect(world.chain).toBe(world.networks.get('ethereum')?.chain);
      const api = await world.startApi();
      await Promise.all([world.startIndexer({ network: 'ethereum' }), world.startIndexer({ network: 'sidechain' })]);
      const caughtUp = async (name: string, chain: CommonChain): Promise<boolean> => {
        const [tip] = await world.database.sql`select hash from chain_tips join networks on networks.id = network_id where name = ${name}`;
        return tip?.hash === (await chain.headHash());
      };
      for (const [name, { chain }] of world.networks) await waitFor(() => caughtUp(name, chain), { what: `${name} to be followed` });
      const { items } = (await world.operator(api).must('GET', '/networks')) as { items: { name: string }[] };
      expect(items.map((one) => one.name).sort()).toEqual(['ethereum', 'sidechain']);
    } finally {
      await world.stop();
    }
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

describe('the local TRON chain', () => {
  let chain: TronChain;
  beforeAll(async () => {
    chain = await aTronChain({ blockSeconds: 0, fund: [FUNDED] });
  });
  afterAll(() => chain?.stop());

  it('mines only when told to, and two equal payments are two transactions', async () => {
    const [one, two] = [await chain.pay(chain.outsider, chain.tokens.USDT, 5_000_000n), await chain.pay(chain.outsider, chain.tokens.USDT, 5_000_000n)];
    expect(one).not.toBe(two);
    expect(await chain.tokenBalance(chain.tokens.USDT, chain.outsider)).toBe(0n);
    await chain.mine();
    expect(await chain.tokenBalance(chain.tokens.USDT, chain.outsider)).toBe(10_000_000n);
    // Tokens make no account: it has no TRX and the node does not know it.
    expect(await chain.balance(chain.outsider)).toBe(0n);
    expect(await chain.node.call('wallet/getaccount', { address: `41${'0'.repeat(34)}0d15ea` })).toEqual({});
  });

  it('funds wallets by transfers that an indexer sees', async () => {
    expect(await chain.balance(FUNDED)).toBe(5_000_000_000n);
    const { height } = await chain.control.status();
    const blocks = await Promise.all(Array.from({ length: height + 1 }, (_, at) => chain.node.block(at)));
    expect(blocks.flatMap((block) => block?.transactions ?? [])).not.toEqual([]);
  });

  it('forgets a transaction in a reorganisation, or mines it elsewhere', async () => {
    await chain.control.setSolidLag(5);
    await chain.mine();
    const before = await chain.balance(FUNDED);
    const dropped = await chain.payAndMine(FUNDED, null, 7_000_000n);
    await chain.reorg(1);
    expect(await chain.balance(FUNDED)).toBe(before);
    expect(await chain.node.call('wallet/gettransactionbyid', { value: dropped })).toEqual({});
    await chain.payAndMine(FUNDED, null, 3_000_000n);
    const head = await chain.headHash();
    await chain.control.reorg(1, 'keep');
    expect(await chain.headHash()).not.toBe(head);
    expect(await chain.balance(FUNDED)).toBe(before + 3_000_000n);
  });
});
