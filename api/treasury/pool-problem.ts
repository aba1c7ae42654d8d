import type { Chain } from '#api/deps.ts';
import { findMisplaced } from '#api/store/misplaced-coins.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import { readSweepAllowance } from '#api/store/own-moves.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { type Pool, POOLS } from '#state-machines/ledger/accounts.ts';
import { poolAddress } from '#api/payouts/rules/wallets.ts';

/**
 * Why a transfer between our own addresses would bring coins to the wallet of a pool they do not belong to, or before the verdict about them
 * (decisions 10); null for any other transfer.
 * The pool may have changed since the transfer was planned, so it only waits, and is given up in the end. Locks nothing.
 */
export async function poolProblem(sql: Reads, chain: Chain, payout: StoredPayout): Promise<string | null> {
  const { purpose, assetId, walletAddress, recipient, rawAmount, paymentId } = payout;
  const to = poolOf(chain, recipient);
  if (purpose === 'sweep') {
    if (to === null) return 'a sweep goes to the wallet of a pool';
    const allowed = await readSweepAllowance(sql, { networkId: chain.id, assetId, pool: to, address: walletAddress, except: payout.id });
    if (allowed.waiting) return 'a verdict about these coins is awaited';
    return rawAmount > allowed.rawAmount ? `its coins are not in the ${to} pool (any more)` : null;
  }
  if (purpose === 'held_release') {
    const misplaced = paymentId === null ? undefined : await findMisplaced(sql, { paymentId, assetId, except: payout.id });
    const fits = misplaced !== undefined && misplaced.from === poolOf(chain, walletAddress) && misplaced.to === to && rawAmount <= misplaced.rawAmount;
    return fits ? null : 'its payment’s coins are where they belong';
  }
  return null;
}

/** The pool whose wallet has this address; null when there is none. */
function poolOf(chain: Chain, address: string): Pool | null {
  return POOLS.find((pool) => poolAddress(chain, pool) === address) ?? null;
}
