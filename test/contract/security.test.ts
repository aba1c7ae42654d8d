import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { aService, callerOf, listen, type Listening, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
let proxied: Listening;
const metrics = createApiMetrics('test');
beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, metrics }));
  shop = await service.aShop({ apiAllowlist: ['203.0.113.0/24'], cashout: { enabled: true, allowlist: ['203.0.113.7', '2001:db8::/32'] } });
  proxied = await listen({ ...service.deps, config: { ...service.deps.config, SLUICE_TRUSTED_PROXIES: ['127.0.0.1'] } });
});
afterAll(async () => {
  await proxied.close();
  await service.stop();
});

const BALANCES = '/api/v1/merchant/settlements/balances';

/** fetch joins repeated headers before they are sent; this does not. */
function rawGet(origin: string, path: string, headers: [string, string][]): Promise<{ status: number; code: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${origin}${path}`, { headers: headers.flat() as unknown as Record<string, string> }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, code: (JSON.parse(text) as { error?: { code: string } }).error?.code }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('the source address', () => {
  const balances = (from: Listening['ask'], forwarded: string) =>
    callerOf(from, shop).signed('GET', '/merchant/settlements/balances', { headers: { 'x-forwarded-for': forwarded } });

  it('is the right-most hop that is not a configured proxy', async () => {
    for (const forwarded of ['203.0.113.7', '6.6.6.6, 203.0.113.7', '::ffff:203.0.113.7', '2001:db8::5', '203.0.113.7:4444'])
      expect([forwarded, (await balances(proxied.ask, forwarded)).status]).toEqual([forwarded, 200]);
    for (const forwarded of ['203.0.113.8', '203.0.113.7, 6.6.6.6', '203.0.113.7, nonsense', ''])
      expect([forwarded, (await balances(proxied.ask, forwarded)).error?.code]).toEqual([forwarded, 'ip_not_allowed']);
  });

  it('is named in the refusal, and is never what an unconfigured proxy claims', async () => {
    expect((await balances(proxied.ask, '6.6.6.6')).error.message).toContain('6.6.6.6');
    expect((await balances(service.ask, '203.0.113.7')).error.message).toContain('127.0.0.1');
  });

  it('decides about API-mode payments with the code of contract 7', async () => {
    const body = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook' };
    const create = (forwarded: string) => callerOf(proxied.ask, shop).call('POST', '/payments', { body, headers: { 'x-forwarded-for': forwarded } });
    const { data } = await create('203.0.113.200');
    expect((await create('198.51.100.1')).error.code).toBe('forbidden');
    const read = (forwarded: string) => proxied.ask('GET', `/api/v1/public/payments/${data.paymentUid}`, { headers: { 'x-forwarded-for': forwarded } });
    expect((await read('203.0.113.1')).status).toBe(200);
    expect((await read('198.51.100.1')).error).toMatchObject({ code: 'forbidden', message: expect.stringContaining('198.51.100.1') });
  });
});

describe('credentials sent twice', () => {
  const signed = (): [string, string][] => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    return [
      ['X-Api-Key', shop.apiKey],
      ['X-Timestamp', timestamp],
      ['X-Signature', createHmac('sha256', shop.cashoutSecret).update(`${timestamp}.`).digest('hex')],
      ['X-Forwarded-For', '203.0.113.7'],
    ];
  };

  it('are accepted once', async () => expect(await rawGet(proxied.origin, BALANCES, signed())).toEqual({ status: 200, code: undefined }));

  it.each([
    ['X-Api-Key', 'auth_api_key_invalid'],
    ['X-Timestamp', 'signature_stale'],
    ['X-Signature', 'signature_invalid'],
  ])('are refused: %s', async (name, code) => {
    const headers = signed();
    const again = headers.find(([one]) => one === name) as [string, string];
    expect(await rawGet(proxied.origin, BALANCES, [...headers, again])).toEqual({ status: 401, code });
  });

  it('are refused: the operator token', async () => {
    const token: [string, string] = ['Authorization', `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}`];
    expect((await rawGet(service.origin, '/operator/v1/gateways', [token])).status).toBe(200);
    expect((await rawGet(service.origin, '/operator/v1/gateways', [token, token])).code).toBe('operator_token_invalid');
    for (const wrong of [
      '',
      'Bearer',
      'Bearer x',
      `Basic ${service.deps.config.SLUICE_OPERATOR_TOKEN}`,
      `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}x`,
    ])
      expect((await rawGet(service.origin, '/operator/v1/gateways', [['Authorization', wrong]])).code).toBe('operator_token_invalid');
  });
});

describe('the signature', () => {
  it('is over the bytes as they were sent, not over what they mean', async () => {
    const open = await service.aShop();
    const estimate = (raw: string, signedAs: string) => {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', open.cashoutSecret).update(`${timestamp}.${signedAs}`).digest('hex');
      return open.signed('POST', '/merchant/settlements/estimate-fee', { raw, headers: { 'x-timestamp': timestamp, 'x-signature': signature } });
    };
    const spaced = '{ "assetId" : "x" }';
    expect((await estimate(spaced, spaced)).status).toBe(422);
    expect((await estimate(spaced, JSON.stringify(JSON.parse(spaced)))).error.code).toBe('signature_invalid');
    expect((await estimate('{"é":1}', '{"é":1}')).status).toBe(422);
  });

  it('may be written in either case, and counts up to 300 seconds either way', async () => {
    const open = await service.aShop();
    const now = Math.floor(Date.now() / 1000);
    for (const timestamp of [now - 297, now + 297].map(String)) {
      const signature = createHmac('sha256', open.cashoutSecret).update(`${timestamp}.`).digest('hex').toUpperCase();
      expect((await open.signed('GET', '/merchant/settlements/balances', { timestamp, headers: { 'x-signature': signature } })).status).toBe(200);
    }
  });
});

describe('what is counted', () => {
  it('names routes by template and errors by slug, and no caller', async () => {
    const open = await service.aShop();
    await service.ask('GET', BALANCES);
    await open.call('POST', '/payments/not-an-id/verify');
    await open.call('GET', '/nowhere');
    const body = { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x' };
    for (let times = 0; times < 2; times++) await open.call('POST', '/payments', { body, headers: { 'idempotency-key': 'counted' } });
    const { body: text } = await metrics.scrape();
    expect(text).toMatch(/sluice_http_request_duration_seconds_count\{[^}]*route="\/api\/v1\/payments\/\{paymentId\}\/verify",status="404"/);
    expect(text).toMatch(/sluice_api_errors_total\{route="other",code="not_found"\}/);
    expect(text).toMatch(/sluice_auth_failures_total\{reason="key"\}/);
    for (const result of ['new', 'replay']) expect(text).toMatch(new RegExp(`sluice_idempotency_total\\{endpoint="/api/v1/payments",result="${result}"\\}`));
    expect(text).not.toContain(open.id);
    expect(text).not.toContain('127.0.0.1');
  });
});
