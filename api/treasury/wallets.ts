import type { Chain, Deps } from '#api/deps.ts';
import { findWalletByAddress, insertWallet, type StoredWallet } from '#api/store/wallets.ts';
import { insertWatches } from '#api/store/watches.ts';
import { Invariant } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';

const ROLES = ['hot', 'funding', 'held'] as const;

/**
 * Stores every configured wallet and asks its indexer to watch it; called at start by every role, any number of times.
 * @throws Invariant when a configured address is not one of its network
 */
export async function seedWallets(deps: Deps): Promise<void> {
  for (const chain of deps.chains.values()) {
    await deps.db.transaction(async (tx) => {
      for (const role of ROLES) {
        const { path } = chain.config.wallets[role];
        const address = walletAddress(chain, role);
        const stored = await insertWallet(tx, { id: uuidFrom(deps.randomBytes(16)), networkId: chain.id, role, address, derivationPath: path });
        if (stored.role !== role || stored.derivationPath !== path) {
          throw new Invariant(
            `wallet ${address} of ${chain.config.name} is stored as ${stored.role} at ${stored.derivationPath}, configured as ${role} at ${path}`,
          );
        }
        await insertWatches(tx, [chain.id], address, null);
      }
    });
    deps.nudgeIndexer(chain.config.name);
  }
}

/** Canonical address of a configured wallet. @throws Invariant when it is not an address of that network */
export function walletAddress(chain: Chain, role: (typeof ROLES)[number]): string {
  const { address } = chain.config.wallets[role];
  const parsed = chain.codec.parse(address);
  if (!parsed.ok) throw new Invariant(`the ${role} wallet of ${chain.config.name} is not an address: ${parsed.problem}`);
  return parsed.canonical;
}

/** The stored row of a configured wallet. @throws Invariant when `seedWallets` has not run */
export async function configuredWallet(deps: Deps, chain: Chain, role: (typeof ROLES)[number]): Promise<StoredWallet> {
  const wallet = await findWalletByAddress(deps.db.sql, chain.id, walletAddress(chain, role));
  if (wallet === undefined) throw new Invariant(`the ${role} wallet of ${chain.config.name} was never stored`);
  return wallet;
}

/** Path of a deposit address below the signer's seed. */
export function depositPath(chain: Chain, index: number): string {
  return `${chain.config.accountPath}/0/${index}`;
}
