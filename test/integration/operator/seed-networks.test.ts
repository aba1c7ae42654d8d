import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storedPrices } from '#api/clients/prices.ts';
import { seedNetworks } from '#api/operator/seed-networks.ts';
import { listAssets } from '#api/store/assets.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { codecOf } from '#shared/chains/codecs.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';

const { networks } = JSON.parse(readFileSync('ops/dev/networks.json', 'utf8')) as { networks: [NetworkConfig] };
const [ethereum] = networks;

let database: FreshDatabase;
beforeEach(async () => {
  database = await freshDatabase();
});
afterEach(() => database.drop());

function seed(configured: readonly NetworkConfig[] = networks, staticPrices = true): Promise<Map<string, string>> {
  return seedNetworks({ db: database.as('http'), networks: configured, codec: codecOf, staticPrices, randomBytes });
}

const changed = (asset: object, network: object = {}): NetworkConfig[] => [
  { ...ethereum, ...network, assets: ethereum.assets.map((one) => (one.symbol === 'USDT' ? { ...one, ...asset } : one)) },
];

describe('seeding', () => {
  it('gives the same ids every time, however many processes do it at once', async () => {
    const all = await Promise.all([seed(), seed(), seed(), seed()]);
    const again = await seed();
    for (const ids of all) expect(ids).toEqual(again);
    expect((await listAssets(database.sql)).map((asset) => asset.symbol)).toEqual(['BTC', 'ETH', 'USDC', 'USDT', 'TRX', 'USDT']);
  });

  it('takes over changed figures and keeps the asset', async () => {
    await seed();
    const before = await listAssets(database.sql);
    await seed(
      changed({
        networkFee: '0.75',
        minimumSettlement: '5',
        contract: codecOf({ family: 'evm', chainId: '31337' }).display(ethereum.assets.find((one) => one.symbol === 'USDT')?.contract as string),
      }),
    );
    const after = await listAssets(database.sql);
    expect(after.map((asset) => asset.id)).toEqual(before.map((asset) => asset.id));
    const usdt = after.find((asset) => asset.symbol === 'USDT');
    expect(formatAmount(usdt?.networkFee as bigint)).toBe('0.75');
    expect(formatAmount(usdt?.minimumSettlement as bigint)).toBe('5');
  });

  it('refuses a configuration that contradicts the books, and changes nothing', async () => {
    await seed();
    const before = await listAssets(database.sql);
    await expect(seed(changed({ decimals: 8, networkFee: '9' }))).rejects.toThrow('the books keep 6 decimals, the configuration says 8');
    await expect(seed(changed({}, { chainId: '1' }))).rejects.toThrow('the books know it as evm 31337');
    await expect(seed(changed({ contract: '0x1234' }))).rejects.toThrow('network ethereum: contract 0x1234');
    expect(await listAssets(database.sql)).toEqual(before);
  });

  it('never overwrites a price or a currency that an operator changed', async () => {
    await seed();
    await database.sql`update prices set usd = 2.5 where symbol = 'ETH'`;
    await database.sql`update currencies set active = false where code = 'EUR'`;
    await seed();
    expect(formatAmount((await storedPrices(database.as(), { staticAllowed: true }).fresh('ETH'))?.usd as bigint)).toBe('2.5');
    expect(await sharedReads(database.as()).isActiveCurrency('EUR')).toBe(false);
    expect(await sharedReads(database.as()).isActiveCurrency('USD')).toBe(true);
    expect(await sharedReads(database.as()).isActiveCurrency('XYZ')).toBe(false);
  });

  it('sets no prices where prices come from sources', async () => {
    await seed(networks, false);
    expect(await database.sql`select * from prices`).toEqual([]);
    expect(await sharedReads(database.as()).isActiveCurrency('GBP')).toBe(true);
  });
});

describe('prices', () => {
  it('of static assets hold whatever the clock does; in production they age like any other', async () => {
    await seed();
    await database.sql`update clock_offset set seconds = 1000000`;
    expect(await storedPrices(database.as(), { staticAllowed: true }).fresh('USDT')).toMatchObject({ usd: parseTrusted('1'), source: 'static' });
    expect(await storedPrices(database.as(), { staticAllowed: false }).fresh('USDT')).toBeUndefined();
  });

  it('know the dollar as one without a row, and nothing of an unknown symbol', async () => {
    const prices = storedPrices(database.as(), { staticAllowed: false });
    expect(await prices.fresh('fiat:USD')).toMatchObject({ usd: parseTrusted('1') });
    expect(await prices.fresh('fiat:XXX')).toBeUndefined();
    expect(await prices.fresh('NOPE')).toBeUndefined();
  });
});
