import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { SCENARIOS } from '#state-machines/payment/scenario.ts';
import type { Answer } from './client.ts';
import { aService, type Listening, listenCheckout, type Service, type Shop } from './service.ts';

/** Every answer is held against checkout.yaml by the client. */
let service: Service;
let shop: Shop;
let checkout: Listening;
const metrics = createApiMetrics('test');
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
  checkout = await listenCheckout({ ...service.deps, metrics });
});
afterAll(async () => {
  await checkout.close();
  await service.stop();
});

async function aHosted(body: Record<string, unknown> = {}): Promise<string> {
  const { data } = await shop.call('POST', '/payments', {
    body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/', isSandbox: true, underAcceptableDiff: '1', ...body },
  });
  return String(data.paymentUid);
}

const snapshot = (id: string, headers: Record<string, string> = {}): Promise<Answer> => checkout.ask('GET', `/p/${id}/snapshot`, { headers });
const simulate = (id: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  checkout.ask('POST', `/p/${id}/simulate`, { body, headers });
const codeOf = ({ status, error }: Answer): [number, string | undefined] => [status, error?.code];
const STRANGE = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };

describe('the snapshot of a payment over HTTP', () => {
  it('is what checkout.yaml says in every situation, and what a simulation answers is the one after it', async () => {
    for (const scenario of SCENARIOS) {
      const id = await aHosted();
      expect((await snapshot(id)).data).toMatchObject({ payment: { id, status: 'PENDING' }, paid: null });
      const after = await simulate(id, { scenario });
      expect([scenario, after.status]).toEqual([scenario, 200]);
      const { serverTime: _, ...then } = after.data;
      expect((await snapshot(id)).data).toMatchObject(then);
    }
  });

  it('of a payment with real coins is what checkout.yaml says too', async () => {
    const id = await aHosted({ isSandbox: false });
    expect((await snapshot(id)).status).toBe(200);
  });

  it('is counted, since a page whose socket works never asks', async () => {
    const polls = async (): Promise<number> => Number(/^sluice_checkout_fallback_polls_total (\d+)$/m.exec((await metrics.scrape()).body)?.[1]);
    const before = await polls();
    await snapshot(await aHosted());
    expect(await polls()).toBe(before + 1);
  });

  it('is 403 in API mode and for pages of other sites, 404 for what is none', async () => {
    const { paymentUid } = await shop.payment();
    expect(codeOf(await snapshot(paymentUid))).toEqual([403, 'forbidden']);
    expect(codeOf(await snapshot(await aHosted(), STRANGE))).toEqual([403, 'forbidden']);
    for (const id of [randomUUID(), 'x', '%00', '%E0%A4%A']) expect(codeOf(await snapshot(id))).toEqual([404, 'not_found']);
  });
});

describe('a simulation', () => {
  it('takes amount and asset, and says which of them is wrong', async () => {
    const id = await aHosted();
    expect(codeOf(await simulate(id, { scenario: 'nothing' }))).toEqual([422, 'validation_error']);
    expect(codeOf(await simulate(id, { scenario: 'success', amount: '0' }))).toEqual([422, 'validation_error']);
    expect((await simulate(id, { scenario: 'success', amount: '0.001' })).data).toMatchObject({ mismatchSide: 'UNDER', paid: { amount: '0.001' } });
    expect(codeOf(await simulate(id, { scenario: 'success' }))).toEqual([409, 'conflict']);
  });

  it('is refused for real payments, payments in API mode, unknown ones, and pages of other sites', async () => {
    const { paymentUid } = await shop.payment({ isSandbox: true });
    expect(codeOf(await simulate(paymentUid, { scenario: 'success' }))).toEqual([403, 'forbidden']);
    expect((await service.ask('GET', `/api/v1/public/payments/${paymentUid}`)).data.status).toBe('PENDING');
    expect(codeOf(await simulate(await aHosted({ isSandbox: false }), { scenario: 'success' }))).toEqual([409, 'conflict']);
    expect(codeOf(await simulate(randomUUID(), { scenario: 'success' }))).toEqual([404, 'not_found']);
    expect(codeOf(await simulate(await aHosted(), { scenario: 'success' }, STRANGE))).toEqual([403, 'forbidden']);
    expect(codeOf(await checkout.ask('POST', `/p/${await aHosted()}/simulate`, { raw: '{' }))).toEqual([400, 'malformed_json']);
    expect(codeOf(await checkout.ask('POST', `/p/${await aHosted()}/simulate`, { raw: 'a=b', headers: { 'content-type': 'text/plain' } }))).toEqual([
      415,
      'unsupported_media_type',
    ]);
  });
});
