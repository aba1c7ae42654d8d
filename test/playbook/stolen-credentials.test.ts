import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aService, callerOf, type Service, type Shop } from '#test/contract/service.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';

const MERCHANT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const HERE = ['127.0.0.1', '::1'];

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop({ cashout: { enabled: true, allowlist: HERE, approvalCapUsd: '5' } });
  await shop.fund('USDT', '100');
});
afterAll(() => service.stop());

const cashout = (amount: string) => ({ assetId: service.world.assets.USDT?.id, amount, address: MERCHANT });
const settlements = async () =>
  Number((await service.world.database.sql<{ n: number }[]>`select count(*)::int as n from settlements where gateway_id = ${shop.id}`)[0]?.n);

describe('whoever has a stolen API key', () => {
  it('makes and reads payments of that gateway, and gets no coins: money needs a signature', async () => {
    const before = await settlements();
    const thief = callerOf(service.ask, { ...shop, cashoutSecret: 'a-guess-a-guess-a-guess-a-guess-a-guess' });
    expect((await thief.call('GET', '/payments')).status).toBe(200);
    expect((await thief.call('POST', '/merchant/settlements', { body: cashout('1') })).error.code).toBe('signature_missing');
    expect((await thief.signed('POST', '/merchant/settlements', { body: cashout('1') })).error.code).toBe('signature_invalid');
    expect((await thief.signed('GET', '/merchant/settlements/balances')).error.code).toBe('signature_invalid');
    expect(await settlements()).toBe(before);
  });
});

describe('whoever has the API key and the cashout secret', () => {
  it('gets nothing from an address that is not allowed', async () => {
    const elsewhere = await service.aShop({ cashout: { enabled: true, allowlist: ['203.0.113.7'] } });
    await elsewhere.fund('USDT', '10');
    expect((await elsewhere.signed('POST', '/merchant/settlements', { body: cashout('5') })).error.code).toBe('ip_not_allowed');
  });

  it('from an allowed one gets what is below the approval cap, and above it nothing without a code', async () => {
    expect((await shop.signed('POST', '/merchant/settlements', { body: cashout('5') })).data).toMatchObject({ status: 'REQUESTED' });
    const large = (await shop.signed('POST', '/merchant/settlements', { body: cashout('50') })).data as { id: string; status: string };
    expect(large.status).toBe('PENDING_APPROVAL');
    const headers = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
    const { data } = await service.ask('POST', `/operator/v1/gateways/${shop.id}/totp`, { headers });
    const right = generateSync({ secret: (data as { secret: string }).secret });
    const wrong = right === '000000' ? '000001' : '000000';
    expect((await shop.signed('POST', `/merchant/settlements/${large.id}/approve`, { body: { totpCode: wrong } })).error.code).toBe('totp_required');
    expect((await shop.signed('GET', `/merchant/settlements/${large.id}`)).data).toMatchObject({ status: 'PENDING_APPROVAL' });
  });

  it('turns no code against another gateway', async () => {
    const other = await service.aShop();
    await other.fund('USDT', '20');
    const theirs = (await other.signed('POST', '/merchant/settlements', { body: cashout('10') })).data as { id: string };
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/cancel'],
      ['POST', '/retry'],
    ] as const)
      expect((await shop.signed(method, `/merchant/settlements/${theirs.id}${path}`)).error.code).toBe('not_found');
  });
});

describe('whoever has an authenticator alone', () => {
  it('approves nothing: its codes count in a signed request only', async () => {
    const made = (await shop.signed('POST', '/merchant/settlements', { body: cashout('20') })).data as { id: string };
    const headers = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
    const { data } = await service.ask('POST', `/operator/v1/gateways/${shop.id}/totp`, { headers });
    const totpCode = generateSync({ secret: (data as { secret: string }).secret });
    const stranger = callerOf(service.ask, { id: shop.id, apiKey: 'sk_guess', cashoutSecret: 'a-guess-a-guess-a-guess-a-guess-a-guess' });
    expect((await stranger.signed('POST', `/merchant/settlements/${made.id}/approve`, { body: { totpCode } })).error.code).toBe('auth_api_key_invalid');
    // The very same code is good where it belongs: it was the signature that was missing.
    expect((await shop.signed('POST', `/merchant/settlements/${made.id}/approve`, { body: { totpCode } })).data).toMatchObject({ status: 'REQUESTED' });
  });
});
