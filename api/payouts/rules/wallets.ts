import type { Chain } from '#api/deps.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';

/** The wallets that a configuration names for each network. */
export const WALLET_ROLES = ['hot', 'funding', 'held'] as const;

export type ConfiguredRole = (typeof WALLET_ROLES)[number];

export const ROLE_OF = { green: 'hot', held: 'held' } as const satisfies Record<Pool, ConfiguredRole>;

/** Canonical address of a configured wallet. @throws Invariant when it is not an address of that network */
export function walletAddress(chain: Pick<Chain, 'config' | 'codec'>, role: ConfiguredRole): string {
  const { address } = chain.config.wallets[role];
  const parsed = chain.codec.parse(address);
  if (!parsed.ok) throw new Invariant(`the ${role} wallet of ${chain.config.name} is not an address: ${parsed.problem}`);
  return parsed.canonical;
}

/** Canonical address of the wallet that holds a pool's coins. @throws Invariant as `walletAddress` */
export function poolAddress(chain: Chain, pool: Pool): string {
  return walletAddress(chain, ROLE_OF[pool]);
}

/** Path of a deposit address below the signer's seed. */
export function depositPath(chain: Chain, index: number): string {
  return `${chain.config.accountPath}/0/${index}`;
}
