import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aService, type Service } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

describe('200', () => {
  it('lists what the gateway can be paid in, with everything a checkout needs to know (decisions 9)', async () => {
    const { USDT } = service.world.assets;
    const shop = await service.aShop({ assetIds: [USDT?.id] });
    const { data } = await shop.call('GET', '/assets');
    expect(data.items).toMatchObject([
      {
        assetId: USDT?.id,
        symbol: 'USDT',
        type: 'ERC20',
        network: 'ethereum',
        networkSymbol: 'ETH',
        decimals: 6,
        networkFee: '0.5',
        minimumSettlement: null,
        confirmations: 2,
        health: 'DEGRADED',
      },
    ]);
    expect((await (await service.aShop()).call('GET', '/assets')).data.items).toHaveLength(3);
  });

  it('tells a followed chain with fresh prices from a paused one', async () => {
    const shop = await service.aShop();
    const health = async () => ((await shop.call('GET', '/assets')).data.items as { health: string }[]).map((item) => item.health);
    await service.deps.db.sql`
      insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
      values (${service.world.network.id}, 'test', 1, now(), 100, sluice_now())`;
    expect(await health()).toEqual(['OK', 'OK', 'OK']);
    await service.deps.db.sql`update networks set paused_at = now()`;
    expect(await health()).toEqual(['PAUSED', 'PAUSED', 'PAUSED']);
    await service.deps.db.sql`update networks set paused_at = null`;
  });
});
