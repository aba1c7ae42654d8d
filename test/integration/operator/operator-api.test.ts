import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps } from '#api/deps.ts';
import { moveClock } from '#api/operator/clock.ts';
import { authenticateApiKey } from '#api/gateways/keys.ts';
import { readSecrets } from '#api/gateways/secrets.ts';
import { call, type Merchant, type Operator } from '#ops/dev/client.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import type { RunningApi } from '#test/harness/deployables.ts';
import { aPayment, aWorld, TEST_SECRETS, type World } from '#test/harness/world.ts';

let world: World;
let api: RunningApi;
let operator: Operator;
/** Everything the process may never let out again: collected from each answer that shows a secret once. */
const shown: string[] = [];

beforeAll(async () => {
  world = await aWorld();
  api = await world.startApi();
  operator = world.operator(api);
});
afterAll(() => world?.stop());

/** What use cases need when called without the process around them. */
function depsWith(config: Partial<Record<string, unknown>> = {}): Deps {
  return { db: world.database.as('http'), config: { ...TEST_SECRETS, ...config }, randomBytes, wallClock: Date.now } as unknown as Deps;
}

interface Created {
  gateway: { id: string; name: string; cashout: { enabled: boolean; allowlist: string[] }; settings: { commissionBps: number } } & Record<string, unknown>;
  apiKey: string;
  cashoutSigningSecret: string;
  webhookSecret: string;
}

async function create(body: Record<string, unknown> = {}): Promise<Created> {
  const created = (await operator.must('POST', '/gateways', { body: { name: 'Acme', ...body } })) as unknown as Created;
  shown.push(created.apiKey.split('_')[2] as string, created.cashoutSigningSecret, created.webhookSecret);
  return created;
}

async function keyStatus(apiKey: string): Promise<number> {
  return (await call(`${api.baseUrl}/assets`, 'GET', { headers: { 'x-api-key': apiKey } })).status;
}

describe('gateways', () => {
  it('are made with every default, and answer with secrets that work', async () => {
    const created = await create();
    expect(created.gateway).toMatchObject({
      name: 'Acme',
      status: 'VERIFIED',
      billing: 'STANDARD',
      assetIds: null,
      strictSignatures: false,
      cashout: { enabled: false, parkedCap: 20 },
    });
    expect(created.apiKey).toMatch(/^sluice_[0-9a-f]{16}_[0-9a-f]{64}$/);
    expect(created.webhookSecret).toMatch(/^whsec_/);
    expect(created.cashoutSigningSecret).toMatch(/^cashout_/);
    expect(await keyStatus(created.apiKey)).toBe(200);
    expect(await keyStatus(`${created.apiKey.slice(0, -1)}${created.apiKey.endsWith('0') ? '1' : '0'}`)).toBe(401);
  });

  it('are listed newest first and shown with their keys, never with a secret', async () => {
    const created = await create({ name: 'Newest' });
    const { items, pagination } = (await operator.must('GET', '/gateways?limit=1')) as { items: { id: string }[]; pagination: object };
    expect(items.map((one) => one.id)).toEqual([created.gateway.id]);
    expect(pagination).toMatchObject({ limit: 1, page: 1, hasMore: true });
    const one = await operator.call('GET', `/gateways/${created.gateway.id}`);
    expect(one.data).toMatchObject({ gateway: { id: created.gateway.id }, apiKeys: [{ keyId: created.apiKey.split('_')[1], revokedAt: null }] });
    for (const secret of shown) expect(one.text).not.toContain(secret);
  });

  it('merge a change deeply, replace arrays, and take null as the default', async () => {
    const { gateway } = await create({ cashout: { enabled: true, allowlist: ['10.0.0.1', '10.0.0.2'] }, settings: { commissionBps: 50 } });
    const path = `/gateways/${gateway.id}`;
    const { gateway: changed } = (await operator.must('PATCH', path, {
      body: { cashout: { allowlist: ['::1'] }, contactEmail: 'ops@example.com' },
    })) as unknown as Created;
    expect(changed).toMatchObject({ cashout: { enabled: true, allowlist: ['::1'] }, settings: { commissionBps: 50 }, contactEmail: 'ops@example.com' });
    const { gateway: cleared } = (await operator.must('PATCH', path, { body: { settings: null, contactEmail: null } })) as unknown as Created;
    expect(cleared).toMatchObject({ settings: { commissionBps: 0 }, contactEmail: null, cashout: { enabled: true } });
  });

  it('lose no change when two operators change different things at once', async () => {
    const { gateway } = await create();
    const path = `/gateways/${gateway.id}`;
    await Promise.all([
      operator.must('PATCH', path, { body: { settings: { commissionBps: 70 } } }),
      operator.must('PATCH', path, { body: { cashout: { parkedCap: 3 } } }),
      operator.must('PATCH', path, { body: { contactEmail: 'a@example.com' } }),
    ]);
    expect(await operator.must('GET', path)).toMatchObject({
      gateway: { settings: { commissionBps: 70 }, cashout: { parkedCap: 3 }, contactEmail: 'a@example.com' },
    });
  });

  it('stop being served at once when they are suspended, and again when verified', async () => {
    const { gateway, apiKey } = await create();
    await operator.must('PATCH', `/gateways/${gateway.id}`, { body: { status: 'SUSPENDED' } });
    expect(await keyStatus(apiKey)).toBe(401);
    await operator.must('PATCH', `/gateways/${gateway.id}`, { body: { status: 'VERIFIED' } });
    expect(await keyStatus(apiKey)).toBe(200);
  });
});

