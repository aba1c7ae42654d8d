import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { aScene, expectWebhooks, OUTSIDER, type Scene } from './scene.ts';

describe('one real payment and one real cashout', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene();
  });
  afterAll(() => scene?.stop());

  it('credits what arrived, tells the merchant, and pays out the very coins that came in', async () => {
    const { world, receiver } = scene;
    const payment = await scene.open('USDT', { amount: '25.50' });
    expect(payment.totalValue).toBe('25.5');
    const txid = await world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
    const seen = await scene.resting(payment.id);
    expect(seen).toMatchObject({ status: 'SUCCESS', receivedAmount: '25.5', receivedAssetSymbol: 'USDT', depositPath: 'standard', txHash: txid });
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    const [webhook] = receiver.received.filter((one) => one.body.includes(payment.id));
    expect(webhook?.headers['x-webhook-signature']).toBe(
      createHmac('sha256', scene.shop.gateway.webhookSecret)
        .update(webhook?.body ?? '')
        .digest('hex'),
    );

    await scene.balance('USDT', '20');
    const created = await scene.cashout('USDT', '20');
    expect(created).toMatchObject({ status: 'REQUESTED', amount: '20', txHash: '', receivedAmount: '', route: 'GREEN', source: 'API' });
    const settled = await scene.settled(created.id as string);
    expect(settled.receivedAmount).toBe(settled.netAmount);
    expect(settled.blockchainUrl).toContain(settled.txHash);
    expect(await world.chain.tokenBalance(world.chain.tokens.USDT, OUTSIDER)).toBe(BigInt(Math.round(Number(settled.netAmount) * 1e6)));
    await assertBooksMatchChain(world);
  });

  it('does the same with the native coin', async () => {
    const { world } = scene;
    const payment = await scene.open('ETH', { amount: '50' });
    await world.chain.pay(payment.address, null, payment.rawAmount);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', receivedAssetSymbol: 'ETH' });
    const before = await world.chain.balance(OUTSIDER);
    await scene.balance('ETH', '0.02');
    const created = await scene.cashout('ETH', '0.02');
    const settled = await scene.settled(created.id as string);
    expect(await world.chain.balance(OUTSIDER)).toBe(before + BigInt((settled.netAmount as string).replace('0.', '').padEnd(18, '0')));
    await assertBooksMatchChain(world);
  });

  it('keeps the seed in the environment of the signer and of nobody else', async () => {
    const environmentOf = async (pid: number) => (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
    const holds = (environment: string[]) => environment.some((entry) => entry.startsWith('SLUICE_SIGNER_SEED='));
    expect(holds(await environmentOf(scene.signer.pid))).toBe(true);
    expect(holds(await environmentOf(scene.api.pid))).toBe(false);
    expect(holds(await environmentOf(scene.indexer.pid))).toBe(false);
  });
});
