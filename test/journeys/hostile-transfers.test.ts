import { toFunctionSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callData } from '#ops/dev/services/evm-node.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { aScene, type OpenPayment, type Scene } from './scene.ts';

describe('transfers that are not what they look like', () => {
  let scene: Scene;
  let router: string;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250 });
    router = await scene.world.chain.deploy('Router');
    for (const token of ['USDT', 'USDC'] as const) await scene.world.chain.mint(scene.world.chain.tokens[token], router, 1_000_000_000n);
  });
  afterAll(() => scene?.stop());

  const selector = (signature: string): string => toFunctionSelector(signature).slice(2);
  const send = (to: string, data: string, value = 0n): Promise<string> =>
    scene.world.chain.node.send({ from: scene.world.chain.faucet, to, data, value, gas: 500_000n });
  const usdt = (): string => scene.world.chain.tokens.USDT;
  const depositsOf = (payment: OpenPayment) =>
    scene.world.database.sql<
      { txid: string; state: string; amount: string }[]
    >`select txid, state, amount from deposits where payment_id = ${payment.id} order by height, position, ordinal`;

  /** Sends something that must not count, then pays honestly: whatever was sent first would have decided the payment. */
  const payAfter = async (trick: (payment: OpenPayment) => Promise<string>) => {
    const payment = await scene.open('USDT', { amount: '10' });
    const trickTxid = await trick(payment);
    const honest = await scene.world.chain.payAndMine(payment.address, usdt(), payment.rawAmount);
    const seen = await scene.resting(payment.id);
    return { payment, trickTxid, honest, seen, deposits: await depositsOf(payment) };
  };
  const expectOnlyHonest = ({ honest, seen, deposits }: Awaited<ReturnType<typeof payAfter>>): void => {
    expect(seen).toMatchObject({ status: 'SUCCESS', txHash: honest, receivedAmount: '10' });
    expect(deposits.map((one) => one.txid)).toEqual([honest]);
  };

  it('a failed transaction credits nothing', async () => {
    const result = await payAfter(({ address }) => send(router, callData(selector('forwardAndFail(address,address,uint256)'), usdt(), address, 10_000_000n)));
    expect((await scene.world.chain.node.receipt(result.trickTxid))?.status).toBe('0x0');
    expectOnlyHonest(result);
  });

  it('a look-alike token of the same symbol credits nothing', async () => {
    const fake = await scene.world.chain.deployToken('TestToken', 'USDT', 6);
    expectOnlyHonest(
      await payAfter(async ({ address }) => {
        await scene.world.chain.mint(fake, scene.world.chain.faucet, 10_000_000n);
        return send(fake, callData(selector('transfer(address,uint256)'), address, 10_000_000n));
      }),
    );
  });

  it('the Transfer of a collectible, with its four topics, credits nothing', async () => {
    const collectible = await scene.world.chain.deploy('Collectible');
    expectOnlyHonest(await payAfter(({ address }) => send(collectible, callData(selector('transfer(address,uint256)'), address, 10_000_000n))));
  });

  it('a transfer of zero credits nothing', async () => {
    expectOnlyHonest(await payAfter(({ address }) => send(usdt(), callData(selector('transfer(address,uint256)'), address, 0n))));
  });

  it('two transfers in one transaction are two deposits, judged as one sum', async () => {
    const payment = await scene.open('USDT', { amount: '10' });
    const txid = await send(router, callData(selector('forwardTwice(address,address,uint256,uint256)'), usdt(), payment.address, 4_000_000n, 6_000_000n));
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', receivedAmount: '10', txHash: txid });
    expect(await depositsOf(payment)).toMatchObject([
      { txid, state: 'credited', amount: '4' },
      { txid, state: 'credited', amount: '6' },
    ]);
  });

  it('a transfer through a router contract is credited like any other', async () => {
    const payment = await scene.open('USDT', { amount: '10' });
    const txid = await send(router, callData(selector('forward(address,address,uint256)'), usdt(), payment.address, 10_000_000n));
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', txHash: txid });
  });

  it('our own gas top-up and sweep at a deposit address are no deposits', async () => {
    const payment = await scene.open('USDT', { amount: '30' });
    await scene.world.chain.payAndMine(payment.address, usdt(), payment.rawAmount);
    await scene.resting(payment.id);
    const { totalAvailable } = await scene.balance('USDT', '29');
    const settled = await scene.settled((await scene.cashout('USDT', totalAvailable as string)).id as string);
    expect(settled.status).toBe('SETTLED');
    const { sql } = scene.world.database;
    const ownMoves = await sql<{ purpose: string }[]>`select distinct purpose from payouts where status = 'CONFIRMED' order by 1`;
    expect(ownMoves.map((one) => one.purpose)).toEqual(['settlement', 'sweep', 'top_up']);
    expect(await sql`select 1 from deposits d join payouts p on p.txid = d.txid`).toHaveLength(0);
    await assertBooksMatchChain(scene.world);
  });
});
