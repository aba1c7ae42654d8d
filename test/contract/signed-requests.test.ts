import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLimiter } from '#shared/platform/limiter.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer, Ask } from './client.ts';
import { type Credentials, type Listening, listen } from './service.ts';

// The signed-request rules of contract 4.3 and the order of checks of decisions 8, row by row, at a clock that stands
// still. Allowlists, repeated headers and signatures used again are security.test.ts.

/** The server's clock, near the end of its second. */
const NOW = 1_800_000_000;
const BALANCES = '/api/v1/merchant/settlements/balances';
const CREATE = '/api/v1/merchant/settlements';

let world: InProcess;
let service: Listening;
/** Nobody may call it more than once in an age. */
let limited: Listening;
let shop: Credentials;
beforeAll(async () => {
  world = await inProcess({ config: { SLUICE_RATE_LIMIT_SCALE: 1_000 } });
  const deps = { ...world.deps, wallClock: () => NOW * 1_000 + 999 };
  service = await listen(deps);
  limited = await listen({ ...deps, config: { ...deps.config, SLUICE_RATE_LIMIT_SCALE: 1e-9 }, limiter: createLimiter({ now: () => 0 }) });
  shop = await aShop();
});
afterAll(async () => {
  await Promise.all([service.close(), limited.close()]);
  await world.stop();
});

