import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import { aService, payTo, type Service, type Shop, selectAddress } from './service.ts';

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterAll(() => service?.stop());

const allocate = (id: string, body: unknown, headers: Record<string, string> = OPERATOR): Promise<Answer> =>
  service.ask('POST', `/operator/v1/deposits/${id}/allocate`, { headers, body });

/** A payment that received dust, and the deposit. */
async function withDust(): Promise<{ paymentId: string; id: string }> {
  const { paymentUid, payment } = await shop.payment();
  const address = await selectAddress(service, paymentUid, payment.offers.find((one) => one.assetSymbol === 'USDT')?.id ?? '');
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '0.005')]);
  await service.mine();
  const listed = await service.ask('GET', '/operator/v1/deposits?state=dust', { headers: OPERATOR });
  const [found] = (listed.data.items as { id: string; paymentId: string }[]).filter((one) => one.paymentId === paymentUid);
  return { paymentId: paymentUid, id: found?.id ?? '' };
}

describe('allocateDeposit', () => {
  it('200: credits what was set aside to the payment named, as the contract of the operator API says', async () => {
    const { paymentId, id } = await withDust();
    const answer = await allocate(id, { paymentId, reason: 'every cent' });
    expect([answer.status, answer.data]).toEqual([
      200,
      {
        deposit: { id, state: 'credited', paymentId, assetSymbol: 'USDT', amount: '0.005', txHash: expect.any(String) },
        payment: { id: paymentId, gatewayId: shop.id, status: 'PENDING' },
      },
    ]);
  });

  it('401: wants the operator token', async () => {
    expect((await allocate(randomUUID(), { paymentId: randomUUID(), reason: 'r' }, {})).error.code).toBe('operator_token_invalid');
  });

  it('404: an unknown or malformed deposit', async () => {
    for (const id of [randomUUID(), 'x']) expect((await allocate(id, { paymentId: randomUUID(), reason: 'r' })).status).toBe(404);
  });

  it('409: a deposit that is not set aside', async () => {
    const { paymentId, id } = await withDust();
    await allocate(id, { paymentId, reason: 'r' });
    const answer = await allocate(id, { paymentId, reason: 'r' });
    expect([answer.status, answer.error.code]).toEqual([409, 'conflict']);
  });

  it('422: names the field', async () => {
    const { paymentId, id } = await withDust();
    for (const [body, field] of [
      [{ reason: 'r' }, 'paymentId'],
      [{ paymentId: 'x', reason: 'r' }, 'paymentId'],
      [{ paymentId: randomUUID(), reason: 'r' }, 'paymentId'],
      [{ paymentId }, 'reason'],
      [{ paymentId, reason: ' ' }, 'reason'],
      [{ paymentId, reason: 'r'.repeat(501) }, 'reason'],
    ] as const) {
      const answer = await allocate(id, body);
      expect([body, answer.status, answer.error.code]).toEqual([body, 422, 'validation_error']);
      expect(answer.error.message).toContain(field);
    }
  });
});
