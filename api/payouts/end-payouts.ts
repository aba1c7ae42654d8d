import { spendsOutput } from '#api/store/adopted.ts';
import { advance } from '#api/store/advance.ts';
import { releaseOutputs } from '#api/store/outputs.ts';
import { listAttempts, listUndead } from '#api/store/payout-attempts.ts';
import { lockPayout, type StoredPayout } from '#api/store/payouts.ts';
import { lockWallet } from '#api/store/wallets.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';

/** The final transaction that did what these payouts were for. */
interface Instead {
  networkId: string;
  txid: string;
  sender: string;
  nonce: number | null;
}

/**
 * Ends every payout of something that another transaction of ours has paid for good, where nothing signed for it can take effect any
 * more: that transaction has used its nonce or its anchor, or its bytes are dead. The caller holds the settlement or refund, and rolls
 * back when it gets a reason why not. Locks wallets, then payouts.
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
    if (payout.status === 'PLANNED') await move(tx, payout, ['CANCELLED']);
    else await move(tx, payout, payout.status === 'REPLACING' ? ['ABANDONED'] : ['EXPIRED', 'ABANDONED']);
  }
  return null;
}

/** Why it may have paid already, or may still pay, beside the other transaction. */
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

async function move(tx: Tx, payout: StoredPayout, events: readonly ('CANCELLED' | 'EXPIRED' | 'ABANDONED')[]): Promise<void> {
  const columns = { failure: 'a transaction that the books had lost did it' };
  const { id } = payout;
  for (const event of events)
    await advance(tx, 'payout', {
      id,
      event,
      actor: 'operator',
      facts: () => ({ facts: NO_PAYOUT_FACTS, columns }),
      effects: { free: () => releaseOutputs(tx, id) },
    });
}
