import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { aScene, expectWebhooks, type Scene } from './scene.ts';

const PAYMENTS = 20;
/** Rounds of killing while the payments are on their way. */
const ROUNDS = 4;

describe('twenty payments in flight', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 400 });
  });
  afterAll(() => scene?.stop());

  it('are all credited once and announced once, however often indexer and api are killed and Redis is emptied', async () => {
    const { world } = scene;
    const opened = await Promise.all(
      Array.from({ length: PAYMENTS }, (_, index) => scene.open(index % 2 === 0 ? 'USDT' : 'USDC', { amount: String(10 + index) })),
    );

    const havoc = (async () => {
      for (let round = 0; round < ROUNDS; round++) {
        await world.redis.flush();
        await Promise.all([scene.restart('indexer'), scene.restart('api')]);
        await world.redis.flush();
      }
    })();
    const paid = (async () => {
      for (const [index, payment] of opened.entries()) {
        await world.chain.payAndMine(payment.address, scene.contract(index % 2 === 0 ? 'USDT' : 'USDC'), payment.rawAmount);
      }
    })();
    await Promise.all([havoc, paid]);

    for (const [index, payment] of opened.entries()) {
      expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', receivedAmount: String(10 + index) });
      await expectWebhooks(scene, payment.id, ['SUCCESS']);
    }
    const { sql } = world.database;
    expect(await sql`select 1 from credits`).toHaveLength(PAYMENTS);
    expect(await sql`select payment_id from webhook_events group by 1 having count(*) > 1`).toHaveLength(0);
    await assertBooksMatchChain(world);
    await world.audit();
  });
});
