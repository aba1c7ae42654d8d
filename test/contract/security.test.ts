import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { DEFAULT_PERMISSIONS, PERMISSIONS } from '#api/gateways/keys.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { CATALOGUE } from './catalogue.ts';
import { dial } from './raw-http.ts';
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

  // Who a request comes from, by how it arrives: through the configured proxy, and straight from whoever claims to be one.
  const headers: [string, Record<string, string>, string][] = [
    ['nothing', {}, '127.0.0.1'],
    ['one hop', { 'x-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
    ['a client that wrote hops of its own', { 'x-forwarded-for': '127.0.0.1, 10.0.0.1, 203.0.113.7' }, '203.0.113.7'],
    ['a hop that is the proxy itself', { 'x-forwarded-for': '203.0.113.7, 127.0.0.1' }, '203.0.113.7'],
    ['an IPv4-mapped hop', { 'x-forwarded-for': '::ffff:203.0.113.7' }, '203.0.113.7'],
    ['a hop with a port', { 'x-forwarded-for': '203.0.113.7:4444' }, '203.0.113.7'],
    ['an IPv6 hop', { 'x-forwarded-for': '2001:DB8:0::7' }, '2001:db8::7'],
    ['an IPv6 hop with a port', { 'x-forwarded-for': '[2001:db8::7]:4444' }, '2001:db8::7'],
    ['an IPv6 hop with a zone', { 'x-forwarded-for': 'fe80::7%eth0' }, 'fe80::7'],
    ['garbage at the end', { 'x-forwarded-for': '203.0.113.7, nonsense' }, '127.0.0.1'],
    ['an empty header', { 'x-forwarded-for': '' }, '127.0.0.1'],
    ['the Forwarded header', { forwarded: 'for=203.0.113.7' }, '127.0.0.1'],
    ['other headers that proxies write', { 'x-real-ip': '203.0.113.7', 'cf-connecting-ip': '203.0.113.7', 'true-client-ip': '203.0.113.7' }, '127.0.0.1'],
  ];

  it.each(headers)('with %s', async (_name, sent, proxiedFrom) => {
    const nobody = await service.aShop({ apiAllowlist: [], cashout: { enabled: true, allowlist: [] } });
    const refusedFrom = async ({ ask }: Pick<Listening, 'ask'>): Promise<string | undefined> => {
      const { error } = await callerOf(ask, nobody).signed('GET', '/merchant/settlements/balances', { headers: sent });
      expect(error.code).toBe('ip_not_allowed');
      return /address (\S+) is/.exec(error.message)?.[1];
    };
    expect([await refusedFrom(proxied), await refusedFrom(service)]).toEqual([proxiedFrom, '127.0.0.1']);
  });

  it('sent in two headers is read as one list', async () => {
    const get = async (...hops: string[]) => {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', shop.cashoutSecret).update(`${timestamp}.`).digest('hex');
      const credentials: [string, string][] = [
        ['X-Api-Key', shop.apiKey],
        ['X-Timestamp', timestamp],
        ['X-Signature', signature],
      ];
      return rawGet(proxied.origin, BALANCES, [...credentials, ...hops.map((hop): [string, string] => ['X-Forwarded-For', hop])]);
    };
    expect((await get('6.6.6.6', '203.0.113.7')).status).toBe(200);
    expect((await get('203.0.113.7', '6.6.6.6')).code).toBe('ip_not_allowed');
  });

  it.each([
    ['203.0.113.7', ['203.0.113.7', '::ffff:203.0.113.7'], ['203.0.113.8', '203.0.113.70', '::203.0.113.7']],
    ['203.0.113.0/25', ['203.0.113.0', '203.0.113.127'], ['203.0.113.128', '203.0.112.255']],
    ['203.0.113.99/24', ['203.0.113.1', '203.0.113.255'], ['203.0.114.0']],
    ['::ffff:203.0.113.7', ['203.0.113.7'], ['203.0.113.6']],
    ['::ffff:203.0.113.0/120', ['203.0.113.255'], ['203.0.112.255']],
    ['2001:db8::7', ['2001:db8::7', '2001:0DB8:0:0::7'], ['2001:db8::8']],
    ['2001:db8::/64', ['2001:db8::ffff:ffff:ffff:ffff'], ['2001:db8:0:1::', '203.0.113.7']],
    ['0.0.0.0/0', ['203.0.113.7'], ['2001:db8::7']],
    ['::/0', ['2001:db8::7'], ['203.0.113.7']],
  ])('the entry %s on both allowlists', async (entry, inside, outside) => {
    const one = await service.aShop({ apiAllowlist: [entry], cashout: { enabled: true, allowlist: [entry] } });
    const body = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook' };
    for (const [addresses, expected] of [
      [inside, [200, 201]],
      [outside, ['ip_not_allowed', 'forbidden']],
    ] as const)
      for (const address of addresses) {
        const sender = { headers: { 'x-forwarded-for': address } };
        const cashout = await callerOf(proxied.ask, one).signed('GET', '/merchant/settlements/balances', sender);
        const payment = await callerOf(proxied.ask, one).call('POST', '/payments', { body, ...sender });
        expect([address, cashout.error?.code ?? cashout.status, payment.error?.code ?? payment.status]).toEqual([address, ...expected]);
      }
  });

  it.each(['localhost', '10.0.0.0/33', '::1/129', '1.2.3', '010.0.0.1', 'fe80::1%eth0', '10.0.0.1-10.0.0.9', ' 10.0.0.1', '*', ''])(
    'the entry %j is refused, with its place named',
    async (entry) => {
      const change = (body: Record<string, unknown>) =>
        service.ask('PATCH', `/operator/v1/gateways/${shop.id}`, { headers: { authorization: `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}` }, body });
      expect((await change({ apiAllowlist: ['10.0.0.1', entry] })).error).toEqual({
        code: 'validation_error',
        message: 'apiAllowlist.1: must be an IP address or a CIDR range',
      });
      expect((await change({ cashout: { allowlist: [entry] } })).error.message).toBe('cashout.allowlist.0: must be an IP address or a CIDR range');
    },
  );

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
    for (const timestamp of [now - 280, now + 297].map(String)) {
      const signature = createHmac('sha256', open.cashoutSecret).update(`${timestamp}.`).digest('hex').toUpperCase();
      expect((await open.signed('GET', '/merchant/settlements/balances', { timestamp, headers: { 'x-signature': signature } })).status).toBe(200);
    }
  });
});

