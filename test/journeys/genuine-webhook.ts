import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import type { ReceivedWebhook } from '#ops/dev/webhook-receiver.ts';
import { assertWebhook } from '#test/contract/webhook.ts';
import type { Scene } from './scene.ts';

/** The webhook of one payment and status as it arrived, checked the way a merchant's server would check it (contract 6, decisions 6). */
export async function expectGenuineWebhook(scene: Scene, paymentId: string, status: string): Promise<ReceivedWebhook> {
  const { webhookSecret } = scene.shop.gateway;
  const body = JSON.stringify({ paymentId, status });
  const found = scene.receiver.received.filter((one) => one.body === body);
  expect(found.length, `webhooks of ${paymentId} with ${status}`).toBeGreaterThan(0);
  const [webhook] = found as [ReceivedWebhook];
  const headers = webhook.headers as Record<string, string>;
  // The official library: signature, and a timestamp no older than five minutes.
  expect(new Webhook(webhookSecret).verify(webhook.body, headers)).toEqual({ paymentId, status });
  expect(headers['x-webhook-signature']).toBe(createHmac('sha256', webhookSecret).update(webhook.body).digest('hex'));
  await assertWebhook(webhook);
  return webhook;
}
