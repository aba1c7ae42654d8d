import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BalanceItem, listBalances } from '#api/settlements/balances.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { aParkingWorld, failureOf, type ParkingWorld } from '#test/fixtures/parking.ts';
import type { TestShop } from '#test/fixtures/shop.ts';

// Contract table 2.9, beside test/integration/aml/balances.test.ts, which has every field of an item with both pools in use.

const HOUR = 3_600;

let world: ParkingWorld;
beforeAll(async () => {
  world = await aParkingWorld();
});
beforeEach(() => world.shops.world.setPrice('USDT', '1'));
afterAll(() => world.stop());

const items = async (shop: TestShop): Promise<BalanceItem[]> => (await listBalances(world.deps, { gateway: shop.gateway })).items;
/** What identifies an asset on its network. */
const identity = ({ id, symbol, name, type }: StoredAsset, networkId: string) => ({
  assetId: id,
  symbol,
  name,
  type,
  networkId,
  networkName: 'ethereum',
  networkSymbol: 'ETH',
});
/** An item in which nothing ever happened. */
const EMPTY = {
  totalAvailable: '0',
  totalAvailableUsd: '0.00',
  payments: 0,
  totalPendingAvailable: '0',
  totalPendingUsd: '0.00',
  pendingPayments: 0,
  nextMaturityAt: null,
  totalQuarantinedAvailable: '0',
  totalQuarantinedAvailableUsd: '0.00',
  quarantinedPayments: 0,
  totalQuarantinedReceived: '0',
  totalQuarantinedPendingAvailable: '0',
  quarantinedPendingPayments: 0,
  totalReceived: '0',
  totalTxFee: '0',
  totalCommission: '0',
  totalPendingReceived: '0',
  totalPendingTxFee: '0',
  totalPendingCommission: '0',
};

describe('a balance item', () => {
  it('is valued in dollars at the price there is, half-up to the cent', async () => {
    const shop = await world.open();
    await world.fund(shop, 5);
    for (const [price, usd] of [
      ['0.999', '5.00'],
      ['0.998', '4.99'],
      ['1.0011', '5.01'],
      ['3000', '15000.00'],
    ] as const) {
      await world.shops.world.setPrice('USDT', price);
      expect((await items(shop))[0]?.totalAvailableUsd).toBe(usd);
    }
  });

  it('reads 0 in every quarantined figure once screening is off, because nothing of the held pool can be withdrawn then', async () => {
    const shop = await world.open({ screening: { enabled: true, threshold: 70 }, cashout: { parkingEnabled: false } });
    await world.fund(shop, 5);
    await world.fundHeld(shop, 4);
    expect((await items(shop))[0]).toMatchObject({
      totalAvailable: '5',
      totalQuarantinedAvailable: '4',
      quarantinedPayments: 1,
      totalQuarantinedReceived: '4.5',
    });
    const screening = { ...shop.gateway.settings.screening, enabled: false };
    const off = { ...shop, gateway: { ...shop.gateway, settings: { ...shop.gateway.settings, screening } } };
    expect(await items(off)).toEqual([
      {
        ...EMPTY,
        ...identity(world.usdt, world.shops.world.network.id),
        totalAvailable: '5',
        totalAvailableUsd: '5.00',
        payments: 1,
        totalReceived: '5.5',
        totalTxFee: '0.5',
      },
    ]);
    expect(await failureOf(world.create(off, { route: 'AML_HELD', amount: '4' }))).toMatchObject({ message: 'amount: requested 4, available 0' });
  });

  it('counts payments, not their credits (decisions 10)', async () => {
    const shop = await world.open({ screening: { enabled: true, threshold: 70 } });
    await world.fundHeld(shop, 4, 3);
    await world.fundHeld(shop, 2);
    expect((await items(shop))[0]).toMatchObject({ totalQuarantinedAvailable: '9', quarantinedPayments: 2 });
  });

  it('of nothing but what matures is still one', async () => {
    const shop = await world.open({ settings: { maturitySeconds: HOUR } });
    await world.fund(shop, 5);
    const [item] = await items(shop);
    expect(item).toMatchObject({
      ...EMPTY,
      totalPendingAvailable: '5',
      totalPendingUsd: '5.00',
      pendingPayments: 1,
      nextMaturityAt: expect.any(String),
      totalPendingReceived: '5.5',
      totalPendingTxFee: '0.5',
    });
    const [row] = await world.shops.world.database.sql<[{ late: number }]>`
      select extract(epoch from matures_at - credited_at)::int as late from credits where gateway_id = ${shop.gateway.id}`;
    expect(row.late).toBe(HOUR);
  });

  it('says when the next part matures of which there is anything: a deposit that its fee used up is none', async () => {
    const shop = await world.open({ settings: { maturitySeconds: HOUR } });
    // Less than the network fee: somebody sent it, and nothing of it can be cashed out ever.
    await world.fund(shop, -0.1);
    await world.shops.world.advance(600);
    await world.fund(shop, 5);
    const [row] = await world.shops.world.database.sql<[{ at: Date }]>`
      select matures_at as at from credits where gateway_id = ${shop.gateway.id} and net > 0`;
    expect(await items(shop)).toMatchObject([{ totalPendingAvailable: '5', pendingPayments: 1, nextMaturityAt: row.at.toISOString() }]);
  });
});
