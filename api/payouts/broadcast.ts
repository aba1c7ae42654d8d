import type { Deps } from '#api/deps.ts';
import { advance } from '#api/store/advance.ts';
import { findAttempt, listLiveAttempts } from '#api/store/payout-attempts.ts';
import { findPayout } from '#api/store/payouts.ts';
import { Invariant } from '#shared/core/errors.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';
import { closedReason } from '#api/treasury/closed.ts';

/**
 * Sends the stored bytes of one attempt to the network. The network's answer proves nothing, so it changes only the note that the bytes were sent;
 * the chain decides (architecture 4).
 * Every attempt of a nonce is sent, older ones too, because a node may accept only those. Nothing is sent while dispatch is frozen or the network
 * is paused.
 * @returns true when there is nothing left to send: a block holds one of its attempts, the outcome is final, or the bytes expired
 */
export async function broadcastAttempt(deps: Deps, attemptId: string): Promise<boolean> {
  const attempt = await findAttempt(deps.db.sql, attemptId);
  const payout = attempt && (await findPayout(deps.db.sql, attempt.payoutId));
  if (attempt === undefined || payout === undefined) throw new Invariant(`there is no attempt ${attemptId}`);
  if (!(await listLiveAttempts(deps.db.sql, payout.id)).includes(attempt.id)) return true;
  const chain = deps.chains.get(payout.networkName);
  if (chain === undefined) throw new Invariant(`network ${payout.networkName} is not configured`);
  if ((await closedReason(deps.db.sql, payout)) !== null) return false;
  crashPoint('broadcast.before');
  const { accepted, answer } = await chain.payer.broadcast(attempt.signedBytes);
  crashPoint('broadcast.after');
  deps.log[accepted ? 'info' : 'debug']({ payout: payout.id, txid: attempt.txid, accepted, answer }, 'payout broadcast');
  if (payout.status === 'SIGNED') {
    await deps.db.transaction((tx) =>
      advance(tx, 'payout', {
        id: payout.id,
        event: 'SENT',
        actor: 'worker',
        facts: () => ({ facts: NO_PAYOUT_FACTS, record: { accepted, answer: answer.slice(0, 300) } }),
        // The chain moved the payout before this note did.
        orConflict: () => null,
      }),
    );
    crashPoint('sent.marked');
  }
  return false;
}
