import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from '#test/contract/service.ts';
import { times } from '#test/harness/counts.ts';

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterAll(() => service.stop());

const BLOCKS = 10;
/** Transfers that anybody can make for the price of their gas, in all blocks together. */
const SPAM = times(20_000);

it('a flood of transfers of nothing and of dust to one address keeps nobody waiting: no webhook, no decision, and the real payment after it counts', async () => {
  const { sql } = service.world.database;
  const usdt = service.world.assets.USDT as StoredAsset;
  const { paymentUid, payment } = await shop.payment({ amount: '10', checkAmountDeviation: false });
  const address = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
  for (let block = 0; block < BLOCKS; block++)
    await service.mine(Array.from({ length: SPAM / BLOCKS }, (_, at) => payTo(address, usdt, at % 2 === 0 ? '0' : '0.000001')));
  const [counts] = await sql<{ dust: number; events: number; credits: number }[]>`
    select (select count(*)::int from deposits where state in ('dust', 'seen')) as dust, (select count(*)::int from webhook_events) as events,
      (select count(*)::int from credits) as credits`;
  expect(counts).toMatchObject({ events: 0, credits: 0 });
  expect(counts?.dust, 'nothing is not even a deposit').toBeLessThanOrEqual(SPAM / 2);
  expect((await shop.call('POST', `/payments/${paymentUid}/verify`)).data.status).toBe('PENDING');

  await service.mine([payTo(address, usdt, '10')]);
  await service.mine();
  expect((await shop.call('POST', `/payments/${paymentUid}/verify`)).data.status).toBe('SUCCESS');
});