describe('API keys', () => {
  it('can be added with few permissions and revoked without touching the others', async () => {
    const { gateway, apiKey } = await create();
    const added = (await operator.must('POST', `/gateways/${gateway.id}/api-keys`, { body: { permissions: ['payment:read'] } })) as {
      keyId: string;
      apiKey: string;
    };
    shown.push(added.apiKey.split('_')[2] as string);
    const payment = { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/' };
    expect((await call(`${api.baseUrl}/payments`, 'POST', { headers: { 'x-api-key': added.apiKey }, body: payment })).error.code).toBe('forbidden');
    expect((await operator.call('DELETE', `/gateways/${gateway.id}/api-keys/${added.keyId}`)).status).toBe(200);
    expect((await call(`${api.baseUrl}/payments`, 'POST', { headers: { 'x-api-key': added.apiKey }, body: payment })).error.code).toBe('auth_api_key_invalid');
    expect((await operator.call('DELETE', `/gateways/${gateway.id}/api-keys/${added.keyId}`)).status).toBe(404);
    expect(await keyStatus(apiKey)).toBe(200);
  });

  it('of another gateway cannot be revoked through this one', async () => {
    const [one, two] = [await create(), await create()];
    expect((await operator.call('DELETE', `/gateways/${one.gateway.id}/api-keys/${two.apiKey.split('_')[1]}`)).status).toBe(404);
    expect(await keyStatus(two.apiKey)).toBe(200);
  });

  it('have all permissions when the body is absent', async () => {
    const { gateway } = await create();
    const answer = await operator.call('POST', `/gateways/${gateway.id}/api-keys`);
    expect(answer.status).toBe(201);
    expect(answer.data.permissions).toHaveLength(6);
  });

  it('open nothing for whoever holds the database but not the pepper', async () => {
    const { apiKey } = await create();
    expect(await authenticateApiKey(depsWith(), apiKey)).toMatchObject({ gateway: { name: 'Acme' } });
    expect(await authenticateApiKey(depsWith({ SLUICE_API_KEY_PEPPER: 'another-pepper-another-pepper-another-pepper' }), apiKey)).toBeUndefined();
    const [row] = await world.database.sql`select secret_hash from api_keys where id = ${apiKey.split('_')[1] as string}`;
    const forged = `sluice_${apiKey.split('_')[1]}_${Buffer.from(row?.secretHash as Uint8Array).toString('hex')}`;
    expect(await authenticateApiKey(depsWith(), forged)).toBeUndefined();
  });

  it('note their use to the minute', async () => {
    const { apiKey, gateway } = await create();
    await keyStatus(apiKey);
    // No request waits for the note.
    await expect
      .poll(async () => ((await operator.must('GET', `/gateways/${gateway.id}`)) as unknown as { apiKeys: object[] }).apiKeys[0])
      .toMatchObject({ lastUsedAt: expect.stringMatching(/:00\.000Z$/), lastUsedFrom: expect.stringMatching(/^(127\.0\.0\.1|::1)$/) });
  });
});

describe('secrets', () => {
  it('never open in another row: swapped ciphertexts are refused', async () => {
    const [one, two] = [await create(), await create()];
    const { sql } = world.database;
    expect(await readSecrets(depsWith(), one.gateway.id, 'cashout')).toEqual([one.cashoutSigningSecret]);
    await sql`update gateway_secrets a set sealed = b.sealed from gateway_secrets b
      where a.kind = 'cashout' and b.kind = 'cashout' and ((a.gateway_id = ${one.gateway.id} and b.gateway_id = ${two.gateway.id}) or (a.gateway_id = ${two.gateway.id} and b.gateway_id = ${one.gateway.id}))`;
    for (const { gateway } of [one, two]) await expect(readSecrets(depsWith(), gateway.id, 'cashout')).rejects.toThrow(Invariant);
  });

  it('do not open under another master key', async () => {
    const { gateway } = await create();
    await expect(readSecrets(depsWith({ SLUICE_MASTER_KEY: 'another-master-key-another-master-key-another' }), gateway.id, 'webhook')).rejects.toThrow(
      Invariant,
    );
  });

  it('overlap after a rotation for as long as was asked, the newest first', async () => {
    const { gateway, webhookSecret } = await create();
    const rotated = (await operator.must('POST', `/gateways/${gateway.id}/secrets/webhook/rotate`)) as { secret: string; overlapSeconds: number };
    shown.push(rotated.secret);
    expect(rotated.overlapSeconds).toBe(86_400);
    expect(await readSecrets(depsWith(), gateway.id, 'webhook')).toEqual([rotated.secret, webhookSecret]);
    const again = (await operator.must('POST', `/gateways/${gateway.id}/secrets/webhook/rotate`, { body: { overlapSeconds: 0, reason: 'leaked' } })) as {
      secret: string;
    };
    shown.push(again.secret);
    expect(await readSecrets(depsWith(), gateway.id, 'webhook')).toEqual([again.secret]);
  });

  it('of cashouts stop counting at once unless an overlap is asked for, and leave the API key alone', async () => {
    const { gateway, apiKey } = await create();
    const rotated = (await operator.must('POST', `/gateways/${gateway.id}/secrets/cashout/rotate`, { body: {} })) as { secret: string };
    shown.push(rotated.secret);
    expect(await readSecrets(depsWith(), gateway.id, 'cashout')).toEqual([rotated.secret]);
    expect(await keyStatus(apiKey)).toBe(200);
  });

  it('of an authenticator are replaced by the next enrolment', async () => {
    const { gateway } = await create({ name: 'Acme & Sons' });
    const first = (await operator.must('POST', `/gateways/${gateway.id}/totp`)) as { secret: string; otpauthUrl: string };
    expect(new URL(first.otpauthUrl).searchParams.get('secret')).toBe(first.secret);
    const second = (await operator.must('POST', `/gateways/${gateway.id}/totp`)) as { secret: string };
    shown.push(first.secret, second.secret);
    expect(await readSecrets(depsWith(), gateway.id, 'totp')).toEqual([second.secret]);
  });
});

describe('networks and assets', () => {
  it('come from the networks file, with the contract decimals pinned', async () => {
    const { items } = (await operator.must('GET', '/networks')) as { items: object[] };
    expect(items).toMatchObject([{ name: 'ethereum', family: 'evm', chainId: '31337', nativeSymbol: 'ETH', pausedAt: null }]);
    const assets = (await operator.must('GET', '/assets')) as { items: object[] };
    expect(assets.items).toMatchObject([
      { symbol: 'ETH', type: 'NATIVE', contract: null, decimals: 18 },
      { symbol: 'USDC', decimals: 6 },
      { symbol: 'USDT', contract: world.chain.tokens.USDT, decimals: 6 },
    ]);
  });

  it('take another token once, in canonical form', async () => {
    const contract = '0x52908400098527886E0F7030069857D2E4169EE7';
    const body = { network: 'ethereum', symbol: 'EURX', contract, decimals: 2, networkFee: '0.25' };
    const absent = await operator.call('POST', '/assets', { body });
    expect([absent.status, absent.error.message], 'no contract lies there yet').toEqual([422, 'contract: no contract lies there on ethereum']);
    await world.chain.node.call('anvil_setCode', [contract, await world.chain.node.call('eth_getCode', [world.chain.tokens.USDT, 'latest'])]);
    const added = await operator.call('POST', '/assets', { body });
    expect(added.status).toBe(201);
    expect(added.data).toMatchObject({
      asset: {
        symbol: 'EURX',
        type: 'ERC20',
        contract: contract.toLowerCase(),
        decimals: 2,
        networkFee: '0.25',
        minimumSettlement: null,
        networkName: 'ethereum',
      },
    });
    expect((await operator.call('POST', '/assets', { body: { ...body, contract: contract.toLowerCase(), decimals: 6 } })).error.code).toBe('conflict');
    expect(
      ((await operator.must('GET', '/assets')) as { items: { symbol: string; decimals: number }[] }).items.find((one) => one.symbol === 'EURX')?.decimals,
    ).toBe(2);
  });

  it('pause and resume by name', async () => {
    const paused = await operator.must('POST', '/networks/ethereum/pause', { body: { reason: 'node upgrade' } });
    expect(paused).toMatchObject({ network: { name: 'ethereum', pausedAt: expect.any(String) } });
    expect(await operator.must('POST', '/networks/ethereum/resume')).toMatchObject({ network: { pausedAt: null } });
  });
});

describe('prices', () => {
  async function offered(merchant: Merchant): Promise<string[]> {
    const answer = await merchant.call('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook') });
    return answer.success ? (answer.data.payment as { offers: { assetSymbol: string }[] }).offers.map((offer) => offer.assetSymbol) : [answer.error.code];
  }

  it('set by an operator are used by the next payment; a price taken away takes its asset out of the offers', async () => {
    const merchant = await world.aGateway(api);
    expect(await operator.must('PUT', '/prices/eth', { body: { usd: '4000' } })).toMatchObject({ symbol: 'ETH', usd: '4000', source: 'static' });
    const payment = await merchant.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook') });
    expect((payment.payment as { offers: object[] }).offers).toContainEqual(
      expect.objectContaining({ assetSymbol: 'ETH', assetPriceUsd: '4000', amount: '0.0025' }),
    );
    await operator.must('PUT', '/prices/USDC', { body: { usd: null } });
    expect(await offered(merchant)).not.toContain('USDC');
    await operator.must('PUT', '/prices/USDC', { body: { usd: '1' } });
    expect(await offered(merchant)).toContain('USDC');
  });

  it('of currencies are set the same way; the dollar stays one', async () => {
    expect(await operator.must('PUT', '/prices/fiat:EUR', { body: { usd: '1.1' } })).toMatchObject({ symbol: 'fiat:EUR', usd: '1.1' });
    const merchant = await world.aGateway(api);
    const payment = await merchant.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook', { currencyCode: 'eur', amount: '10' }) });
    expect(Number((payment.payment as { amountUsd: string }).amountUsd)).toBe(11);
    expect((await operator.call('PUT', '/prices/fiat:USD', { body: { usd: '2' } })).error.code).toBe('validation_error');
  });

  it('from other sources are refused once they are 120 seconds old', async () => {
    const merchant = await world.aGateway(api);
    await world.database.sql`update prices set source = 'median', at = sluice_now() - interval '119 seconds' where symbol = 'USDT'`;
    expect(await offered(merchant)).toContain('USDT');
    await world.database.sql`update prices set at = sluice_now() - interval '121 seconds' where symbol = 'USDT'`;
    expect(await offered(merchant)).not.toContain('USDT');
    await operator.must('PUT', '/prices/USDT', { body: { usd: '1' } });
  });
});