describe('a signature used again', () => {
  /** One signed read, as often as it is sent; with nothing in its body, every read of one second has the same signature. */
  const sent = (open: Shop, over: { upper?: boolean; path?: string; timestamp?: string } = {}) => {
    const { path = '/merchant/settlements/balances', timestamp = String(Math.floor(Date.now() / 1000)), upper = false } = over;
    const signature = createHmac('sha256', open.cashoutSecret).update(`${timestamp}.`).digest('hex');
    return open.signed('GET', path, { timestamp, headers: { 'x-signature': upper ? signature.toUpperCase() : signature } });
  };
  const counted = async (result: string): Promise<number> =>
    Number(new RegExp(`sluice_signatures_reused_total\\{result="${result}"\\} (\\d+)`).exec((await metrics.scrape()).body)?.[1] ?? 0);

  it('is served, and counted', async () => {
    const open = await service.aShop();
    const timestamp = String(Math.floor(Date.now() / 1000));
    const before = await counted('served');
    for (let times = 0; times < 3; times++) expect((await sent(open, { timestamp })).status).toBe(200);
    expect(await counted('served')).toBe(before + 2);
  });

  it('is refused where the gateway is strict, in either case, for any operation, and once of many at once', async () => {
    const open = await service.aShop({ strictSignatures: true });
    const timestamp = String(Math.floor(Date.now() / 1000));
    expect((await sent(open, { timestamp })).status).toBe(200);
    for (const again of [{ timestamp }, { timestamp, upper: true }, { timestamp, path: '/merchant/settlements?limit=1' }]) {
      const answer = await sent(open, again);
      expect([answer.status, answer.error?.code]).toEqual([401, 'signature_invalid']);
    }
    const other = String(Number(timestamp) + 7);
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => sent(open, { timestamp: other })))).map((answer) => answer.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    // Another gateway may happen to use the same bytes.
    await service.world.database.sql`insert into used_signatures (gateway_id, signature) select id, '\\x00' from gateways on conflict do nothing`;
    expect((await sent(await service.aShop({ strictSignatures: true }), { timestamp })).status).toBe(200);
  });

  it('is remembered for as long as it could be accepted, and no longer', async () => {
    const open = await service.aShop({ strictSignatures: true });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const age = (seconds: number) =>
      service.world.database.sql`update used_signatures set used_at = clock_timestamp() - make_interval(secs => ${seconds}) where gateway_id = ${open.id}`;
    expect((await sent(open, { timestamp })).status).toBe(200);
    // One dated five minutes ahead is accepted that long, with the second that whole seconds leave out.
    await age(601);
    await periodicWork['forget-signatures'].run(service.worker);
    expect((await sent(open, { timestamp })).status).toBe(401);
    await age(661);
    expect((await sent(open, { timestamp })).status).toBe(200);
    await age(661);
    expect(await periodicWork['forget-signatures'].run(service.worker)).toBeGreaterThan(0);
    expect(await service.world.database.sql`select 1 from used_signatures where gateway_id = ${open.id}`).toEqual([]);
  });

  it('is not used up by a request that a check before it refused', async () => {
    const open = await service.aShop({ strictSignatures: true });
    const stale = String(Math.floor(Date.now() / 1000) - 301);
    expect((await sent(open, { timestamp: stale })).error.code).toBe('signature_stale');
    expect(await service.world.database.sql`select 1 from used_signatures where gateway_id = ${open.id}`).toEqual([]);
  });
});

