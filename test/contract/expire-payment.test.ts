import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aService, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterAll(() => service.stop());

const expire = (id: string) => service.ask('POST', `/api/v1/public/payments/${id}/expire`);

describe('200', () => {
  it('leaves a payment alone that is not overdue', async () => {
    const { paymentUid } = await shop.payment();
    expect((await expire(paymentUid)).data).toEqual({ paymentUid, status: 'PENDING', isVerified: false, verifiedAt: null });
  });

  it('expires an overdue one once, however often and by however many it is asked (contract 4.2)', async () => {
    const { paymentUid } = await shop.payment({ timeoutSeconds: 60 });
    await service.world.advance(61);
    const answers = await Promise.all(Array.from({ length: 10 }, () => expire(paymentUid)));
    for (const { status, data } of answers) expect([status, data.status]).toEqual([200, 'EXPIRED']);
    const events = await service.deps.db.sql`select 1 from webhook_events where payment_id = ${paymentUid}`;
    expect(events).toHaveLength(1);
  });
});

describe('403', () => {
  it('refuses an API-mode payment from an address off the allowlist and names it', async () => {
    const closing = await service.aShop();
    const { paymentUid } = await closing.payment();
    await service.ask('PATCH', `/operator/v1/gateways/${closing.id}`, {
      headers: { authorization: `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}` },
      body: { apiAllowlist: ['2001:db8::/32'] },
    });
    const { status, error } = await expire(paymentUid);
    expect([status, error.code]).toEqual([403, 'forbidden']);
    expect(error.message).toContain('127.0.0.1');
  });
});

describe('404', () => {
  it('does not know any other id', async () => {
    expect((await expire(randomUUID())).error.code).toBe('not_found');
  });
});
