import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, newKey } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { aPayment } from '#test/harness/world.ts';
import { expectGenuineWebhook } from './genuine-webhook.ts';
import { aScene, expectWebhooks, type Scene, toRaw } from './scene.ts';

interface Offer {
  id: string;
  assetSymbol: string;
  totalValue: string;
  depositAddress?: string;
}

describe('a payment in API mode, as a merchant’s server lives it', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene();
  });
  afterAll(() => scene?.stop());

  const create = async (overrides: Record<string, unknown> = {}): Promise<{ id: string; offers: Offer[]; paymentUrl: string }> => {
    const body = aPayment(scene.receiver.url, overrides);
    const data = await scene.shop.must('POST', '/payments', { body, headers: { 'idempotency-key': newKey() } });
    const { offers } = data.payment as { offers: Offer[] };
    return { id: data.paymentUid as string, paymentUrl: data.paymentUrl as string, offers };
  };
  const offerIn = (offers: Offer[], symbol: string): Offer => offers.find((one) => one.assetSymbol === symbol) ?? expect.fail(`no offer in ${symbol}`);
  /** Without a key: the payment's id is the credential. */
  const open = (method: string, path: string) => call(`${scene.api.baseUrl}/public/payments/${path}`, method);
  const select = (id: string, offer: Offer) => open('POST', `${id}/offers/${offer.id}/select`);

  it('waits for its address while the indexer is away, and asks again as it was told to', async () => {
    await scene.indexer.stop();
    const { id, offers } = await create({ amount: '12.34' });
    const offer = offerIn(offers, 'USDT');
    expect(offer.totalValue).toBe('12.34');

    const early = await select(id, offer);
    expect(early.status).toBe(202);
    expect(early.data).toMatchObject({ assignmentStatus: 'PENDING', paymentStatus: 'PENDING', amount: '12.34', retryAfterMs: expect.any(Number) });
    expect(early.data.depositAddress ?? null).toBeNull();

    await scene.restart('indexer');
    let asked = 0;
    const assigned = await waitFor(
      async () => {
        asked += 1;
        const answer = await select(id, offer);
        expect([200, 202]).toContain(answer.status);
        return answer.status === 200 && answer.data;
      },
      { what: 'the address', timeoutMs: 60_000, everyMs: early.data.retryAfterMs as number },
    );
    expect(asked).toBeGreaterThan(0);
    expect(assigned).toMatchObject({ assignmentStatus: 'ASSIGNED', amount: '12.34', depositAddress: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/) });
    expect(assigned).not.toHaveProperty('retryAfterMs');
    const address = assigned.depositAddress as string;

    // The same again, and another asset of the same network: one address per network.
    expect((await select(id, offer)).data.depositAddress).toBe(address);
    expect((await select(id, offerIn(offers, 'ETH'))).data.depositAddress).toBe(address);
    const read = (await open('GET', id)).data as { offers: Offer[]; selectedOfferId: string };
    expect(Object.fromEntries(read.offers.map((one) => [one.assetSymbol, one.depositAddress]))).toEqual({ USDT: address, ETH: address, USDC: undefined });
    expect(read.selectedOfferId).toBe(offerIn(offers, 'ETH').id);

    const txid = await scene.world.chain.pay(address, scene.contract('USDT'), toRaw('12.34', 6));
    expect(await scene.resting(id)).toMatchObject({ status: 'SUCCESS', receivedAmount: '12.34', receivedAssetSymbol: 'USDT', txHash: txid });
  });

  it('tells the merchant once, provably, and answers the same on verify and on the public read', async () => {
    const { id, offers } = await create({ amount: '25', webhookParams: { order: 'A-17' } });
    const offer = offerIn(offers, 'USDC');
    const { depositAddress } = await waitFor(
      async () => {
        const answer = await select(id, offer);
        return answer.status === 200 && answer.data;
      },
      { what: 'the address', timeoutMs: 60_000 },
    );
    const txid = await scene.world.chain.pay(depositAddress as string, scene.contract('USDC'), toRaw(offer.totalValue, 6));
    await expectWebhooks(scene, id, ['SUCCESS']);
    await expectGenuineWebhook(scene, id, 'SUCCESS');

    const verified = await scene.verify(id);
    expect(verified).toMatchObject({
      paymentUid: id,
      status: 'SUCCESS',
      receivedAmount: '25',
      receivedAssetSymbol: 'USDC',
      expectedAmount: '25',
      assetSymbol: 'USDC',
      depositPath: 'standard',
      txHash: txid,
      isVerified: true,
    });
    const read = await open('GET', id);
    expect(read.data).toMatchObject({ id, status: 'SUCCESS', checkoutMode: 'API', paidAssetSymbol: 'USDC', receivedAmount: '25', txHash: txid });
    expect((await open('GET', `${id}?statusOnly=true`)).data).toMatchObject({ status: 'SUCCESS' });
    expect((await select(id, offer)).status).toBe(409);
    expect(scene.webhooks(id)).toEqual(['SUCCESS']);
  });

  it('is paid in the native coin to the last wei', async () => {
    const payment = await scene.open('ETH', { amount: '33.33' });
    const txid = await scene.world.chain.pay(payment.address, null, payment.rawAmount);
    expect(await scene.resting(payment.id)).toMatchObject({
      status: 'SUCCESS',
      receivedAssetSymbol: 'ETH',
      receivedAmount: payment.totalValue,
      deviationUsd: expect.stringMatching(/^0(\.0+)?$/),
      txHash: txid,
    });
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    await expectGenuineWebhook(scene, payment.id, 'SUCCESS');
  });

  it('leaves books that match the chain', async () => {
    await assertBooksMatchChain(scene.world);
  });
});
