import { afterEach, describe, expect, it } from 'vitest';
import { aPayment, TEST_SEED } from '#test/harness/world.ts';
import { aScene, type Scene } from './scene.ts';

describe('the roles of the api', () => {
  let scene: Scene;
  afterEach(() => scene?.stop());

  const payAndCashOut = async (): Promise<void> => {
    const payment = await scene.open('USDT', { amount: '20' });
    await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
    expect((await scene.resting(payment.id)).status).toBe('SUCCESS');
    await scene.balance('USDT', '5');
    const settlement = await scene.cashout('USDT', '5');
    expect((await scene.settled(settlement.id as string)).status).toBe('SETTLED');
  };

  it('run apart: one process answers requests, one works, one signs', async () => {
    scene = await aScene({ blockMs: 250 });
    await scene.restart('api', { env: { SLUICE_ROLES: 'http' } });
    const created = await scene.shop.must('POST', '/payments', { body: aPayment(scene.receiver.url) });
    const { id, offers } = created.payment as { id: string; offers: { id: string }[] };
    // Nobody reads the acknowledgements of the indexer, so no address may be shown yet.
    expect((await scene.shop.call('POST', `/public/payments/${id}/offers/${offers[0]?.id}/select`)).status).toBe(202);
    await scene.world.startApi({ env: { SLUICE_ROLES: 'worker' } });
    await payAndCashOut();
  });

  it('run in one process when nothing says otherwise', async () => {
    scene = await aScene({ blockMs: 250 });
    await scene.signer.stop();
    await scene.restart('api', { env: { SLUICE_ROLES: undefined, SLUICE_SIGNER_SEED: TEST_SEED, SLUICE_SIGNER_JOURNAL: scene.world.journal } });
    await payAndCashOut();
  });
});
