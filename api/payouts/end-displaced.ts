import { failWithheld } from '#api/aml/end-withheld.ts';
import { failRefund } from '#api/aml/fail-refund.ts';
import type { Deps } from '#api/deps.ts';
import { type OutgoingTransaction, listDisplaced } from '#api/store/adopted.ts';
import { advance } from '#api/store/advance.ts';
import { readClock } from '#api/store/clock.ts';
import { hastenOutbox, insertOutbox } from '#api/store/outbox.ts';
import { releaseOutputs } from '#api/store/outputs.ts';
import { lockPayout, type StoredPayout } from '#api/store/payouts.ts';
import { lockSettlement, setWaitReason } from '#api/store/settlements.ts';
import { lockWallet } from '#api/store/wallets.ts';
import { Invariant } from '#shared/core/errors.ts';
import { rowId } from '#shared/core/ids.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

const FAILURE = 'a transaction that the books had lost has used its nonce or its anchor';

/** Locks the cashouts of the payouts that a lost transaction displaced, in id order. Call it before locking anything that comes after cashouts. */
export async function lockDisplaced(tx: Tx, by: OutgoingTransaction): Promise<void> {
  const ids = (await listDisplaced(tx, by)).flatMap(({ settlementId }) => (settlementId === null ? [] : [settlementId]));
  for (const id of [...new Set(ids)].sort()) await lockSettlement(tx, id);
}

/**
 * Ends every payout that can no longer be mined because a final transaction that the books had lost, for example a close, used its nonce or anchor
 * for something else. Returns their ids.
 * Their orders are planned again, in new payouts that the signer asks the chain about. What the lost transaction itself did between our own wallets
 * is not planned again. Locks wallets, then payouts.
 */
export async function endDisplaced(tx: Tx, deps: Deps, by: OutgoingTransaction): Promise<string[]> {
  const ended: string[] = [];
  for (const { id, walletId } of await listDisplaced(tx, by)) {
    await lockWallet(tx, walletId);
    const payout = await lockPayout(tx, id);
    if (payout === undefined) throw new Invariant(`payout ${id} is gone`);
    await end(tx, deps, payout);
    ended.push(id);
  }
  return ended;
}

async function end(tx: Tx, deps: Deps, payout: StoredPayout): Promise<void> {
  const { now } = await readClock(tx);
  const unsigned = payout.status === 'PLANNED';
  const repay =
    !unsigned &&
    payout.family === 1 &&
    (payout.purpose === 'settlement' || payout.purpose === 'refund' || payout.purpose === 'withheld' || payout.purpose === 'held_release');
  const events: readonly ('CANCELLED' | 'EXPIRED' | 'ABANDONED')[] = unsigned
    ? ['CANCELLED']
    : payout.status === 'REPLACING'
      ? ['ABANDONED']
      : ['EXPIRED', 'ABANDONED'];
  const columns = { failure: FAILURE, ...(!unsigned && { final_at: now, plan: tx.json({ ...payout.plan, repay } as unknown as Parameters<Tx['json']>[0]) }) };
  for (const event of events) {
    const last = event === events.at(-1);
    await advance(tx, 'payout', {
      id: payout.id,
      event,
      actor: 'operator',
      facts: () => ({ facts: NO_PAYOUT_FACTS, ...(last && { columns }) }),
      effects: { free: () => releaseOutputs(tx, payout.id) },
    });
  }
  const again = unsigned || repay;
  if (payout.refundId !== null && !again) await failRefund(tx, deps, { refundId: payout.refundId, reason: FAILURE });
  if (payout.withheldId !== null && !again) await failWithheld(tx, deps, { transferId: payout.withheldId, reason: FAILURE });
  if (payout.settlementId === null) return;
  if (payout.purpose !== 'settlement') await hastenOutbox(tx, 'settlement.dispatch', [payout.settlementId]);
  else if (again) await insertOutbox(tx, { id: rowId(deps), topic: 'settlement.dispatch', refId: payout.settlementId });
  else await setWaitReason(tx, payout.settlementId, waitReason('displaced'));
}
