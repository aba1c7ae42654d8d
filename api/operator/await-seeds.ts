import { setTimeout as pause } from 'node:timers/promises';
import type { Deps } from '#api/deps.ts';
import { findAssetByContract } from '#api/store/assets.ts';
import { findNetwork } from '#api/store/networks.ts';
import { findWalletByAddress } from '#api/store/wallets.ts';
import { refuseOtherWallet } from '#api/treasury/wallets.ts';
import { WALLET_ROLES, walletAddress } from '#api/payouts/rules/wallets.ts';
import { canonicalContract, refuseOtherDecimals, refuseOtherNetwork, type Seeding } from './seed-networks.ts';

const AGAIN_MS = 200;

/**
 * The ids of the configured networks, for a process that may not store them: waits until one that may has stored every network and asset.
 * @throws what `seedNetworks` throws when the configuration contradicts the books
 */
export async function awaitNetworks({ db, networks, codec }: Pick<Seeding, 'db' | 'networks' | 'codec'>, signal: AbortSignal): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const network of networks) {
    const stored = await untilStored(signal, () => findNetwork(db.sql, network.name));
    refuseOtherNetwork(network, stored);
    for (const asset of network.assets) {
      const contract = asset.contract === null ? null : canonicalContract(codec(network), network.name, asset.contract);
      const { decimals } = await untilStored(signal, () => findAssetByContract(db.sql, stored.id, contract));
      refuseOtherDecimals(network, asset, decimals);
    }
    ids.set(network.name, stored.id);
  }
  return ids;
}

/** The same for wallets. @throws Invariant when one is stored as another than it is configured as */
export async function awaitWallets(deps: Deps, signal: AbortSignal): Promise<void> {
  for (const chain of deps.chains.values())
    for (const role of WALLET_ROLES) {
      const address = walletAddress(chain, role);
      refuseOtherWallet(chain, role, await untilStored(signal, () => findWalletByAddress(deps.db.sql, chain.id, address)));
    }
}

async function untilStored<T>(signal: AbortSignal, find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await pause(AGAIN_MS, undefined, { signal });
  }
}
