import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, type Shop, aService } from './service.ts';

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterAll(() => service.stop());

const HOSTED = { currencyCode: 'USD', amount: '49.90', callbackUrl: 'https://shop.example/thanks' };
const API = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook' };
const create = (body: unknown, headers: Record<string, string> = {}) => shop.call('POST', '/payments', { body, headers });

describe('201', () => {
  it('answers a hosted payment with its id and page, and no payment object (contract 2.2)', async () => {
    const { status, data } = await create(HOSTED);
    expect(status).toBe(201);
    expect(data.paymentUrl).toMatch(new RegExp(`/p/${data.paymentUid}$`));
    expect(data).not.toHaveProperty('payment');
  });

  it('answers an API payment with the whole public object, the amount byte for byte (contract 4.1, decisions 1)', async () => {
    const { status, data } = await create({ ...API, amount: '10.500' });
    expect(status).toBe(201);
    expect(data.payment).toMatchObject({ id: data.paymentUid, amount: '10.500', status: 'PENDING', checkoutMode: 'API', openAmount: false });
  });

  it('gives a missing or non-positive timeoutSeconds an hour, and has no upper bound (contract 2.1)', async () => {
    for (const [sent, seconds] of [
      [undefined, 3600],
      [0, 3600],
      [-5, 3600],
      [60, 60],
    ] as const)
      expect((await create({ ...API, timeoutSeconds: sent })).data.payment).toMatchObject({ timeoutSeconds: seconds });
    for (const endless of [1e12, 1e15, 1e300])
      expect((await create({ ...API, timeoutSeconds: endless })).data.payment).toMatchObject({ expiresAt: '9999-12-31T23:59:59.000Z' });
  });

  it('takes a currency code in any case and a null language and paylinkId', async () => {
    expect((await create({ ...HOSTED, currencyCode: 'usd', language: null, paylinkId: null })).status).toBe(201);
  });

  it('ignores a paylinkId that comes with DIRECT, whatever it is (decisions 9)', async () => {
    expect((await create({ ...HOSTED, type: 'DIRECT', paylinkId: 'not a UUID' })).status).toBe(201);
    expect((await create({ ...HOSTED, paylinkId: 'not a UUID' })).status).toBe(201);
  });

  it('ignores unknown fields', async () => {
    expect((await create({ ...HOSTED, colour: 'blue', paymentUid: 'x' })).status).toBe(201);
  });

  it('replays the same bytes for a repeated Idempotency-Key', async () => {
    const first = await create(HOSTED, { 'idempotency-key': 'order-1' });
    const again = await create(HOSTED, { 'idempotency-key': 'order-1' });
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([201, first.text, 'true']);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
  });

  it('creates one payment for 50 identical requests at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(HOSTED, { 'idempotency-key': 'order-2' })));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1);
  });
});

describe('403', () => {
  it('refuses a platform-billed gateway (contract 2.1)', async () => {
    const platform = await service.aShop({ billing: 'PLATFORM' });
    expect((await platform.call('POST', '/payments', { body: HOSTED })).error.code).toBe('forbidden');
  });

  it('refuses API mode from an address off the allowlist and names it (contract 5.7)', async () => {
    const elsewhere = await service.aShop({ apiAllowlist: ['203.0.113.0/24'] });
    const { status, error } = await elsewhere.call('POST', '/payments', { body: API });
    expect([status, error.code]).toEqual([403, 'forbidden']);
    expect(error.message).toContain('127.0.0.1');
  });
});

describe('409', () => {
  it('refuses a used Idempotency-Key with another body, whatever that body is', async () => {
    await create(HOSTED, { 'idempotency-key': 'order-3' });
    for (const body of [{ ...HOSTED, amount: '50' }, { nonsense: true }]) {
      const { status, error } = await create(body, { 'idempotency-key': 'order-3' });
      expect([status, error.code]).toEqual([409, 'idempotency_conflict']);
    }
  });
});

