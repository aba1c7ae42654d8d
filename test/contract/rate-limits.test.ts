import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import { aService, callerOf, listen, type Listening, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
let limited: Listening;
let clock: number;
const metrics = createApiMetrics('test');
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop({ apiAllowlist: ['127.0.0.1', '203.0.113.0/24', '2001:db8::/32'] });
});
// A hundredth of the real limits: 6 creates, 12 verifies, 3 public reads a minute, one of most others; ten times that for servers.
beforeEach(async () => {
  clock = Date.now();
  const config = { ...service.deps.config, SLUICE_RATE_LIMIT_SCALE: 0.01, SLUICE_TRUSTED_PROXIES: ['127.0.0.1'] };
  const wallClock = (): number => clock;
  limited = await listen({ ...service.deps, config, metrics, wallClock, limiter: createLimiter({ now: wallClock }) });
  return () => limited.close();
});
afterAll(() => service.stop());

const VERIFY = '/api/v1/payments/7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44/verify';
const READ = '/api/v1/public/payments/7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44';
const from = (address: string): { headers: Record<string, string> } => ({ headers: { 'x-forwarded-for': address } });
const operator = (token: string = TEST_SECRETS.SLUICE_OPERATOR_TOKEN): { headers: Record<string, string> } => ({
  headers: { authorization: `Bearer ${token}` },
});

/** How many calls are answered before one is refused for being too many. */
async function passing(call: (turn: number) => Promise<Answer>): Promise<number> {
  for (let passed = 0; ; passed++) if ((await call(passed)).status === 429) return passed;
}

describe('a caller that calls too often', () => {
  it('is told in whole seconds when to come back, and then one call passes', async () => {
    const verify = (): Promise<Answer> => limited.ask('POST', VERIFY);
    expect(await passing(verify)).toBe(12);
    const refused = await verify();
    expect([refused.status, refused.error]).toEqual([429, { code: 'rate_limit_exceeded', message: 'Too many requests; retry after the time in Retry-After.' }]);
    expect(refused.headers.get('retry-after')).toBe('5');
    clock += 4_000;
    expect((await verify()).headers.get('retry-after')).toBe('1');
    clock += 1_000;
    expect(await passing(verify)).toBe(1);
    clock += 60_000;
    expect(await passing(verify)).toBe(12);
  });

  it('is refused before its body is read and before its key is looked at', async () => {
    expect(await passing(() => limited.ask('POST', '/api/v1/payments/preview'))).toBe(6);
    const socket = connect(Number(new URL(limited.origin).port), '127.0.0.1');
    socket.write('POST /api/v1/payments/preview HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\nExpect: 100-continue\r\n\r\n');
    const [first] = (await socket.take(1).toArray()) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1\.1 429 /);
  });

  it('is refused whatever it writes beside the operation: query, slashes, escapes, body', async () => {
    expect(await passing(() => limited.ask('GET', READ))).toBe(3);
    for (const path of [
      `${READ}?statusOnly=true`,
      `${READ}?x=1`,
      READ.replace('7d', '%37d'),
      READ.toUpperCase().replace('/API/V1/PUBLIC/PAYMENTS', '/api/v1/public/payments'),
    ])
      expect([path, (await limited.ask('GET', path)).status]).toEqual([path, 429]);
  });

  it('does not keep others, or its own calls of other operations, from being answered', async () => {
    expect(await passing(() => limited.ask('GET', READ))).toBe(3);
    expect((await limited.ask('POST', `${READ}/expire`)).status).toBe(404);
    expect((await limited.ask('GET', READ, from('198.51.100.1'))).status).toBe(404);
  });

  it('is counted, by route', async () => {
    await passing(() => limited.ask('GET', READ));
    expect((await metrics.scrape()).body).toMatch(/sluice_rate_limited_total\{route="\/api\/v1\/public\/payments\/\{paymentId\}"\} [1-9]/);
  });
});