describe('permissions', () => {
  const permissions = [...new Set(CATALOGUE.flatMap(({ permission }) => permission ?? []))];

  it('are those that the operations need, and none stands for nothing', () => expect([...permissions].sort()).toEqual([...PERMISSIONS].sort()));

  it('of a new key are the six of decisions 8, and no later one comes to a key by itself', async () => {
    const six = ['payment:create', 'payment:inquire', 'payment:read', 'settlement:approve', 'settlement:create', 'settlement:read'];
    expect([...DEFAULT_PERMISSIONS].sort()).toEqual(six);
    const open = await service.aShop();
    const headers = { authorization: `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}` };
    await service.ask('POST', `/operator/v1/gateways/${open.id}/api-keys`, { headers, body: {} });
    const { data } = await service.ask('GET', `/operator/v1/gateways/${open.id}`, { headers });
    const keys = data.apiKeys as { permissions: string[] }[];
    expect(keys.map((key) => key.permissions.sort())).toEqual([six, six]);
  });

  it.each(PERMISSIONS)('%s opens the operations the contract says, and no other', async (permission) => {
    const open = await service.aShop();
    const made = await service.ask('POST', `/operator/v1/gateways/${open.id}/api-keys`, {
      headers: { authorization: `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}` },
      body: { permissions: [permission] },
    });
    const caller = callerOf(service.ask, { ...open, apiKey: String(made.data.apiKey) });
    for (const entry of CATALOGUE) {
      if (entry.permission === null) continue;
      const path = entry.path.replaceAll(/\{\w+\}/g, '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44');
      const { error } = await (entry.scheme === 'signedRequest' ? caller.signed : caller.call)(entry.method, path);
      const refused = error?.message === `This API key lacks the permission ${entry.permission}.`;
      expect([entry.id, refused]).toEqual([entry.id, entry.permission !== permission]);
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

  it('counts a caller that hung up before its answer as that, and not as a success', async () => {
    const { socket, write, next } = dial(service.origin);
    write('POST /api/v1/payments/preview HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n');
    await next();
    const counted = async (status: number): Promise<boolean> =>
      new RegExp(`sluice_http_request_duration_seconds_count\\{[^}]*/preview",status="${status}"`).test((await metrics.scrape()).body);
    socket.destroy();
    await waitFor(() => counted(499), { what: 'the request to be counted' });
    expect(await counted(200)).toBe(false);
  });

  it('counts a payment once, however many identical requests created it at the same moment', async () => {
    const created = async (): Promise<number> =>
      Number(/sluice_payments_created_total\{mode="HOSTED",kind="fixed",sandbox="true"\} (\d+)/.exec((await metrics.scrape()).body)?.[1] ?? 0);
    const open = await service.aShop();
    const body = { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x', isSandbox: true };
    const before = await created();
    await Promise.all(Array.from({ length: 20 }, () => open.call('POST', '/payments', { body, headers: { 'idempotency-key': 'at once' } })));
    expect(await created()).toBe(before + 1);
  });
});