describe('422', () => {
  const cases: [string, string, Record<string, unknown>][] = [
    ['currencyCode', 'missing', { ...HOSTED, currencyCode: undefined }],
    ['currencyCode', 'unknown', { ...HOSTED, currencyCode: 'XXX' }],
    ['amount', 'missing', { ...HOSTED, amount: undefined }],
    ['amount', 'a JSON number', { ...HOSTED, amount: 10 }],
    ['amount', 'zero', { ...HOSTED, amount: '0' }],
    ...['-1', '+1', '1e3', ' 1', '01', '1.', '.5', '١', 'NaN', '0.1234567890123456789', '1'.repeat(39), `1.${'0'.repeat(60)}`].map(
      (amount): [string, string, Record<string, unknown>] => ['amount', JSON.stringify(amount).slice(0, 30), { ...HOSTED, amount }],
    ),
    ['type', 'unknown', { ...HOSTED, type: 'LINK' }],
    ['paylinkId', 'missing for PAYLINK', { ...HOSTED, type: 'PAYLINK' }],
    ['paylinkId', 'not a UUID', { ...HOSTED, type: 'PAYLINK', paylinkId: 'x' }],
    ['checkoutMode', 'unknown', { ...HOSTED, checkoutMode: 'hosted' }],
    ['callbackUrl', 'missing in HOSTED', { ...HOSTED, callbackUrl: undefined }],
    ['callbackUrl', 'relative', { ...HOSTED, callbackUrl: '/thanks' }],
    ['callbackUrl', 'a script', { ...HOSTED, callbackUrl: 'javascript:alert(1)' }],
    ['callbackUrl', 'sent in API mode', { ...API, callbackUrl: 'https://shop.example' }],
    ['callbackParams', 'not an object', { ...HOSTED, callbackParams: ['a'] }],
    ['webhookUrl', 'missing in API mode', { ...API, webhookUrl: undefined }],
    ['webhookUrl', 'not http', { ...HOSTED, webhookUrl: 'ftp://shop.example' }],
    ['timeoutSeconds', 'a string', { ...HOSTED, timeoutSeconds: '60' }],
    ['timeoutSeconds', 'a fraction', { ...HOSTED, timeoutSeconds: 1.5 }],
    ['txFeePayer', 'PLATFORM', { ...HOSTED, txFeePayer: 'PLATFORM' }],
    ['commissionFeePayer', 'unknown', { ...HOSTED, commissionFeePayer: 'ME' }],
    ['overAcceptableDiff', 'not money', { ...HOSTED, overAcceptableDiff: 'one' }],
    ['underAcceptableDiff', 'a number', { ...HOSTED, underAcceptableDiff: 1 }],
    ['acceptableDiffKind', 'unknown', { ...HOSTED, acceptableDiffKind: 'FLAT' }],
    ['checkAmountDeviation', 'a string', { ...HOSTED, checkAmountDeviation: 'false' }],
    ['assets', 'empty', { ...HOSTED, assets: [] }],
    ['assets[0].assetId', 'not a UUID', { ...HOSTED, assets: [{ assetId: 'x', assetPriceUsd: '1' }] }],
    ['assets[0].assetId', 'not enabled', { ...HOSTED, assets: [{ assetId: '00000000-0000-4000-8000-000000000000', assetPriceUsd: '1' }] }],
    ['assets[0].assetPriceUsd', 'missing', { ...HOSTED, assets: [{ assetId: '00000000-0000-4000-8000-000000000000' }] }],
    ['language', 'a number', { ...HOSTED, language: 1 }],
    ['isSandbox', 'a string', { ...HOSTED, isSandbox: 'true' }],
    ['webhookParams.note', 'text no database holds', { ...HOSTED, webhookParams: { note: 'a\u0000b' } }],
  ];
  it.each(cases)('names %s when it is %s', async (field, _how, body) => {
    const { status, error } = await create(body);
    expect([status, error.code]).toEqual([422, 'validation_error']);
    expect(error.message).toMatch(new RegExp(`^${field.replaceAll(/[[\].]/g, '\\$&')}: `));
  });

  it('names the Idempotency-Key when it is not 1 to 255 printable characters', async () => {
    for (const key of ['x'.repeat(256), 'caf\u00e9']) expect((await create(HOSTED, { 'idempotency-key': key })).error.message).toMatch(/^Idempotency-Key: /);
  });

  it('names checkoutMode when API mode has no allowlist (contract 4.1)', async () => {
    const bare = await service.aShop({ apiAllowlist: [] });
    expect((await bare.call('POST', '/payments', { body: API })).error.message).toMatch(/^checkoutMode: /);
  });

  it('says so when no asset has a price', async () => {
    const none = await service.aShop({ assetIds: [] });
    expect((await none.call('POST', '/payments', { body: HOSTED })).error.code).toBe('validation_error');
  });
});
