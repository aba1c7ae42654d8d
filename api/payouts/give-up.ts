import type { Chain, Deps } from '#api/deps.ts';
import { earlierPayoutProblem } from './earlier-payout-problem.ts';
import { advance } from '#api/store/advance.ts';
import { releaseOutputs } from '#api/store/outputs.ts';
import { listAttempts, listUndead, hasPaid } from '#api/store/payout-attempts.ts';
import { listSettlementPayouts, lockPayout, type StoredPayout } from '#api/store/payouts.ts';
import { lockWallet } from '#api/store/wallets.ts';
import { Invariant } from '#shared/core/errors.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';
import { closeMark } from '#api/intents/close-mark.ts';

/**
 * Gives up every payout of a settlement if nothing signed for it can take effect, now or ever: its status shows that nothing was signed, or final
 * blocks exclude what was (reliability D13, D14).
 * A nonce that is held is used up by a transfer of nothing to ourselves, because the payouts behind it wait for it. On a network that is not
 * served, or no longer served, only a settlement without payouts can be given up. The caller holds the settlement's lock, and rolls back when it
 * gets a reason. Locks the wallets, then the payouts.
 * @returns why it may still be paid, or null when it never will be
 */
export async function giveUpPayouts(tx: Tx, deps: Deps, chain: Chain | undefined, settlementId: string): Promise<string | null> {
  for (const { id, walletId } of await listSettlementPayouts(tx, settlementId)) {
    if (chain === undefined) return 'its network is not served here, so nobody can look at its transactions';
    await lockWallet(tx, walletId);
    const payout = await lockPayout(tx, id);
    if (payout === undefined) throw new Invariant(`payout ${id} is gone`);
    const problem = payout.status === 'PLANNED' ? await giveUpPlan(tx, deps, payout) : await giveUpSigned(tx, chain, payout);
    if (problem !== null) return problem;
  }
  return null;
}

async function giveUpPlan(tx: Tx, deps: Deps, payout: StoredPayout): Promise<string | null> {
  if ((await listAttempts(tx, payout.id)).length > 0) return 'something is signed for a payout that is only planned';
  const failure = 'its cashout was rejected';
  if (payout.nonce === null) {
    await moveByOperator(tx, payout, 'CANCELLED', { failure });
    return null;
  }
  const mark = closeMark(masterKeys(deps.config).current, { ...payout, payoutId: payout.id });
  const { stuckSince: _, ...kept } = payout.plan;
  await moveByOperator(tx, payout, 'CLOSED', { failure, plan: tx.json({ ...kept, closeMark: mark } as Parameters<Tx['json']>[0]) });
  return null;
}

async function giveUpSigned(tx: Tx, chain: Chain, payout: StoredPayout): Promise<string | null> {
  const abandoned = payout.status === 'FAILED' && payout.txid === null;
  if (payout.status === 'CANCELLED' || (payout.status === 'FAILED' && !abandoned)) return earlierPayoutProblem(tx, chain, payout);
  // Another transaction used its nonce or anchor. The chain shows whether any of its bytes can still be mined.
  if (abandoned && (payout.nonce !== null || payout.anchor !== null)) return earlierPayoutProblem(tx, chain, payout);
  const undead = await listUndead(tx, payout.id);
  if ((payout.status !== 'REPLACING' && !abandoned) || payout.nonce !== null || undead.length > 0)
    return `transaction ${undead[0] ?? payout.txid ?? 'of its payout'} may still take effect`;
  if (await hasPaid(tx, payout.id)) return 'it is paid on the chain';
  if (!abandoned) await moveByOperator(tx, payout, 'ABANDONED', { failure: 'its cashout was rejected' });
  return null;
}

/**
 * Moves a payout on because an operator decided so, and frees the outputs that it no longer spends. The caller holds the payout's lock. @throws
 * when the machine does not allow it
 */
export async function moveByOperator(
  tx: Tx,
  payout: StoredPayout,
  event: 'CANCELLED' | 'CLOSED' | 'EXPIRED' | 'ABANDONED',
  columns: Record<string, unknown>,
): Promise<void> {
  const { id } = payout;
  await advance(tx, 'payout', {
    id,
    event,
    actor: 'operator',
    facts: () => ({ facts: NO_PAYOUT_FACTS, columns }),
    effects: { free: () => releaseOutputs(tx, id) },
  });
}
