import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from './service.ts';

interface Hit {
  kind: string;
  id: string;
  gatewayId: string | null;
  line: string;
  at: string | null;
}

const TOKEN = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let service: Service;
let shop: Shop;
let paymentId: string;
let address: string;
let deposit: { id: string; txid: string };
let cashout: string;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop({ name: 'Zephyr' });
  await shop.fund('USDT', '50');
  const { paymentUid, payment } = await shop.payment({ amount: '12.30', webhookParams: { order: 'A-1001' } });
  paymentId = paymentUid;
  address = await selectAddress(service, paymentUid, payment.offers.find(({ assetSymbol }) => assetSymbol === 'USDT')?.id ?? '');
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '12.345678')]);
  await service.mine();
  [deposit] = await service.world.database.sql<[typeof deposit]>`select id, txid from deposits where payment_id = ${paymentId}`;
  const body = { assetId: service.world.assets.USDT?.id, amount: '7.5', address: DESTINATION };
  cashout = String((await shop.signed('POST', '/merchant/settlements', { body, idempotencyKey: 'till-7' })).data.id);
  for (let made = 0; made < 25; made++) await shop.payment({ amount: '33', webhookParams: { order: 'B' } });
});
afterAll(() => service.stop());

const ask = (q: string): Promise<Answer> => service.ask('GET', `/operator/v1/search?q=${encodeURIComponent(q)}`, { headers: TOKEN });
async function hits(q: string): Promise<Hit[]> {
  const answer = await ask(q);
  expect(answer.status, answer.text).toBe(200);
  return answer.data.items as Hit[];
}
const kinds = async (q: string): Promise<string[]> => (await hits(q)).map(({ kind, id }) => `${kind} ${id}`);

describe('a search of operators', () => {
  it('finds each thing by its id, and tells it in one line', async () => {
    expect(await hits(paymentId)).toEqual([
      {
        kind: 'payment',
        id: paymentId,
        gatewayId: shop.id,
        line: expect.stringMatching(/^12\.30 USD, [A-Z]+, received 12\.345678 USDT$/),
        at: expect.any(String),
      },
    ]);
    expect(await hits(cashout)).toMatchObject([{ kind: 'settlement', id: cashout, line: `7.5 USDT on ethereum to ${DESTINATION}, REQUESTED` }]);
    expect(await hits(deposit.id)).toMatchObject([{ kind: 'deposit', line: `12.345678 USDT on ethereum by ${deposit.txid}, credited` }]);
    expect(await hits(shop.id)).toMatchObject([{ kind: 'gateway', gatewayId: shop.id, line: 'Zephyr, VERIFIED' }]);
  });

  it('finds by reference, by hash, by address, by the name of a gateway and by the key of a cashout', async () => {
    expect(await kinds('A-1001')).toEqual([`payment ${paymentId}`]);
    expect(await kinds(deposit.txid)).toEqual([`payment ${paymentId}`, `deposit ${deposit.id}`]);
    expect(await hits(address)).toMatchObject([
      { kind: 'payment' },
      { kind: 'deposit' },
      { kind: 'address', line: `${address} on ethereum, of payment ${paymentId}` },
    ]);
    expect(await kinds(DESTINATION)).toEqual([`settlement ${cashout}`]);
    expect(await kinds('zeph')).toEqual([`gateway ${shop.id}`]);
    expect(await kinds('till-7')).toEqual([`settlement ${cashout}`]);
  });

  it('finds by an amount: what was asked for, what came, what is cashed out', async () => {
    expect(await kinds('12.3')).toEqual([`payment ${paymentId}`]);
    expect(await kinds('12.30')).toEqual([`payment ${paymentId}`]);
    expect(await kinds('12.345678')).toEqual([`deposit ${deposit.id}`]);
    expect(await kinds('7.50')).toEqual([`settlement ${cashout}`]);
  });

  it('shows at most 20 and says that there were more', async () => {
    for (const q of ['B', '33']) {
      const { data } = await ask(q);
      expect([(data.items as Hit[]).length, data.more]).toEqual([20, true]);
    }
    expect((await ask('A-1001')).data.more).toBe(false);
  });

  it('finds nothing by what nothing is known by', async () => {
    for (const q of ['nothing', '0.000000000000000001', `0x${'7'.repeat(64)}`, '00000000-0000-4000-8000-000000000000', '-1', '1e5', '%'])
      expect(await hits(q), q).toEqual([]);
  });

  it.each(['', 'x'.repeat(256), '\u0000', 'a\nb'])('names q when it cannot be read', async (q) => {
    const { status, error } = await ask(q);
    expect([status, error?.code]).toEqual([422, 'validation_error']);
    expect(error?.message).toMatch(/^q: /);
  });
});
