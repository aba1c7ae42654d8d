import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { aScene, expectWebhooks, type OpenPayment, type Scene } from './scene.ts';

/** Blocks a deposit waits for here, so that a reorganisation of three stays above finality. */
const FINAL_AFTER = 6;

describe('a reorganisation under a deposit', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene({
      blockSeconds: 0,
      configure: (network) => ({ ...network, finality: { resolve: [{ rule: { blocks: FINAL_AFTER } }], mature: { blocks: FINAL_AFTER } } }),
    });
  });
  afterAll(() => scene?.stop());

  const tipHeight = async (): Promise<number> => (await scene.world.database.sql<{ height: number }[]>`select height from chain_tips`)[0]?.height ?? -1;
  const followed = async (): Promise<void> => {
    const head = await scene.world.chain.node.height();
    const hash = (await scene.world.chain.node.call<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash;
    await waitFor(async () => (await scene.world.database.sql`select 1 from chain_tips where height = ${head} and hash = ${hash}`).length === 1, {
      what: `the tip to reach block ${head} (it is at ${await tipHeight()})`,
    });
  };
  const mine = async (blocks: number): Promise<void> => {
    for (let i = 0; i < blocks; i++) {
      await scene.world.chain.mine();
      await followed();
    }
  };
  const openWith = async (): Promise<OpenPayment> => {
    const opening = scene.open('USDT', { amount: '10' });
    let underWay: Promise<void> = Promise.resolve();
    const pump = setInterval(() => {
      underWay = Promise.all([underWay, scene.world.chain.mine()]).then(() => undefined);
    }, 200);
    try {
      return await opening;
    } finally {
      clearInterval(pump);
      // Else a block that was asked for before could come on top of those that are counted.
      await underWay;
    }
  };
  /** Pays, buries it under `depth` blocks in all, and answers the transaction with its raw bytes. */
  const payAndBury = async (payment: OpenPayment, depth: number): Promise<{ txid: string; raw: string }> => {
    await scene.world.chain.mine(3);
    const txid = await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
    await mine(depth);
    const raw = await scene.world.chain.node.call<string>('eth_getRawTransactionByHash', [txid]);
    await waitFor(async () => (await stateOf(payment)) === 'seen', { what: 'the deposit to be seen' });
    return { txid, raw };
  };
  const stateOf = async (payment: OpenPayment): Promise<string | undefined> =>
    (await scene.world.database.sql<{ state: string }[]>`select state from deposits where payment_id = ${payment.id}`)[0]?.state;

  it.each([1, 3])('of depth %i that mines it elsewhere: one credit, from the new block', async (depth) => {
    const payment = await openWith();
    const { txid, raw } = await payAndBury(payment, depth);
    await scene.world.chain.reorg(depth, [{ transaction: raw, block: depth - 1 }]);
    await mine(1);
    await mine(FINAL_AFTER);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', txHash: txid });
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    expect(await scene.world.database.sql`select 1 from credits where payment_id = ${payment.id}`).toHaveLength(1);
    await assertBooksMatchChain(scene.world);
    await scene.world.audit();
  });

  it.each([1, 3])('of depth %i that drops it: nothing is credited, and the payment waits', async (depth) => {
    const payment = await openWith();
    await payAndBury(payment, depth);
    await scene.world.chain.reorg(depth);
    await mine(1);
    await mine(FINAL_AFTER + 2);
    expect(await stateOf(payment)).toBe('dropped');
    expect((await scene.verify(payment.id)).status).toBe('PENDING');
    expect(await scene.world.database.sql`select 1 from credits where payment_id = ${payment.id}`).toHaveLength(0);
    await assertBooksMatchChain(scene.world);
    await scene.world.audit();
  });

  it.each([1, 3])('of depth %i that replaces it by another payment: the other one decides', async (depth) => {
    const payment = await openWith();
    await payAndBury(payment, depth);
    await scene.world.chain.reorg(depth);
    const other = await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount / 2n);
    await mine(1);
    await mine(FINAL_AFTER);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'MISMATCH', txHash: other, receivedAmount: '5' });
    expect(await scene.world.database.sql`select 1 from credits where payment_id = ${payment.id}`).toHaveLength(1);
    await assertBooksMatchChain(scene.world);
    await scene.world.audit();
  });
});
