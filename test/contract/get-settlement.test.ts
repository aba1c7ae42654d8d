import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aService, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
  await shop.fund('USDT', '20.5');
});
afterAll(() => service.stop());

const cashout = () => ({ assetId: service.world.assets.USDT?.id, amount: '5', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' });
const get = (id: unknown, from: Shop = shop) => from.signed('GET', `/merchant/settlements/${id}`);

describe('200', () => {
  it('shows a cashout as its create answered it', async () => {
    const { data } = await shop.signed('POST', '/merchant/settlements', { body: cashout() });
    expect((await get(data.id)).data).toEqual(data);
  });
});

describe('404', () => {
  it("answers another gateway's cashout exactly like one that does not exist (contract 4.3)", async () => {
    const { data } = await shop.signed('POST', '/merchant/settlements', { body: cashout() });
    const other = await service.aShop();
    const answers = [await get(data.id, other), await get(randomUUID(), other)];
    expect(answers.map((answer) => answer.status)).toEqual([404, 404]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });
});
