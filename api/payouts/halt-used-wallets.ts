import type { Deps } from '#api/deps.ts';
import { listForeignSpends } from '#api/store/outputs.ts';
import { listUnknownOutgoing } from '#api/store/sightings.ts';
import { findDepositIndex, findWalletByAddress, haltWallet, insertWallet } from '#api/store/wallets.ts';
import { Invariant } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type Pool, POOLS } from '#state-machines/ledger/accounts.ts';
import type { AppliedNetwork } from './applied-network.ts';
import { depositPath, poolAddress } from '#api/payouts/rules/wallets.ts';

/**
 * Halts every wallet that sent coins without a payout, because a stranger has its key, or an allowance on it. Where coins are outputs it also halts
 * the wallet of the pool whose output was spent, or both wallets when that pool is unknown. Locks their rows.
 */
export async function haltUsedWallets(tx: Tx, deps: Deps, { networkId, networkName }: AppliedNetwork): Promise<void> {
  for (const unknown of await listUnknownOutgoing(tx, networkId)) {
    if (unknown.halted) continue;
    const walletId = unknown.walletId ?? (await storeDepositWallet(tx, deps, networkId, networkName, unknown.address));
    const reason = `transaction ${unknown.txid} is not one of ours`;
    if (await haltWallet(tx, walletId, reason)) {
      deps.log.error({ network: networkName, wallet: unknown.address, txid: unknown.txid }, 'wallet halted: an outgoing transaction is unknown to the books');
    }
  }
  await haltSpentPools(tx, deps, { networkId, networkName });
}

async function storeDepositWallet(tx: Tx, deps: Deps, networkId: string, networkName: string, address: string): Promise<string> {
  const chain = deps.chains.get(networkName);
  const index = chain && (await findDepositIndex(tx, chain.config.family, address));
  if (chain === undefined || index === undefined) throw new Invariant(`${address} is neither a wallet nor a deposit address`);
  const wallet = await insertWallet(tx, { id: uuidFrom(deps.randomBytes(16)), networkId, role: 'deposit', address, derivationPath: depositPath(chain, index) });
  return wallet.id;
}

/** A pool's coins also lie at deposit addresses whose keys derive from one key. A thief who has one of those keys may have them all. */
async function haltSpentPools(tx: Tx, deps: Deps, { networkId, networkName }: AppliedNetwork): Promise<void> {
  const chain = deps.chains.get(networkName);
  if (chain === undefined) return;
  for (const { spender, address, pool } of await listForeignSpends(tx, networkId)) {
    const wallet = await findWalletByAddress(tx, networkId, address);
    const configured = wallet !== undefined && wallet.role !== 'deposit';
    const pools: readonly Pool[] = pool === null ? POOLS : [pool];
    const halted = configured ? [address] : pools.map((one) => poolAddress(chain, one));
    for (const at of halted) {
      const stopped = at === address ? wallet : await findWalletByAddress(tx, networkId, at);
      if (stopped === undefined) throw new Invariant(`the wallet at ${at} was never stored`);
      const reason = `transaction ${spender} is not one of ours, and spends an output of ${address}`;
      if (await haltWallet(tx, stopped.id, reason))
        deps.log.error({ network: networkName, wallet: at, txid: spender }, 'wallet halted: somebody else spends its outputs');
    }
  }
}
