import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { aScene, expectWebhooks, type Scene } from './scene.ts';

describe('bitcoin that nobody has mined yet', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene({ networks: [await demoNetwork('bitcoin')], blockSeconds: 0 });
  });
  afterAll(() => scene?.stop());

  it('keeps its payment open past the deadline through a replacement, kills and an empty Redis, and is credited at its price once mined', async () => {
    const chain = scene.chainOf('BTC') as BitcoinChain;
    const { sql } = scene.world.database;
    const payment = await scene.open('BTC', { amount: '500', timeoutSeconds: 600 });
    const unpaid = await scene.open('BTC', { amount: '500', timeoutSeconds: 600 });
    const paying = [{ to: payment.address, rawAmount: payment.rawAmount }];
    const states = async () =>
      (
        await sql<
          { state: string }[]
        >`select t.state from mempool_deposits d join mempool_transactions t using (network_id, txid) where d.payment_id = ${payment.id} order by t.first_seen_at`
      ).map(({ state }) => state);
    const seen = (wanted: string[]) => waitFor(async () => (await states()).join() === wanted.join(), { what: wanted.join() });

    const first = await chain.purse.pay(paying);
    await seen(['waiting']);
    const metrics = await (await fetch(`${scene.indexer.opsUrl}/metrics`)).text();
    expect(metrics).toContain('sluice_indexer_mempool_transactions{chain="bitcoin"} 1');
    // Not by the operator's clock, which would mine what waits.
    await sql`update clock_offset set seconds = seconds + 700`;
    await chain.node.call('setmocktime', [Math.floor(Date.now() / 1_000) + 700]);
    const second = await chain.purse.replace(first, paying);
    await seen(['replaced', 'waiting']);
    await scene.world.redis.flush();
    await Promise.all([scene.restart('indexer'), scene.restart('api')]);
    await waitFor(async () => (await scene.verify(unpaid.id)).status === 'EXPIRED', { what: 'the unpaid one to expire', timeoutMs: 60_000 });
    expect(await scene.verify(payment.id)).toMatchObject({ status: 'PENDING' });

    await scene.world.setPrices(scene.api, { BTC: '25000' });
    await chain.mine(2);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', txHash: second.txid, depositPath: 'late_confirmation' });
    expect(await states()).toEqual(['replaced', 'mined']);
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    await expectWebhooks(scene, unpaid.id, ['EXPIRED']);
  });
});
