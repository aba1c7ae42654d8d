import { spendsOutput } from '#api/store/adopted.ts';
import { listAttempts, listUndead } from '#api/store/payout-attempts.ts';
import { lockPayout, type StoredPayout } from '#api/store/payouts.ts';
import { lockWallet } from '#api/store/wallets.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { moveByOperator } from './give-up.ts';

/** The final transaction that paid instead of these payouts. */
interface Instead {
  networkId: string;
  txid: string;
  sender: string;
  nonce: number | null;
}

/**
 * Ends every payout of an order that another transaction of ours has finally paid, if nothing signed for them can take effect any more: that
 * transaction used their nonce or anchor, or their bytes are dead.
 * Returns why not, or null; the caller then rolls back. The caller holds the settlement or refund. Locks wallets, then payouts.
 */
export async function endPayouts(tx: Tx, payouts: readonly StoredPayout[], instead: Instead): Promise<string | null> {
  for (const { id, walletId } of payouts) {
    await lockWallet(tx, walletId);
    const payout = await lockPayout(tx, id);
    if (payout === undefined) throw new Invariant(`payout ${id} is gone`);
    if (payout.status === 'CANCELLED') continue;
    const problem = await problemOf(tx, payout, instead);
    if (problem !== null) return problem;
    if (payout.status === 'FAILED') continue;
    const events =
      payout.status === 'PLANNED' ? (['CANCELLED'] as const) : payout.status === 'REPLACING' ? (['ABANDONED'] as const) : (['EXPIRED', 'ABANDONED'] as const);
    for (const event of events) await moveByOperator(tx, payout, event, { failure: 'a transaction that the books had lost did it' });
  }
  return null;
}

/** Why a payout may have paid already, or may still pay, beside the other transaction. */
async function problemOf(tx: Tx, payout: StoredPayout, instead: Instead): Promise<string | null> {
  if (payout.status === 'INCLUDED' || payout.status === 'CONFIRMED') return `payout ${payout.id} of it is on the chain already: ${payout.txid ?? 'not final'}`;
  if (payout.nonce !== null) {
    const used = payout.nonce === instead.nonce && payout.walletAddress === instead.sender;
    return used || payout.status === 'FAILED'
      ? null
      : `payout ${payout.id} holds nonce ${payout.nonce} of ${payout.walletAddress}, which ${instead.txid} did not use`;
  }
  if ((await listAttempts(tx, payout.id)).length === 0) return null;
  if (payout.anchor !== null) {
    const used = await spendsOutput(tx, instead, payout.anchor);
    return used || payout.status === 'FAILED' ? null : `payout ${payout.id} spends output ${payout.anchor}, which ${instead.txid} did not spend`;
  }
  const [undead] = await listUndead(tx, payout.id);
  return undead === undefined ? null : `transaction ${undead} of payout ${payout.id} may still take effect`;
}
