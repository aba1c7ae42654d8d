import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps } from '#api/deps.ts';
import { readSecrets } from '#api/gateways/secrets.ts';
import { resealEverything } from '#api/operator/reseal.ts';
import { resolveAml } from '#api/operator/resolve-aml.ts';
import { screenCredit } from '#api/aml/screen-credit.ts';
import { orderMac } from '#api/intents/order-mac.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { lockSettlement } from '#api/store/settlements.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { closeMark } from '#api/intents/close-mark.ts';
import { readOrder } from '#api/intents/keyed-orders.ts';
import { listKeyedOrders } from '#api/store/keyed-orders.ts';
import { isMacOf, keyId, masterKeys, signerOf } from '#shared/platform/key-ring.ts';
import { aService, callerOf, type Listening, listen, payTo, selectAddress, type Service, type Shop } from '#test/contract/service.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';

const A = { SLUICE_MASTER_KEY: TEST_SECRETS.SLUICE_MASTER_KEY, SLUICE_API_KEY_PEPPER: TEST_SECRETS.SLUICE_API_KEY_PEPPER };
const B = { SLUICE_MASTER_KEY: 'b-master-key-b-master-key-b-master-key-b', SLUICE_API_KEY_PEPPER: 'b-pepper-b-pepper-b-pepper-b-pepper-b-pep' };
const NEW_TOKEN = 'b-operator-token-b-operator-token-b-operator';

let service: Service;
/** Before the change, prepared for it, after it, and with nothing of the old keys left. */
let old: Deps;
let prepared: Deps;
let changed: Deps;
let done: Deps;
let first: Listening;
let second: Listening;
let shop: Shop;
let idle: Shop;

beforeAll(async () => {
  service = await aService();
  const configured = (keys: Partial<Deps['config']>): Deps => ({ ...service.deps, config: { ...service.deps.config, ...keys } });
  old = configured(A);
  prepared = configured({ ...A, SLUICE_MASTER_KEY_NEXT: B.SLUICE_MASTER_KEY, SLUICE_API_KEY_PEPPER_NEXT: B.SLUICE_API_KEY_PEPPER });
  changed = configured({
    ...B,
    SLUICE_MASTER_KEY_PREVIOUS: A.SLUICE_MASTER_KEY,
    SLUICE_API_KEY_PEPPER_PREVIOUS: A.SLUICE_API_KEY_PEPPER,
    SLUICE_OPERATOR_TOKEN: NEW_TOKEN,
    SLUICE_OPERATOR_TOKEN_PREVIOUS: TEST_SECRETS.SLUICE_OPERATOR_TOKEN,
  });
  done = configured({ ...B, SLUICE_OPERATOR_TOKEN: NEW_TOKEN });
  [first, second] = await Promise.all([listen(prepared), listen(changed)]);
  shop = await service.aShop({ cashout: { enabled: true, allowlist: ['127.0.0.1'], parkingEnabled: true, parkedCap: 10, dispatchDelaySeconds: 3600 } });
  idle = await service.aShop();
});
afterAll(async () => {
  await Promise.all([first.close(), second.close()]);
  await service.stop();
});

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const sql = () => service.world.database.sql;

async function status(through: Listening = second): Promise<{ settled: boolean; masterKey: Record<string, unknown>; apiKeyPepper: Record<string, unknown> }> {
  const answer = await through.ask('GET', '/operator/v1/secrets', { headers: bearer(TEST_SECRETS.SLUICE_OPERATOR_TOKEN) });
  expect(answer.status, answer.text).toBe(200);
  return answer.data as Awaited<ReturnType<typeof status>>;
}

