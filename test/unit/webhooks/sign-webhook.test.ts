import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { nextStep, signedHeaders } from '#api/jobs/deliver-webhook.ts';
import { webhookBody } from '#api/payments/enqueue-webhook.ts';
import type { WebhookOutcome } from '#api/clients/webhook-http.ts';

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

describe('what follows an attempt', () => {
  const started = new Date('2026-01-01T00:00:00Z');
  const finished = new Date('2026-01-01T00:00:10Z');
  const answered = (status: number, retryAfter: string | null = null): WebhookOutcome => ({ kind: 'answered', status, retryAfter, durationMs: 1 });
  const timedOut: WebhookOutcome = { kind: 'failed', result: 'timeout', problem: '', durationMs: 10_000 };
  const pauseAfter = (attempts: number, outcome: WebhookOutcome, jitter = 0): number | string => {
    const next = nextStep(outcome, attempts, started, finished, jitter);
    return next.state === 'pending' ? (next.at.getTime() - started.getTime()) / 1_000 : next.state;
  };

  it('is the schedule of six attempts over 2 h 42 m 30 s, then nothing', () => {
    const pauses = [1, 2, 3, 4, 5, 6].map((attempts) => pauseAfter(attempts, timedOut));
    expect(pauses).toEqual([30, 120, 600, 1_800, 7_200, 'exhausted']);
    expect(pauses.slice(0, 5).reduce((sum: number, pause) => sum + Number(pause), 0)).toBe(2 * 3_600 + 42 * 60 + 30);
  });

  it('jitter lengthens a pause by 5 % at most', () => {
    expect(pauseAfter(5, timedOut, 1)).toBe(7_560);
  });

  it.each([200, 201, 202, 204, 299])('%d is delivery', (status) => expect(pauseAfter(1, answered(status))).toBe('delivered'));
  it.each([100, 301, 302, 307, 308, 400, 401, 404, 409, 429, 500, 503])('%d is failure', (status) => expect(pauseAfter(1, answered(status))).toBe(30));
  it('410 stops', () => expect(pauseAfter(1, answered(410))).toBe('stopped'));

  it('Retry-After is honoured upward only, and never for more than a day', () => {
    expect(pauseAfter(1, answered(503, '120'))).toBe(130);
    expect(pauseAfter(3, answered(503, '120'))).toBe(600);
    expect(pauseAfter(1, answered(503, 'Thu, 01 Jan 2026 00:05:10 GMT'))).toBe(310);
    expect(pauseAfter(1, answered(503, 'soon'))).toBe(30);
    expect(pauseAfter(1, answered(503, '-5'))).toBe(30);
    expect(pauseAfter(1, answered(503, '999999999'))).toBe(86_410);
    expect(pauseAfter(6, answered(503, '120'))).toBe('exhausted');
  });
});
