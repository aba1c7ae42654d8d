import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simulatePayment } from '#api/payments/simulate.ts';
import { verifyPayment } from '#api/payments/verify.ts';
import { publicPayment } from '#api/payments/view.ts';
import { listAssets } from '#api/store/assets.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type ShopPayment, type Shops, someShops, type TestShop } from '#test/fixtures/shop.ts';

let shops: Shops;
let [one, other]: TestShop[] = [];
let payments: { shop: TestShop; payment: ShopPayment }[];

const clientIp = '127.0.0.1';
const DUST = 20;

beforeAll(async () => {
  shops = await someShops();
  one = await shops.open();
  other = await shops.open();
  const dusted = await one.create({ webhookParams: { order: 'A-1' } });
  await one.select(dusted, 'USDT');
  for (let i = 0; i < DUST; i++) await one.see(dusted, 'USDT', '0.000001');
  const paid = await other.create({ webhookParams: { order: 'B-1' } });
  await other.select(paid, 'USDC');
  await other.receive(paid, 'USDC', '100');
  const simulated = await other.create({ isSandbox: true, webhookParams: { order: 'B-2' } });
  await simulatePayment(shops.world.deps, { paymentId: simulated.id, clientIp, simulation: { scenario: 'success' } });
  const open = await one.create();
  payments = [
    { shop: one, payment: dusted },
    { shop: other, payment: paid },
    { shop: other, payment: simulated },
    { shop: one, payment: open },
  ];
});
afterAll(() => shops.stop());

describe('payments that are read in one moment', () => {
  it('are each told as they are alone, whoever else is read with them', async () => {
    const read = () =>
      payments.map(
        ({ shop, payment }) =>
          () =>
            shop.read(payment),
      );
    const verify = () =>
      payments.map(
        ({ shop, payment }) =>
          () =>
            shop.verify(payment),
      );
    // A verification notes itself the first time.
    for (const ask of verify()) await ask();
    const alone: object[] = [];
    for (const ask of [...read(), ...verify()]) alone.push(await ask());
    expect(await Promise.all([...read(), ...verify()].map((ask) => ask()))).toEqual(alone);
    expect(alone.slice(payments.length).map((outcome) => /order[^}]*/.exec(JSON.stringify(outcome))?.[0] ?? null)).toEqual([
      expect.stringContaining('A-1'),
      expect.stringContaining('B-1'),
      expect.stringContaining('B-2'),
      null,
    ]);
  });

  it('show all that arrived, also of one that more arrived for than is read together', async () => {
    const [dusted, paid] = await Promise.all(payments.map(({ shop, payment }) => shop.verify(payment)));
    expect(dusted?.deposits).toHaveLength(DUST);
    expect(paid?.deposits).toHaveLength(1);
  });

  it('show a hundred that decide nothing, however many anybody sent, and every one that counts', async () => {
    const shop = one as TestShop;
    const payment = await shop.create();
    await shop.select(payment, 'USDT');
    await shop.see(payment, 'USDT', '0.009', { also: Array(POLICY.dustListed + 20).fill('0.009') });
    await shop.receive(payment, 'USDT', '100');
    await shop.receive(payment, 'USDT', '7');
    const told = (await shop.verify(payment)).deposits as { state: string; amount: string }[];
    const dust = told.filter(({ state }) => state === 'dust');
    expect(dust).toHaveLength(POLICY.dustListed);
    expect(told.filter((deposit) => !dust.includes(deposit)).map(({ state, amount }) => [state, amount])).toEqual([
      ['credited', '100'],
      ['credited', '7'],
    ]);
  });

  it('are offered in the assets that a gateway names, in whatever case it names them', async () => {
    const [usdt] = (await listAssets(shops.world.deps.db.sql)).filter(({ symbol }) => symbol === 'USDT');
    const shop = await shops.open({ assetIds: [usdt?.id.toUpperCase()] });
    expect((await shop.create()).offers.map(({ assetSymbol }) => assetSymbol)).toEqual(['USDT']);
  });

  it('wait only for a moment for others that get no answer', async () => {
    const { database, deps } = shops.world;
    const reads = sharedReads(deps.db);
    const asked: Promise<unknown>[] = [];
    const stuck = () => database.sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%from gateways%'`;
    await database.transaction(async (tx) => {
      await tx`lock table gateways in access exclusive mode`;
      for (let count = 1; count <= 3; count++) {
        asked.push(reads.gateway(randomUUID()));
        await waitFor(async () => (await stuck()).length === count, { what: `${count} reads to be asked` });
      }
    });
    expect(await Promise.all(asked)).toEqual([undefined, undefined, undefined]);
  });

  it("stay their gateway's own, and nobody's are shown for an id that is none", async () => {
    const { deps } = shops.world;
    const [{ payment: theirs }, { payment: own }] = payments as [(typeof payments)[number], (typeof payments)[number]];
    const answers = await Promise.allSettled([
      verifyPayment(deps, { gateway: (other as TestShop).gateway, paymentId: own.id }),
      verifyPayment(deps, { gateway: (other as TestShop).gateway, paymentId: theirs.id }),
      publicPayment(deps, { paymentId: theirs.id.replace(/^./, (digit) => (digit === 'f' ? '0' : 'f')), clientIp }),
      publicPayment(deps, { paymentId: own.id.toUpperCase(), clientIp }),
      publicPayment(deps, { paymentId: own.id, clientIp: '203.0.113.9' }),
    ]);
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? 'told' : answer.reason.code))).toEqual([
      'told',
      'not_found',
      'not_found',
      'told',
      'forbidden',
    ]);
  });
});