async function aCashout(amount: string, through: Listening = first): Promise<string> {
  const body = { assetId: service.world.assets.USDT?.id, amount, address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
  const answer = await callerOf(through.ask, shop).signed('POST', '/merchant/settlements', { body });
  expect([200, 202], answer.text).toContain(answer.status);
  return String(answer.data.id);
}

/** Orders a refund of a payment that was flagged. */
async function aRefund(): Promise<void> {
  const screened = await service.aShop({ screening: { enabled: true, credits: 5 } });
  const { paymentUid, payment } = await screened.payment({ checkAmountDeviation: false });
  const address = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
  await upsertScreeningScore(sql(), { address: address.toLowerCase(), score: 90 });
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '10')]);
  await service.mine();
  for (const { id } of await sql()<{ id: string }[]>`select id from credits where payment_id = ${paymentUid}`)
    await screenCredit({ ...service.worker, config: prepared.config }, id);
  await resolveAml(prepared, {
    params: { id: paymentUid },
    query: {},
    body: { action: 'REFUND', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', reason: 'test' },
  });
}

/** Which keys the open orders are under, as `deps` sees them. */
async function rungs(deps: Deps): Promise<string[]> {
  const orders = await listKeyedOrders(sql());
  const found = await Promise.all(orders.map((order) => readOrder(sql(), order)));
  return found.map((one) => (one && signerOf(masterKeys(deps.config), one.mac, one.make)) ?? 'none').sort();
}

