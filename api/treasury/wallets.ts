import { WALLET_ROLES, type ConfiguredRole, ROLE_OF, walletAddress } from '#api/payouts/rules/wallets.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { findWalletByAddress, insertWallet, type StoredWallet } from '#api/store/wallets.ts';
import { insertWatches } from '#api/store/deposit-addresses.ts';
import { Invariant } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { assertCold } from './cold.ts';

/**
 * Stores every configured wallet and asks its indexer to watch it. Processes that may do so call it at start; it may run any number of times.
 * @throws Invariant when a configured address is not one of its network, or a cold one is not suitable
 */
export async function seedWallets(deps: Deps): Promise<void> {
  for (const chain of deps.chains.values()) {
    await deps.db.transaction(async (tx) => {
      for (const role of WALLET_ROLES) {
        const { path } = chain.config.wallets[role];
        const address = walletAddress(chain, role);
        const stored = await insertWallet(tx, { id: uuidFrom(deps.randomBytes(16)), networkId: chain.id, role, address, derivationPath: path });
        refuseOtherWallet(chain, role, stored);
        await insertWatches(tx, [chain.id], { address, until: null });
      }
    });
    deps.nudgeIndexer(chain.config.name);
  }
  for (const chain of deps.chains.values()) await assertCold(deps.db.sql, chain);
}

/** Refuses a configured wallet whose address is stored with another role or path. @throws Invariant */
export function refuseOtherWallet(chain: Chain, role: ConfiguredRole, stored: StoredWallet): void {
  const { path } = chain.config.wallets[role];
  if (stored.role !== role || stored.derivationPath !== path)
    throw new Invariant(
      `wallet ${stored.address} of ${chain.config.name} is stored as ${stored.role} at ${stored.derivationPath}, configured as ${role} at ${path}`,
    );
}

/** The stored row of a configured wallet. @throws Invariant when `seedWallets` has not run */
export async function configuredWallet(deps: Deps, chain: Chain, role: ConfiguredRole): Promise<StoredWallet> {
  const wallet = await findWalletByAddress(deps.db.sql, chain.id, walletAddress(chain, role));
  if (wallet === undefined) throw new Invariant(`the ${role} wallet of ${chain.config.name} was never stored`);
  return wallet;
}

/**
 * The wallet that holds a pool's coins once they are swept; only it pays what is drawn from the pool (decisions 10). @throws Invariant as
 * `configuredWallet`
 */
export function poolWallet(deps: Deps, chain: Chain, pool: Pool): Promise<StoredWallet> {
  return configuredWallet(deps, chain, ROLE_OF[pool]);
}