describe('the service clock', () => {
  it('moves forward with the chain, keeps static prices fresh, and runs what became due before it answers', async () => {
    const merchant = await world.aGateway(api);
    const created = await merchant.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook', { timeoutSeconds: 600 }) });
    const before = (await operator.must('GET', '/clock')) as { now: string; offsetSeconds: number };
    const blockTime = async (): Promise<number> =>
      Number((await world.chain.node.call<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])).timestamp);
    const chainBefore = await blockTime();
    const after = (await operator.must('POST', '/clock/advance', { body: { seconds: 700 } })) as { now: string; offsetSeconds: number };
    expect(after.offsetSeconds).toBe(before.offsetSeconds + 700);
    expect(Date.parse(after.now) - Date.parse(before.now)).toBeGreaterThanOrEqual(700_000);
    expect(await blockTime()).toBeGreaterThanOrEqual(chainBefore + 700);
    expect(await call(`${api.baseUrl}/public/payments/${created.paymentUid}?statusOnly=true`, 'GET')).toMatchObject({ data: { status: 'EXPIRED' } });
    const next = await merchant.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook') });
    expect((next.payment as { offers: object[] }).offers).not.toHaveLength(0);
  });

  it('does not move in production', async () => {
    const production = { ...depsWith({ NODE_ENV: 'production' }), devChains: { warp: async () => undefined }, runDue: async () => undefined };
    await expect(moveClock(production, { params: {}, query: {}, body: { seconds: 1 } })).rejects.toThrow(ServiceError);
  });
});

