import { afterEach, expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';

interface Health {
  symbol: string;
  health: string;
  healthReasons: string[];
}

describeOperation('listAssets', {
  200: ({ send, service }) => {
    const followed = () => service.world.database.sql`
      insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
      values (${service.world.network.id}, 'test', 1, now(), 100, sluice_now())
      on conflict (network_id) do update set caught_up_at = sluice_now()`;
    const health = async (): Promise<Record<string, [string, string[]]>> =>
      Object.fromEntries(((await send()).data.items as Health[]).map((item) => [item.symbol, [item.health, item.healthReasons]]));
    afterEach(async () => {
      await service.world.database.sql`update networks set paused_at = null`;
      await service.world.setPrice('ETH', '2500');
    });

    it('lists what the gateway can be paid in, with everything a checkout needs to know (decisions 9)', async () => {
      const { USDT } = service.world.assets;
      const shop = await service.aShop({ assetIds: [USDT?.id] });
      const { data } = await send({ from: shop });
      expect(data.items).toEqual([
        {
          assetId: USDT?.id,
          symbol: 'USDT',
          name: 'Tether USD',
          type: 'ERC20',
          network: 'ethereum',
          networkId: service.world.network.id,
          networkSymbol: 'ETH',
          decimals: 6,
          contractAddress: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
          networkFee: '0.5',
          minimumDeposit: '0.01',
          minimumSettlement: null,
          confirmations: 2,
          health: 'DEGRADED',
          healthReasons: ['indexer_behind'],
        },
      ]);
      const all = (await send()).data.items as { symbol: string; contractAddress: string | null }[];
      expect(all.map((item) => item.symbol)).toEqual(['ETH', 'USDC', 'USDT']);
      expect(all[0]?.contractAddress).toBeNull();
    });

    it('is OK while the chain is followed and the price is fresh', async () => {
      await followed();
      expect(await health()).toEqual({ ETH: ['OK', []], USDC: ['OK', []], USDT: ['OK', []] });
    });

    it('says of each asset what is wrong: a stale price, an indexer that is behind, a network that is paused', async () => {
      await followed();
      await service.world.database.sql`update prices set source = 'median', at = sluice_now() - interval '121 seconds' where symbol = 'ETH'`;
      expect(await health()).toEqual({ ETH: ['DEGRADED', ['price_stale']], USDC: ['OK', []], USDT: ['OK', []] });
      await service.world.database.sql`update indexer_leases set caught_up_at = sluice_now() - interval '121 seconds'`;
      expect(await health()).toEqual({
        ETH: ['DEGRADED', ['price_stale', 'indexer_behind']],
        USDC: ['DEGRADED', ['indexer_behind']],
        USDT: ['DEGRADED', ['indexer_behind']],
      });
      await service.world.database.sql`update networks set paused_at = now()`;
      expect((await health()).ETH).toEqual(['PAUSED', ['network_paused', 'price_stale', 'indexer_behind']]);
    });
  },
});
