import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverWebhook } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { type ReceivedWebhook, startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from './service.ts';
import { assertWebhook } from './webhook.ts';

let service: Service;
let shop: Shop;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([aService(), startWebhookReceiver()]);
  shop = await service.aShop({ settings: { underAcceptableDiff: '1', acceptableDiffKind: 'PERCENTAGE' } });
});
afterAll(() => Promise.all([service.stop(), receiver.stop()]));

const delivered = async (): Promise<ReceivedWebhook> => {
  const before = receiver.received.length;
  await runDueJobs(service.worker, [deliverWebhook]);
  expect(receiver.received).toHaveLength(before + 1);
  return receiver.received.at(-1) as ReceivedWebhook;
};

/** A payment of 100 USDT that got this many. */
async function paid(amount: string): Promise<string> {
  const { paymentUid, payment } = await shop.payment({ amount: '100', webhookUrl: receiver.url });
  const offer = payment.offers.find((one) => one.assetSymbol === 'USDT');
  const address = await selectAddress(service, paymentUid, offer?.id ?? '');
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, amount)]);
  await service.mine();
  return paymentUid;
}

describe('the webhook of a payment is what the contract describes', () => {
  it.each([
    ['SUCCESS', '100'],
    ['ACCEPTABLE', '99'],
    ['MISMATCH', '98.98'],
  ])('%s', async (status, amount) => {
    const paymentId = await paid(amount);
    const webhook = await delivered();
    await assertWebhook(webhook);
    expect(webhook.body).toBe(JSON.stringify({ paymentId, status }));
  });

  it('EXPIRED', async () => {
    const { paymentUid: paymentId } = await shop.payment({ timeoutSeconds: 1, webhookUrl: receiver.url });
    await service.world.advance(2);
    expect((await service.ask('POST', `/api/v1/public/payments/${paymentId}/expire`)).data.status).toBe('EXPIRED');
    const webhook = await delivered();
    await assertWebhook(webhook);
    expect(webhook.body).toBe(JSON.stringify({ paymentId, status: 'EXPIRED' }));
  });
});

describe('what these tests hold a webhook against', () => {
  it('refuses every other body and every missing header', async () => {
    await paid('100');
    const webhook = await delivered();
    const body = JSON.parse(webhook.body) as Record<string, unknown>;
    const bodies = [{}, { ...body, amount: '1' }, { ...body, status: 'PENDING' }, { ...body, paymentId: 'x' }, { paymentId: body.paymentId }, []];
    for (const other of bodies) await expect(assertWebhook({ ...webhook, body: JSON.stringify(other) })).rejects.toThrow();
    for (const name of ['x-webhook-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-type']) {
      const { [name]: _, ...headers } = webhook.headers;
      await expect(assertWebhook({ ...webhook, headers })).rejects.toThrow();
    }
    const upper = String(webhook.headers['x-webhook-signature']).toUpperCase();
    await expect(assertWebhook({ ...webhook, headers: { ...webhook.headers, 'x-webhook-signature': upper } })).rejects.toThrow();
  });
});