describe('a change of the master key while everything runs', () => {
  it('is not seen by merchants: what one process writes, one that is a step further reads, and the other way round', async () => {
    await shop.fund('USDT', '10');
    await aCashout('2', first);
    await aCashout('3', second);
    await aCashout('500', first);
    await aRefund();
    const rotated = await second.ask('POST', `/operator/v1/gateways/${shop.id}/secrets/cashout/rotate`, { headers: bearer(NEW_TOKEN), body: {} });
    shop = { ...shop, cashoutSecret: String(rotated.data.secret) };
    expect((await callerOf(first.ask, shop).signed('GET', '/merchant/settlements')).status).toBe(200);
    expect((await callerOf(second.ask, shop).signed('GET', '/merchant/settlements')).status).toBe(200);
    await expect(readSecrets(old, shop.id, 'cashout'), 'a process that was not prepared').rejects.toThrow(/does not open/);
  });

  it('is carried through by any process that has both keys, and survives being killed in the middle', async () => {
    expect((await status()).settled).toBe(false);
    let draws = 0;
    const dying: Deps = {
      ...changed,
      randomBytes: (length) => {
        draws += 1;
        if (draws > 4) throw new Error('killed');
        return changed.randomBytes(length);
      },
    };
    await expect(resealEverything(dying)).rejects.toThrow('killed');
    for (const deps of [prepared, changed]) expect(await readSecrets(deps, shop.id, 'webhook')).toHaveLength(1);

    const { secrets, orders } = await resealEverything(changed);
    expect(secrets).toBeGreaterThan(3);
    expect(orders, 'one cashout that claimed, one that is parked, one refund').toBe(3);
    expect(await resealEverything(changed), 'nothing is left').toEqual({ secrets: 0, orders: 0 });
    expect((await status()).settled, 'an API key that was never used since still needs the previous pepper').toBe(false);
    expect(await status()).toMatchObject({
      masterKey: {
        current: keyId(B.SLUICE_MASTER_KEY),
        previous: keyId(A.SLUICE_MASTER_KEY),
        secrets: { previous: 0, other: 0 },
        orders: { current: 4, previous: 0, other: 0 },
      },
    });
    expect(await rungs(done)).toEqual(['current', 'current', 'current', 'current']);
  });

  it('is not undone by a process that is a step behind, which still understands everything', async () => {
    const before = await sql()`select id, sealed from gateway_secrets order by id`;
    expect(await resealEverything(prepared)).toEqual({ secrets: 0, orders: 0 });
    expect(await sql()`select id, sealed from gateway_secrets order by id`).toEqual(before);
    expect(await rungs(prepared)).toEqual(['next', 'next', 'next', 'next']);
  });

  it('finishes: without the old key everything opens, and the old key alone opens nothing', async () => {
    for (const kind of ['webhook', 'cashout'] as const) {
      expect(await readSecrets(done, shop.id, kind)).toHaveLength(1);
      await expect(readSecrets(old, shop.id, kind)).rejects.toThrow(/does not open/);
    }
    const third = await listen(done);
    expect((await callerOf(third.ask, shop).signed('GET', '/merchant/settlements')).status).toBe(200);
    await third.close();
  });

  it('blesses nothing that was tampered with before', async () => {
    const id = await aCashout('1', first);
    await sql()`update settlements set fee_locked = fee_locked + 0.1, net_amount = net_amount - 0.1 where id = ${id}`;
    expect(await resealEverything(changed)).toEqual({ secrets: 0, orders: 0 });
    expect(await rungs(changed)).toContain('none');
    expect((await status()).masterKey).toMatchObject({ orders: { other: 1 } });
    await sql()`update settlements set fee_locked = fee_locked - 0.1, net_amount = net_amount + 0.1 where id = ${id}`;
    expect((await resealEverything(changed)).orders).toBe(1);
  });

  it('finds out by itself what a release sealed that says nothing about keys', async () => {
    await sql()`update gateway_secrets set sealed_under = null where gateway_id = ${idle.id}`;
    expect(await resealEverything(changed)).toEqual({ secrets: 0, orders: 0 });
    expect((await status()).masterKey).toMatchObject({ secrets: { other: 0 } });
  });

  it('reports a secret that opens under none of its keys, and leaves it as it is', async () => {
    const [row] = await sql()<{ id: string; sealed: Buffer }[]>`select id, sealed from gateway_secrets where gateway_id = ${idle.id} and kind = 'cashout'`;
    const broken = Buffer.from(row?.sealed ?? []);
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
    await sql()`update gateway_secrets set sealed = ${broken}, sealed_under = null where id = ${row?.id ?? ''}`;
    expect(await resealEverything(changed)).toEqual({ secrets: 0, orders: 0 });
    expect((await status()).masterKey).toMatchObject({ secrets: { other: 1 } });
    await sql()`update gateway_secrets set sealed = ${row?.sealed ?? broken}, sealed_under = ${keyId(B.SLUICE_MASTER_KEY)} where id = ${row?.id ?? ''}`;
  });

  it('brings the parked over as parked, and the end of a payout as its end', async () => {
    const [parked] = await sql()<{ id: string }[]>`select id from settlements where status = 'UNDERFUNDED'`;
    await service.deps.db.transaction(async (tx) => {
      const row = await lockSettlement(tx, parked?.id ?? '');
      if (row === undefined) throw new Error('no parked cashout');
      const { id: settlementId, gatewayId, assetId, networkId, canonicalAddress: recipient, amount, requestedRoute: route, pool } = row;
      const order = { settlementId, gatewayId, assetId, networkId, recipient, amount, route, pool };
      expect(isMacOf(masterKeys(done.config), row.orderMac, (key) => orderMac(key, order))).toBe(true);
    });
    const payout = { payoutId: 'p', walletAddress: '0xhot', nonce: 7, anchor: null };
    const bytesOf = (key: string): Buffer => Buffer.from(closeMark(key, payout), 'hex');
    expect(isMacOf(masterKeys(changed.config), bytesOf(A.SLUICE_MASTER_KEY), bytesOf)).toBe(true);
    expect(isMacOf(masterKeys(done.config), bytesOf(A.SLUICE_MASTER_KEY), bytesOf)).toBe(false);
  });
});

