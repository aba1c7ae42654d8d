import { DEFAULT_PRICES, DEFAULT_RATES } from '#api/operator/defaults.ts';
import { STATIC_SOURCE } from '#api/clients/prices.ts';
import { upsertAsset } from '#api/store/assets.ts';
import { type StoredNetwork, upsertNetwork } from '#api/store/networks.ts';
import { insertAbsentPrices } from '#api/store/prices.ts';
import { watchFamilyAddresses } from '#api/store/deposit-addresses.ts';
import type { AddressCodec } from '#shared/chains/chain.ts';
import type { AssetConfig, NetworkConfig } from '#shared/core/assets.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { parseTrusted } from '#shared/core/money.ts';
import type { Database, Tx } from '#shared/platform/postgres.ts';

export interface Seeding {
  db: Database;
  networks: readonly NetworkConfig[];
  /** Reads contract addresses of the network's family into their canonical form. */
  codec(network: NetworkConfig): AddressCodec;
  /** True where prices may be static (development): unknown symbols then get a default price. */
  staticPrices: boolean;
  randomBytes(length: number): Uint8Array;
}

/**
 * Brings networks, assets and, in development, default prices in line with the configuration; any number of
 * processes may do it at once. Returns the id of each configured network's row by name.
 * @throws when the configuration contradicts what the books were kept in: another chain under a known name, other
 *   decimals for a known contract, or a contract that is not an address
 */
export async function seedNetworks(seeding: Seeding): Promise<Map<string, string>> {
  return seeding.db.transaction(async (tx) => {
    const ids = new Map<string, string>();
    for (const network of seeding.networks) ids.set(network.name, await seedNetwork(tx, seeding, network));
    if (seeding.staticPrices) await seedPrices(tx);
    return ids;
  });
}

async function seedNetwork(tx: Tx, seeding: Seeding, network: NetworkConfig): Promise<string> {
  const stored = await upsertNetwork(tx, { id: uuidFrom(seeding.randomBytes(16)), ...network });
  refuseOtherNetwork(network, stored);
  await watchFamilyAddresses(tx, { id: stored.id, family: network.family });
  for (const asset of network.assets) {
    const contract = asset.contract === null ? null : canonicalContract(seeding.codec(network), network.name, asset.contract);
    const row = await upsertAsset(tx, { ...asset, contract, id: uuidFrom(seeding.randomBytes(16)), networkId: stored.id });
    refuseOtherDecimals(network, asset, row.decimals);
  }
  return stored.id;
}

/** @throws Error when a network's name stands for another chain in the books */
export function refuseOtherNetwork(network: NetworkConfig, stored: StoredNetwork): void {
  if (stored.family !== network.family || stored.chainId !== network.chainId)
    throw new Error(
      `network ${network.name}: the books know it as ${stored.family} ${stored.chainId}, the configuration says ${network.family} ${network.chainId}; give the new chain another name`,
    );
}

/** @throws Error when the books count an asset in other units */
export function refuseOtherDecimals(network: NetworkConfig, asset: AssetConfig, decimals: number): void {
  if (decimals !== asset.decimals)
    throw new Error(`asset ${asset.symbol} on ${network.name}: the books keep ${decimals} decimals, the configuration says ${asset.decimals}`);
}

/** Canonical address of a token's contract. @throws Error naming the network when it is not an address there */
export function canonicalContract(codec: AddressCodec, network: string, contract: string): string {
  const parsed = codec.parse(contract);
  if (!parsed.ok) throw new Error(`network ${network}: contract ${contract}: ${parsed.problem}`);
  return parsed.canonical;
}

async function seedPrices(tx: Tx): Promise<void> {
  const prices = [...Object.entries(DEFAULT_PRICES), ...Object.entries(DEFAULT_RATES).map(([code, usd]) => [`fiat:${code}`, usd] as const)];
  await insertAbsentPrices(
    tx,
    prices.map(([symbol, usd]) => ({ symbol, usd: parseTrusted(usd), source: STATIC_SOURCE })),
  );
}
