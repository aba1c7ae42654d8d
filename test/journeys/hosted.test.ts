import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, newKey } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { expectGenuineWebhook } from './genuine-webhook.ts';
import { aScene, expectWebhooks, type Scene, toRaw } from './scene.ts';

const DECIMALS: Record<string, number> = { ETH: 18, USDT: 6, USDC: 6 };

describe('a hosted payment, as the merchant’s server and the payer’s page live it', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene();
  });
  afterAll(() => scene?.stop());

  interface Hosted {
    id: string;
    paymentUrl: string;
  }
  const create = async (overrides: Record<string, unknown> = {}): Promise<Hosted> => {
    const body = { currencyCode: 'USD', amount: '40', callbackUrl: 'https://shop.example.com/back?order=7', webhookUrl: scene.receiver.url, ...overrides };
    const data = await scene.shop.must('POST', '/payments', { body, headers: { 'idempotency-key': newKey() } });
    // The offers are for the page, not for the merchant's server.
    expect(data).not.toHaveProperty('payment');
    return { id: data.paymentUid as string, paymentUrl: data.paymentUrl as string };
  };
  const read = (id: string) => call(`${scene.api.baseUrl}/public/payments/${id}`, 'GET');
  const selectAt = (paymentUrl: string, offerId: string) => call(`${paymentUrl}/select`, 'POST', { body: { offerId } });
  /** What the page does: read the offers, let the payer choose one, ask until there is an address. */
  const choose = async (payment: Hosted, symbol: string) => {
    const { offers } = (await read(payment.id)).data as { offers: { id: string; assetSymbol: string; totalValue: string }[] };
    const offer = offers.find((one) => one.assetSymbol === symbol) ?? expect.fail(`no offer in ${symbol}`);
    const { depositAddress } = await waitFor(
      async () => {
        const answer = await selectAt(payment.paymentUrl, offer.id);
        expect([200, 202]).toContain(answer.status);
        return answer.status === 200 && answer.data;
      },
      { what: 'the address', timeoutMs: 60_000 },
    );
    return {
      offerId: offer.id,
      address: depositAddress as string,
      totalValue: offer.totalValue,
      rawAmount: toRaw(offer.totalValue, DECIMALS[symbol] as number),
    };
  };
  const pay = (symbol: string, chosen: { address: string; rawAmount: bigint }) =>
    scene.world.chain.pay(chosen.address, scene.contract(symbol), chosen.rawAmount);

  it('is chosen on the checkout’s own host, paid, told to the merchant and verified', async () => {
    const payment = await create();
    expect(payment.paymentUrl).toBe(`${scene.api.checkoutOrigin}/p/${payment.id}`);
    const chosen = await choose(payment, 'USDT');
    // The merchant's channel is for API mode only.
    const refused = await call(`${scene.api.baseUrl}/public/payments/${payment.id}/offers/${chosen.offerId}/select`, 'POST');
    expect([refused.status, refused.error.code]).toEqual([409, 'conflict']);

    const txid = await pay('USDT', chosen);
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    await expectGenuineWebhook(scene, payment.id, 'SUCCESS');
    expect(await scene.verify(payment.id)).toMatchObject({
      status: 'SUCCESS',
      receivedAmount: '40',
      receivedAssetSymbol: 'USDT',
      depositPath: 'standard',
      txHash: txid,
      isVerified: true,
    });
    expect((await read(payment.id)).data).toMatchObject({
      status: 'SUCCESS',
      checkoutMode: 'HOSTED',
      txHash: txid,
      explorerTxUrl: expect.stringContaining(txid),
    });
  });

  it('answers on the checkout’s host like the public select: unknown payments, other offers, API mode, and a payment that rests', async () => {
    const [payment, other] = [await create(), await create()];
    const chosen = await choose(payment, 'USDT');
    const stranger = await choose(other, 'USDT');
    expect((await selectAt(payment.paymentUrl, stranger.offerId)).status).toBe(404);
    expect((await selectAt(payment.paymentUrl, randomUUID())).status).toBe(404);
    expect((await selectAt(`${scene.api.checkoutOrigin}/p/${randomUUID()}`, chosen.offerId)).status).toBe(404);
    const apiMode = await scene.open('USDT');
    expect((await selectAt(`${scene.api.checkoutOrigin}/p/${apiMode.id}`, apiMode.offerId)).status).toBe(403);
    await pay('USDT', chosen);
    await scene.resting(payment.id);
    expect((await selectAt(payment.paymentUrl, chosen.offerId)).status).toBe(409);
  });

  it.each(['USDT', 'ETH'])('expires unpaid, is captured when the %s comes late, and tells the merchant both times, in order', async (symbol) => {
    const timeoutSeconds = 120;
    const payment = await create({ timeoutSeconds });
    const chosen = await choose(payment, symbol);
    await scene.world.operator(scene.api).must('POST', '/clock/advance', { body: { seconds: timeoutSeconds + 1 } });
    await expectWebhooks(scene, payment.id, ['EXPIRED']);
    await expectGenuineWebhook(scene, payment.id, 'EXPIRED');
    expect(await scene.verify(payment.id)).toMatchObject({ status: 'EXPIRED' });
    expect((await selectAt(payment.paymentUrl, chosen.offerId)).status).toBe(409);

    const txid = await pay(symbol, chosen);
    await expectWebhooks(scene, payment.id, ['EXPIRED', 'SUCCESS']);
    const [first, second] = [await expectGenuineWebhook(scene, payment.id, 'EXPIRED'), await expectGenuineWebhook(scene, payment.id, 'SUCCESS')];
    // Two events, not two attempts at one.
    expect(first.headers['webhook-id']).not.toBe(second.headers['webhook-id']);
    expect(await scene.verify(payment.id)).toMatchObject({
      status: 'SUCCESS',
      depositPath: 'late_capture',
      receivedAssetSymbol: symbol,
      receivedAmount: chosen.totalValue,
      txHash: txid,
    });
  });

  it('leaves books that match the chain', async () => {
    await assertBooksMatchChain(scene.world);
  });
});