describe('whose calls are counted together', () => {
  it('those of one IPv4 address, however it is written', async () => {
    const spellings = ['198.51.100.1', '::ffff:198.51.100.1', '198.51.100.1:4711', '::FFFF:C633:6401'];
    expect(await passing((turn) => limited.ask('GET', READ, from(spellings[turn % 4] ?? '')))).toBe(3);
    expect((await limited.ask('GET', READ, from('198.51.100.2'))).status).toBe(404);
  });

  it('those of one IPv6 /64, and no wider', async () => {
    expect(await passing((turn) => limited.ask('GET', READ, from(`2001:db8:1:2:${turn}::${turn}`)))).toBe(3);
    expect((await limited.ask('GET', READ, from('2001:db8:1:3::1'))).status).toBe(404);
  });

  it('those whose forwarded address cannot be read, as the proxy that sent them', async () => {
    expect(await passing((turn) => limited.ask('GET', READ, from(['nonsense', '', '1.2.3', '0x7f.1'][turn % 4] ?? '')))).toBe(3);
  });

  it('not those that only claim another address: X-Forwarded-For to the left, Forwarded, X-Real-IP', async () => {
    const claims = (turn: number): Record<string, string> => ({
      'x-forwarded-for': `10.0.0.${turn}, 198.51.100.9`,
      forwarded: `for=10.0.1.${turn}`,
      'x-real-ip': `10.0.2.${turn}`,
      'x-client-ip': `10.0.3.${turn}`,
    });
    expect(await passing((turn) => limited.ask('GET', READ, { headers: claims(turn) }))).toBe(3);
  });

  it('paths and methods that do not exist, all together', async () => {
    const unknown: [string, string][] = [
      ['GET', '/wp-login.php'],
      ['GET', '/api/v1/nothing'],
      ['DELETE', '/api/v1/payments'],
      ['GET', '/operator/v1/nothing'],
      ['GET', '/API/V1/payments'],
      ['GET', '/logos/x/y.svg'],
    ];
    expect(await passing((turn) => limited.ask(...(unknown[turn % unknown.length] as [string, string])))).toBe(1);
    for (const [method, path] of unknown) expect([path, (await limited.ask(method, path)).status]).toEqual([path, 429]);
  });

  it('documentation is not counted', async () => {
    for (let times = 0; times < 30; times++) expect((await fetch(`${limited.origin}/openapi.json`)).status).toBe(200);
  });
});

describe('what a server gets ten times as much of', () => {
  it('calls with a key that authenticated from this address', async () => {
    const verify = (): Promise<Answer> => callerOf(limited.ask, shop).call('POST', '/payments/7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44/verify');
    expect(await passing(verify)).toBe(120);
    expect((await limited.ask('POST', VERIFY)).status).toBe(401);
  });

  it('calls with a signature that was right', async () => {
    expect(await passing(() => callerOf(limited.ask, shop).signed('GET', '/merchant/settlements/balances'))).toBe(120);
  });

  it('calls about API-mode payments, all of them together, that the allowlist let through', async () => {
    const payments = [await shop.payment(), await shop.payment(), await shop.payment(), await shop.payment(), await shop.payment()];
    const read = (turn: number): Promise<Answer> =>
      limited.ask('GET', `/api/v1/public/payments/${payments[turn % payments.length]?.paymentUid}`, from('203.0.113.9'));
    // The proof is given behind the answer: wait for each payment's.
    for (let turn = 0; turn < payments.length; turn++) await waitFor(async () => (await read(turn)).status === 200, { what: `payment ${turn} to be read` });
    expect(await passing(read)).toBeGreaterThanOrEqual(18);
    expect((await limited.ask('GET', READ, from('203.0.113.9'))).status).toBe(404);
  });

  it('not calls with an invented key, a wrong secret, or the key of a gateway that is not verified', async () => {
    const suspended = await service.aShop({ status: 'SUSPENDED' });
    const [, id] = shop.apiKey.split('_');
    const keys = (turn: number): string => [`sluice_${id}_${turn.toString(16).padStart(64, '0')}`, suspended.apiKey, 'x', `${shop.apiKey}x`][turn % 4] ?? '';
    await callerOf(limited.ask, shop).call('POST', '/payments/x/verify');
    expect(await passing((turn) => limited.ask('POST', VERIFY, { headers: { 'x-api-key': keys(turn) } }))).toBe(12);
    expect((await callerOf(limited.ask, shop).call('POST', '/payments/x/verify')).status).toBe(404);
  });

  it('not calls with a good key and a wrong signature', async () => {
    const secret = 'wrong';
    expect(await passing(() => callerOf(limited.ask, shop).signed('GET', '/merchant/settlements/balances', { secret }))).toBe(12);
  });

  it('not calls about hosted payments, unknown ones, or API-mode ones from outside the allowlist', async () => {
    const hosted = (await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x' } })).data.paymentUid;
    const api = (await shop.payment()).paymentUid;
    expect(await passing(() => limited.ask('GET', `/api/v1/public/payments/${hosted}`))).toBe(3);
    expect(await passing(() => limited.ask('GET', `/api/v1/public/payments/${api}`, from('198.51.100.9')))).toBe(3);
    expect(await passing((turn) => limited.ask('GET', READ.replace(/44$/, String(10 + turn)), from('203.0.113.9')))).toBe(3);
  });

  it('the operator with the token, while somebody guesses it from the same address', async () => {
    const gateways = (token?: string): Promise<Answer> => limited.ask('GET', '/operator/v1/gateways', operator(token));
    expect((await gateways()).status).toBe(200);
    expect(await passing((turn) => gateways(`guess ${turn}`.padEnd(40, '-')))).toBe(1);
    expect(await passing(() => gateways())).toBe(11);
  });
});
