import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signedHeaders } from '#api/clients/webhook-signature.ts';
import { webhookBody } from '#api/payments/enqueue-webhook.ts';

const paymentId = '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44';
const body = webhookBody(paymentId, 'SUCCESS');
const id = '0b2f6a52-5c1e-4f0a-8f8e-3a3a5b1c9d10';
const current = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const former = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const now = Math.floor(Date.now() / 1_000);

describe('the signatures of a webhook', () => {
  it('match the published test vector, byte for byte', () => {
    expect(body).toBe('{"paymentId":"7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44","status":"SUCCESS"}');
    expect(signedHeaders({ id, body, secrets: ['whsec_test_secret'], unixSeconds: now })['x-webhook-signature']).toBe(
      'd20d990e7bcee64d6e572b8e117808f216cb954095d958ccfab03426d6c410ea',
    );
  });

  it('verify with the official Standard Webhooks library', () => {
    const headers = signedHeaders({ id, body, secrets: [current], unixSeconds: now });
    expect(new Webhook(current).verify(body, headers)).toEqual({ paymentId, status: 'SUCCESS' });
    expect(() => new Webhook(former).verify(body, headers)).toThrow();
    expect(() => new Webhook(current).verify(body.replace('SUCCESS', 'MISMATCH'), headers)).toThrow();
  });

  it('during a rotation verify with the new and the former secret, while X-Webhook-Signature uses only the new one', () => {
    const headers = signedHeaders({ id, body, secrets: [current, former], unixSeconds: now });
    expect(new Webhook(current).verify(body, headers)).toBeDefined();
    expect(new Webhook(former).verify(body, headers)).toBeDefined();
    expect(headers['x-webhook-signature']).toBe(signedHeaders({ id, body, secrets: [current], unixSeconds: now })['x-webhook-signature']);
  });

  it('refuse to be made without a secret', () => {
    expect(() => signedHeaders({ id, body, secrets: [], unixSeconds: now })).toThrow('no webhook secret');
  });
});