const operator = (method: string, path: string, body: Record<string, unknown>) =>
  service.ask(method, `/operator/v1${path}`, { headers: { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` }, body });
async function aShop(cashout: Record<string, unknown> = {}): Promise<Credentials> {
  const { data } = await operator('POST', '/gateways', { name: 'Signer', cashout: { enabled: true, allowlist: ['127.0.0.1', '::1'], ...cashout } });
  const { gateway, apiKey, cashoutSigningSecret } = data as { gateway: { id: string }; apiKey: string; cashoutSigningSecret: string };
  return { id: gateway.id, apiKey, cashoutSecret: cashoutSigningSecret };
}

const sign = (text: string | Uint8Array, timestamp: string, secret = shop.cashoutSecret) =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(text).digest('hex');
const headersOf = (timestamp: string, signature: string) => ({ 'x-api-key': shop.apiKey, 'x-timestamp': timestamp, 'x-signature': signature });
const saying = ({ status, error }: Answer): string => error?.code ?? String(status);

describe('X-Timestamp', () => {
  it.each([
    ['now', String(NOW), '200'],
    ['300 seconds ago', String(NOW - 300), '200'],
    ['in 300 seconds', String(NOW + 300), '200'],
    ['301 seconds ago', String(NOW - 301), 'signature_stale'],
    ['in 301 seconds', String(NOW + 301), 'signature_stale'],
    ['a fraction', `${NOW}.5`, 'signature_stale'],
    ['a fraction of nothing', `${NOW}.0`, 'signature_stale'],
    ['milliseconds', `${NOW}000`, 'signature_stale'],
    ['signed', `+${NOW}`, 'signature_stale'],
    ['negative', `-${NOW}`, 'signature_stale'],
    ['an exponent', '1.8e9', 'signature_stale'],
    ['hexadecimal', `0x${NOW.toString(16)}`, 'signature_stale'],
    ['a date', new Date(NOW * 1_000).toISOString(), 'signature_stale'],
    ['beyond every integer', '9'.repeat(400), 'signature_stale'],
    ['no number', 'now', 'signature_stale'],
    ['NaN', 'NaN', 'signature_stale'],
    ['zero', '0', 'signature_stale'],
    ['nothing', '', 'signature_missing'],
  ])('%s, with the right signature over it, is %s: %s', async (_name, timestamp, said) => {
    expect(saying(await service.ask('GET', BALANCES, { headers: headersOf(timestamp, sign('', timestamp)) }))).toBe(said);
  });
});

describe('X-Signature', () => {
  const at = String(NOW);
  const body = '{"assetId":"x","amount":"1","address":"y"}';
  const estimate = (raw: string | Uint8Array<ArrayBuffer>, signature: string) =>
    service.ask('POST', `${CREATE}/estimate-fee`, { raw, headers: headersOf(at, signature) });

  it.each<[string, string, () => string]>([
    ['is over the raw body', 'validation_error', () => sign(body, at)],
    ['may be in upper case', 'validation_error', () => sign(body, at).toUpperCase()],
    ['is not over nothing where there is a body', 'signature_invalid', () => sign('', at)],
    ['is not over the body alone', 'signature_invalid', () => createHmac('sha256', shop.cashoutSecret).update(body).digest('hex')],
    ['is not over another second', 'signature_invalid', () => sign(body, String(NOW - 1))],
    ['is not over another spelling of the body', 'signature_invalid', () => sign(`${body} `, at)],
    ['is not joined without the dot', 'signature_invalid', () => createHmac('sha256', shop.cashoutSecret).update(at).update(body).digest('hex')],
    ['is not keyed with the API key', 'signature_invalid', () => sign(body, at, shop.apiKey)],
    ['is not another hash', 'signature_invalid', () => createHmac('sha512', shop.cashoutSecret).update(`${at}.${body}`).digest('hex')],
    ['is not base64', 'signature_invalid', () => createHmac('sha256', shop.cashoutSecret).update(`${at}.${body}`).digest('base64')],
    ['has no prefix', 'signature_invalid', () => `sha256=${sign(body, at)}`],
    ['is not cut short', 'signature_invalid', () => sign(body, at).slice(0, -1)],
    ['is not longer', 'signature_invalid', () => `${sign(body, at)}0`],
    ['is not absent', 'signature_missing', () => ''],
  ])('%s: %s', async (_name, said, signature) => {
    expect(saying(await estimate(body, signature()))).toBe(said);
  });

  it('covers bytes that are no text at all', async () => {
    const raw = new Uint8Array([0x7b, 0xff, 0x00, 0x7d]);
    expect(saying(await estimate(raw, sign(raw, at)))).toBe('malformed_json');
    expect(saying(await estimate(raw, sign(Buffer.from(raw).toString('utf8'), at)))).toBe('signature_invalid');
  });

  it('covers the empty string on a POST without a body', async () => {
    const path = `${CREATE}/${randomUUID()}/retry`;
    expect(saying(await service.ask('POST', path, { headers: { ...headersOf(at, sign('', at)), 'idempotency-key': 'x' } }))).toBe('not_found');
  });
});

describe('the order of checks (decisions 8)', () => {
  it('is rate limit, key, permission, cashout enabled, address, timestamp, signature, idempotency, body: each is told while all after it are wrong too', async () => {
    const off = await aShop({ enabled: false, allowlist: [] });
    const elsewhere = await aShop({ allowlist: ['203.0.113.7'] });
    const { data: weak } = await operator('POST', `/gateways/${off.id}/api-keys`, { permissions: ['payment:read'] });
    const at = String(NOW);
    const wrong = { 'x-timestamp': '', 'x-signature': '' };
    const raw = '{"no JSON';
    const rows: [string, Ask['headers']][] = [
      ['auth_api_key_invalid', { 'x-api-key': 'nonsense', ...wrong }],
      ['forbidden', { 'x-api-key': String(weak.apiKey), ...wrong }],
      ['cashout_not_enabled', { 'x-api-key': off.apiKey, ...wrong }],
      ['ip_not_allowed', { 'x-api-key': elsewhere.apiKey, ...wrong }],
      ['signature_missing', { 'x-api-key': shop.apiKey, ...wrong, 'x-timestamp': '1' }],
      ['signature_missing', { 'x-api-key': shop.apiKey, ...wrong, 'x-signature': 'zz' }],
      ['signature_stale', { ...headersOf('1', 'zz') }],
      ['signature_invalid', { ...headersOf(at, 'zz') }],
      ['validation_error', { ...headersOf(at, sign(raw, at)) }],
      ['malformed_json', { ...headersOf(at, sign(raw, at)), 'idempotency-key': 'x' }],
    ];
    for (const [said, headers = {}] of rows) expect([said, saying(await service.ask('POST', CREATE, { raw, headers }))]).toEqual([said, said]);
    const keyless = await service.ask('POST', CREATE, { raw, headers: headersOf(at, sign(raw, at)) });
    expect(keyless.error.message).toMatch(/^Idempotency-Key: /);
    const calls = [];
    for (let n = 0; n < 10; n++) calls.push(saying(await limited.ask('POST', CREATE, { raw, headers: { 'x-api-key': 'nonsense' } })));
    expect(calls.at(-1)).toBe('rate_limit_exceeded');
  });
});