describe('a change of the pepper while everything runs', () => {
  it('hashes a key anew when it is used, and both processes go on accepting it', async () => {
    for (const through of [second, first, second]) expect((await callerOf(through.ask, shop).call('GET', '/payments')).status).toBe(200);
    const [row] = await sql()<{ under: string; used: Date }[]>`select hashed_under as under, last_used_at as used from api_keys where gateway_id = ${shop.id}`;
    expect(row?.under).toBe(keyId(B.SLUICE_API_KEY_PEPPER));
    expect(row?.used).toBeInstanceOf(Date);
  });

  it('answers an unknown key, a wrong one and a revoked one alike', async () => {
    const made = await second.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, { headers: bearer(NEW_TOKEN), body: {} });
    await second.ask('DELETE', `/operator/v1/gateways/${shop.id}/api-keys/${made.data.keyId}`, { headers: bearer(NEW_TOKEN) });
    const tried = [
      shop.apiKey.replace(/.$/, 'x'),
      shop.apiKey.replace(/.$/, shop.apiKey.endsWith('0') ? '1' : '0'),
      `sluice_${'0'.repeat(16)}_${'0'.repeat(64)}`,
      String(made.data.apiKey),
      'x',
    ];
    const answers = await Promise.all(tried.map((key) => second.ask('GET', '/api/v1/payments', { headers: { 'x-api-key': key } })));
    expect(new Set(answers.map(({ status, text, headers }) => `${status} ${text} ${[...headers.keys()].join()}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
  });

  it('keeps a key that nobody used until it is, and says that there is one', async () => {
    expect((await status()).apiKeyPepper).toMatchObject({ apiKeys: { previous: expect.any(Number) } });
    const third = await listen(done);
    expect((await callerOf(third.ask, idle).call('GET', '/payments')).status, 'without the old pepper it is nobody').toBe(401);
    expect((await callerOf(second.ask, idle).call('GET', '/payments')).status).toBe(200);
    expect((await callerOf(third.ask, idle).call('GET', '/payments')).status).toBe(200);
    await third.close();
  });
});

describe('a change of the operator token', () => {
  it('leaves both of them working, and the log says which one was used', async () => {
    const answers = [];
    for (const token of [TEST_SECRETS.SLUICE_OPERATOR_TOKEN, NEW_TOKEN])
      answers.push(
        await second.ask('POST', '/operator/v1/secrets/reseal', { headers: { ...bearer(token), 'x-operator': 'ada' }, body: { reason: 'yearly change' } }),
      );
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    const log = await second.ask('GET', '/operator/v1/audit-log?action=secrets.reseal&limit=2', { headers: bearer(NEW_TOKEN) });
    expect(log.data.items).toMatchObject([
      { token: 'current', actor: 'ada', reason: 'yearly change', target: 'master-key' },
      { token: 'previous', actor: 'ada', clientIp: '127.0.0.1', requestId: answers[0]?.headers.get('x-request-id') },
    ]);
    expect((await first.ask('GET', '/operator/v1/audit-log', { headers: bearer(NEW_TOKEN) })).status, 'a process without the new one').toBe(401);
  });

  it('shows what was done to one thing only, when asked to', async () => {
    const log = await second.ask('GET', `/operator/v1/audit-log?target=${idle.id}`, { headers: bearer(NEW_TOKEN) });
    expect((log.data.items as { action: string; actor: string | null }[]).map((one) => [one.action, one.actor])).toEqual([['gateway.create', null]]);
  });

  it('takes no name that could be mistaken for something else in a log', async () => {
    for (const name of ['x'.repeat(121), 'ada\u00e9'])
      await second.ask('POST', '/operator/v1/secrets/reseal', { headers: { ...bearer(NEW_TOKEN), 'x-operator': name } });
    const log = await second.ask('GET', '/operator/v1/audit-log?limit=2', { headers: bearer(NEW_TOKEN) });
    expect((log.data.items as { actor: string | null }[]).map((one) => one.actor)).toEqual([null, null]);
  });

  it.each(['update operator_actions set reason = null', 'delete from operator_actions', 'truncate operator_actions'])(
    'cannot be hidden by: %s',
    async (statement) => {
      await expect(sql().unsafe(statement)).rejects.toThrow(/append-only/);
    },
  );
});