describe('what goes on inside', () => {
  it('can be frozen and unfrozen, everything or one network or asset', async () => {
    expect(await operator.must('POST', '/freeze')).toMatchObject({ freezes: [{ scope: 'all' }] });
    expect(await operator.must('POST', '/freeze', { body: { scope: 'network:ethereum', reason: 'strange blocks' } })).toMatchObject({
      freezes: [{ scope: 'all' }, { scope: 'network:ethereum', reason: 'strange blocks' }],
    });
    await operator.must('POST', '/unfreeze', { body: {} });
    expect(await operator.must('POST', '/unfreeze', { body: { scope: 'network:ethereum' } })).toMatchObject({ freezes: [] });
    expect((await operator.call('POST', '/freeze', { body: { scope: 'network:mars' } })).error).toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('scope'),
    });
  });

  it('is listed: payments, settlements, deposits, webhooks, jobs', async () => {
    const merchant = await world.aGateway(api);
    const { paymentUid } = await merchant.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook') });
    expect(await operator.must('GET', `/payments?gatewayId=${merchant.gateway.id}&status=PENDING`)).toMatchObject({
      items: [{ id: paymentUid, status: 'PENDING', amount: '10' }],
      pagination: { total: 1 },
    });
    expect(await operator.must('GET', `/payments?gatewayId=${merchant.gateway.id}&status=SUCCESS`)).toMatchObject({
      items: [],
      pagination: { total: 0, hasMore: false },
    });
    for (const path of ['/settlements', '/deposits?state=unallocated', '/webhooks?state=pending', '/jobs'])
      expect((await operator.call('GET', path)).status, path).toBe(200);
    const shownPayment = await operator.must('GET', `/payments/${paymentUid}`);
    expect(shownPayment).toMatchObject({
      payment: { id: paymentUid, gatewayId: merchant.gateway.id },
      steps: [{ step: 'invoice' }, { step: 'terms' }, { step: 'offer' }, { step: 'offer' }, { step: 'offer' }, { step: 'next', rule: 'awaiting_select' }],
      deposits: [],
      credits: [],
    });
  });

  it('passes its audit', async () => {
    const audit = (await operator.must('GET', '/audit')) as unknown as { clean: boolean; checks: { check: string; rows: unknown[] }[] };
    expect(audit.checks.length).toBeGreaterThan(5);
    expect(audit.checks.filter((one) => one.rows.length > 0)).toEqual([]);
    expect(audit.clean).toBe(true);
  });
});

describe('every call', () => {
  const nobody = '00000000-0000-4000-8000-000000000000';

  it.each([undefined, '', 'Bearer', 'Bearer wrong', `Basic ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}`, TEST_SECRETS.SLUICE_OPERATOR_TOKEN])(
    'needs the operator token, not %j',
    async (authorization) => {
      for (const [method, path] of [
        ['GET', '/gateways'],
        ['POST', '/gateways'],
        ['GET', '/audit'],
        ['POST', '/clock/advance'],
        ['PUT', '/prices/ETH'],
      ] as const) {
        const answer = await call(`${api.operatorUrl}${path}`, method, authorization === undefined ? {} : { headers: { authorization } });
        expect(answer.status, path).toBe(401);
      }
    },
  );

  it.each([
    ['POST', '/gateways', {}, 422, 'name'],
    ['POST', '/gateways', { name: 1 }, 422, 'name'],
    ['POST', '/gateways', [], 422, 'body'],
    ['POST', '/gateways', { name: 'A', assetIds: [nobody] }, 422, 'assetIds'],
    ['POST', '/gateways', { name: 'A', assetIds: 'all' }, 422, 'assetIds'],
    ['POST', '/gateways', { name: 'A', openAmount: { assetIds: [nobody] } }, 422, 'openAmount.assetIds'],
    ['POST', '/gateways', { name: 'A', settings: { overAcceptableDiff: '1e5' } }, 422, 'settings.overAcceptableDiff'],
    ['POST', '/gateways', { name: 'A', apiAllowlist: ['everyone'] }, 422, 'apiAllowlist'],
    ['POST', '/gateways', { name: 'A', reason: 7 }, 422, 'reason'],
    ['PATCH', `/gateways/${nobody}`, {}, 404, ''],
    ['PATCH', '/gateways/not-an-id', {}, 404, ''],
    ['GET', `/gateways/${nobody}`, undefined, 404, ''],
    ['GET', '/gateways/%', undefined, 404, ''],
    ['POST', `/gateways/${nobody}/api-keys`, {}, 404, ''],
    ['POST', `/gateways/${nobody}/api-keys`, { permissions: ['everything'] }, 422, 'permissions'],
    ['POST', `/gateways/${nobody}/api-keys`, { permissions: [] }, 422, 'permissions'],
    ['DELETE', `/gateways/${nobody}/api-keys/0123456789abcdef`, undefined, 404, ''],
    ['POST', `/gateways/${nobody}/secrets/webhook/rotate`, { overlapSeconds: -1 }, 422, 'overlapSeconds'],
    ['POST', `/gateways/${nobody}/secrets/webhook/rotate`, { overlapSeconds: '60' }, 422, 'overlapSeconds'],
    ['POST', `/gateways/${nobody}/secrets/totp/rotate`, {}, 404, ''],
    ['POST', `/gateways/${nobody}/totp`, undefined, 404, ''],
    ['POST', '/networks/mars/pause', undefined, 404, ''],
    ['POST', '/networks/ethereum/rescan', { from: -1, to: 1 }, 422, 'from'],
    ['POST', '/networks/ethereum/rescan', {}, 422, 'from'],
    ['POST', '/assets', { network: 'mars', symbol: 'X', contract: '0x52908400098527886e0f7030069857d2e4169ee7', decimals: 6 }, 422, 'network'],
    ['POST', '/assets', { network: 'ethereum', symbol: 'x', contract: '0x52908400098527886e0f7030069857d2e4169ee7', decimals: 6 }, 422, 'symbol'],
    ['POST', '/assets', { network: 'ethereum', symbol: 'X', contract: '0x5290', decimals: 6 }, 422, 'contract'],
    ['POST', '/assets', { network: 'ethereum', symbol: 'X', contract: '0x52908400098527886e0f7030069857d2e4169ee7', decimals: 19 }, 422, 'decimals'],
    [
      'POST',
      '/assets',
      { network: 'ethereum', symbol: 'X', contract: '0x62908400098527886e0f7030069857d2e4169ee7', decimals: 2, networkFee: '0.001' },
      422,
      'networkFee',
    ],
    ['POST', '/assets', { network: 'ethereum', symbol: 'X', contract: '0x62908400098527886e0f7030069857d2e4169ee7', decimals: 2, type: 'NATIVE' }, 422, 'type'],
    ['PUT', '/prices/ETH', { usd: '0' }, 422, 'usd'],
    ['PUT', '/prices/ETH', { usd: '-1' }, 422, 'usd'],
    ['PUT', '/prices/ETH', { usd: 1 }, 422, 'usd'],
    ['PUT', '/prices/ETH', {}, 422, 'usd'],
    ['PUT', '/prices/ETH%20', { usd: '1' }, 422, 'symbol'],
    ['PUT', '/prices/fiat:', { usd: '1' }, 422, 'symbol'],
    ['POST', '/clock/advance', { seconds: 0 }, 422, 'seconds'],
    ['POST', '/clock/advance', { seconds: -5 }, 422, 'seconds'],
    ['POST', '/clock/advance', { seconds: 1.5 }, 422, 'seconds'],
    ['POST', '/clock/advance', { seconds: 1e12 }, 422, 'seconds'],
    ['POST', '/clock/advance', undefined, 422, 'body'],
    ['POST', '/freeze', { scope: 'asset:1' }, 422, 'scope'],
    ['POST', '/freeze', { scope: 7 }, 422, 'scope'],
    ['POST', '/freeze', { reason: 'NUL \u0000' }, 422, 'reason'],
    ['POST', '/unfreeze', { reason: 'half a pair \ud800' }, 422, 'reason'],
    ['GET', '/payments?status=PAID', undefined, 422, 'status'],
    ['GET', '/payments?gatewayId=1', undefined, 422, 'gatewayId'],
    ['GET', '/payments?limit=0', undefined, 422, 'limit'],
    ['GET', '/payments?page=0', undefined, 422, 'page'],
    ['GET', '/payments?page=x', undefined, 422, 'page'],
    ['GET', `/payments/${nobody}`, undefined, 404, ''],
    ['GET', '/payments/x', undefined, 404, ''],
    ['GET', `/settlements/${nobody}`, undefined, 404, ''],
    ['GET', '/settlements?status=DONE', undefined, 422, 'status'],
    ['GET', '/deposits?state=lost', undefined, 422, 'state'],
    ['GET', '/webhooks?state=lost', undefined, 422, 'state'],
    ['GET', '/nowhere', undefined, 404, ''],
    ['DELETE', '/gateways', undefined, 405, ''],
  ] as const)('%s %s %j answers %i and names what is wrong', async (method, path, body, status, field) => {
    const answer = await operator.call(method, path, body === undefined ? {} : { body });
    expect(answer.text).toContain('"success":false');
    expect(answer.status).toBe(status);
    expect(answer.error.message).toContain(field);
  });

  it('refuses bodies that are not JSON objects of a sensible size', async () => {
    const send = (rawBody: string, headers: Record<string, string> = {}) =>
      operator.call('POST', '/gateways', {
        rawBody,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}`, ...headers },
      });
    expect((await send('{')).error.code).toBe('malformed_json');
    expect((await send('{"name":"A","name":"B"}')).status).toBeGreaterThanOrEqual(400);
    expect((await send('{"name":"A","__proto__":{}}')).status).toBeLessThan(500);
    expect((await send(`{"name":"${'x'.repeat(70_000)}"}`)).error.code).toBe('payload_too_large');
    expect((await send('name=A', { 'content-type': 'application/x-www-form-urlencoded' })).error.code).toBe('unsupported_media_type');
  });
});

describe('afterwards', () => {
  it('every change has one line in the audit log, with its reason', async () => {
    const { sql } = world.database;
    const count = async (): Promise<number> => (await sql<{ n: number }[]>`select count(*) as n from operator_actions`)[0]?.n ?? 0;
    const before = await count();
    const { gateway } = await create({ reason: 'new merchant' });
    await operator.must('PATCH', `/gateways/${gateway.id}`, { body: { status: 'PENDING', reason: 'paperwork' } });
    await operator.call('PATCH', `/gateways/${gateway.id}`, { body: { status: 'NONSENSE' } });
    await operator.must('GET', '/gateways');
    expect(await count()).toBe(before + 2);
    expect(await sql`select action, target, reason, details from operator_actions order by id desc limit 2`).toMatchObject([
      { action: 'gateway.change', target: gateway.id, reason: 'paperwork', details: { status: 'PENDING' } },
      { action: 'gateway.create', target: gateway.id, reason: 'new merchant' },
    ]);
    await expect(sql`delete from operator_actions`).rejects.toThrow(/append-only/);
  });

  it('no secret that was ever shown is in the database or in a log line', async () => {
    expect(shown.length).toBeGreaterThan(20);
    const { sql } = world.database;
    const tables = await sql<
      { name: string }[]
    >`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`;
    for (const { name } of tables) {
      const rows = await sql<{ row: string }[]>`select t::text as row from ${sql(name)} t`;
      const text = rows.map((one) => one.row).join('\n');
      for (const secret of shown)
        for (const form of [secret, Buffer.from(secret).toString('hex')]) expect(text.includes(form), `${name} holds a secret`).toBe(false);
    }
    const log = api.lines.join('\n');
    for (const secret of [...shown, ...Object.values(TEST_SECRETS)]) expect(log.includes(secret)).toBe(false);
  });
});
